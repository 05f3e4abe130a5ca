"""Requests that wait for something to happen, and the wake-ups that end their waits.

A wake-up is a hint; what happened is read from the database, at least once each second, so that a
hint lost between processes costs that second only. Behind our server a wait holds no thread: the
view is left by `Parked`, and runs again when there is something or the time is over.
"""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar, cast

from flask import Flask, current_app, request

from webapp.database import call_after_changes

MOST = 128  # waits and calls of models in one process
OF_ACCOUNT = 16  # waits of one account at a time, whatever they wait for
RETRY_SECONDS = 2  # Retry-After of a wait that found no slot
LOOK_SECONDS = 1.0
WAITED = "askback.waited"  # in the WSGI environment of our server: finished waits by their key

T = TypeVar("T")


class NoSlot(Exception):
    """All slots of the account or of the server are taken, or the server is stopping."""


@dataclass(frozen=True)
class Wait:
    """A wait that the server goes on with.

    look     as in `Wakeups.wait_until`, for an application context with the same request
    began    by the monotonic clock
    release  gives its slot back
    """

    key: str
    look: Callable[[], object]
    began: float
    seconds: float
    release: Callable[[], None]

    @property
    def left(self) -> float:
        """Seconds until the time is over; negative then."""
        return self.began + self.seconds - time.monotonic()


class Parked(BaseException):
    """Leaves a view that waits. No `Exception`: nothing but the server may handle it."""

    def __init__(self, wait: Wait) -> None:
        self.wait = wait


class Wakeups:
    """Admission of at most `most` waits, and wake-ups by key.

    of_account  how many of them may wait for one account
    """

    def __init__(self, most: int, of_account: int = OF_ACCOUNT) -> None:
        self._most = most
        self._of_account = of_account
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()
        self._stopped = False
        self._listeners: defaultdict[str, list[Callable[[], object]]] = defaultdict(list)
        self._relay: Callable[[str], None] | None = None

    def reserve(self, holder: str, most: int | None = None) -> None:
        """Take one of the slots of an account, or of `most` that another holder has.

        Raises NoSlot.
        """
        most = self._of_account if most is None else most
        with self._lock:
            full = self._held.total() >= self._most or self._held[holder] >= most
            if full or self._stopped:
                raise NoSlot
            self._held[holder] += 1

    def release(self, holder: str) -> None:
        """Give the slot back."""
        with self._lock:
            self._held[holder] -= 1
            self._held += Counter()  # drops accounts that hold no slot

    @contextmanager
    def slot(self, holder: str, most: int | None = None) -> Iterator[None]:
        """Hold a slot, as `reserve`."""
        self.reserve(holder, most)
        try:
            yield
        finally:
            self.release(holder)

    def wait_until(
        self,
        key: str,
        look: Callable[[], T | None],
        seconds: float,
        *,
        account_id: str,
        most: int | None = None,
    ) -> T | None:
        """The result of `look` as soon as it is not None, else None after `seconds`.

        look  asked at once, after each `notify(key)` and each second; it must hold no database
              connection after it returned
        most  as in `reserve`
        Returns early with None when the server stops. Raises NoSlot, and Parked for the server.
        """
        waited: dict[str, Wait] | None = request.environ.get(WAITED)
        if waited and key in waited:
            return cast(T | None, waited[key].look())
        self.reserve(account_id, most)
        wait = Wait(key, look, time.monotonic(), seconds, partial(self.release, account_id))
        if waited is not None:
            raise Parked(wait)
        woken = threading.Event()
        try:
            with self.listening(key, woken.set):
                while (found := look()) is None and wait.left > 0 and not self._stopped:
                    woken.wait(min(wait.left, LOOK_SECONDS))
                    woken.clear()
                return found
        finally:
            wait.release()

    def notify(self, key: str) -> None:
        """Wake all waits for `key`, those in other processes, too; call it after the commit."""
        self.wake(key)
        relay = self._relay  # a stop takes it away
        if relay:
            relay(key)

    def wake(self, key: str | None) -> None:
        """Wake the waits for `key` in this process; None: all, after wake-ups may have been lost"""
        with self._lock:
            for each in [key] if key else list(self._listeners):
                for wake in self._listeners.get(each, ()):
                    wake()

    @contextmanager
    def listening(self, key: str, wake: Callable[[], object]) -> Iterator[None]:
        """Call `wake` at each wake-up for `key`; it must neither block nor raise."""
        with self._lock:
            self._listeners[key].append(wake)
        try:
            yield
        finally:
            with self._lock:
                self._listeners[key].remove(wake)
                if not self._listeners[key]:
                    del self._listeners[key]

    def relay_by(self, relay: Callable[[str], None] | None) -> None:
        """Let `relay` pass wake-ups on to other processes; it must neither block nor raise."""
        self._relay = relay

    def stop(self) -> None:
        """Wake all waits and refuse new ones."""
        with self._lock:
            self._stopped = True
        self.wake(None)

    @property
    def stopped(self) -> bool:
        """True once the server stops."""
        return self._stopped


def init_app(app: Flask) -> None:
    """Give the application its own wake-ups, by drafts and by forms."""
    app.extensions["wakeups"] = Wakeups(most=MOST)
    call_after_changes(app, app.extensions["wakeups"].notify)


def wakeups() -> Wakeups:
    """The wake-ups of the current application."""
    return cast(Wakeups, current_app.extensions["wakeups"])


def began_waiting(key: str) -> float:
    """When this request began to wait for `key`, by the monotonic clock; now, if it did not."""
    wait = request.environ.get(WAITED, {}).get(key)
    return wait.began if wait else time.monotonic()


def waited() -> bool:
    """Whether the current request runs again after a wait: it was counted and refused then."""
    return bool(request.environ.get(WAITED))

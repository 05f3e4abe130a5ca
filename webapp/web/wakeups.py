"""Requests that wait for something to happen. Together they hold at most half of the threads,
those of one account an eighth of that.

A wake-up is a hint; what happened is read from the database, at least once each second, so that a
hint lost between processes costs that second only.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

from flask import Flask, current_app, request

from webapp.database import call_after_changes

THREADS = 256  # of the HTTP server; threads are cheap, starvation is the risk
OF_ACCOUNT = 16  # waits of one account at a time, whatever they wait for
RETRY_SECONDS = 2  # Retry-After of a wait that found no slot
LOOK_SECONDS = 1.0

T = TypeVar("T")


class NoSlot(Exception):
    """All slots of the account or of the server are taken, or the server is stopping."""


class Wakeups:
    """Admission of at most `most` waiting threads, and their wake-up by key.

    of_account  how many of them may wait for one account
    """

    def __init__(self, most: int, of_account: int = OF_ACCOUNT) -> None:
        self._most = most
        self._of_account = of_account
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()
        self._stopped = False
        self._waiters: dict[str, list[threading.Event]] = {}
        self._followers: list[Callable[[str], None]] = []
        self._relay: Callable[[str], None] | None = None

    @contextmanager
    def slot(self, holder: str, most: int | None = None) -> Iterator[None]:
        """Hold one of the slots of an account, or of `most` that another holder has.

        Raises NoSlot.
        """
        with self._lock:
            most = self._of_account if most is None else most
            full = self._held.total() >= self._most or self._held[holder] >= most
            if full or self._stopped:
                raise NoSlot
            self._held[holder] += 1
        try:
            yield
        finally:
            with self._lock:
                self._held[holder] -= 1
                self._held += Counter()  # drops accounts that hold no slot

    def wait_until(
        self,
        key: str,
        look: Callable[[], T | None],
        seconds: float,
        *,
        account_id: str,
        gone: Callable[[], bool],
        most: int | None = None,
    ) -> T | None:
        """The result of `look` as soon as it is not None, else None after `seconds`.

        look  asked at once, after each `notify(key)` and each second; it must hold no database
              connection after it returned
        gone  whether the client has left, asked as often
        most  as in `slot`
        Returns early with None when the client has gone or the server stops. Raises NoSlot.
        """
        deadline = time.monotonic() + seconds
        with self.slot(account_id, most), self._listening(key) as woken:
            while True:
                found = look()
                left = deadline - time.monotonic()
                if found is not None or left <= 0 or gone() or self._stopped:
                    return found
                woken.wait(min(left, LOOK_SECONDS))
                woken.clear()

    def notify(self, key: str) -> None:
        """Wake all waiters of `key`, those in other processes, too; call it after the commit."""
        self.wake(key)
        relay = self._relay  # a stop takes it away
        if relay:
            relay(key)

    def wake(self, key: str) -> None:
        """Wake the waiters of `key` in this process."""
        with self._lock:
            for woken in self._waiters.get(key, ()):
                woken.set()
        for follower in self._followers:
            follower(key)

    def wake_all(self) -> None:
        """Wake all waiters of this process, after wake-ups may have been lost."""
        with self._lock:
            keys = list(self._waiters)
        for key in keys:
            self.wake(key)

    def follow(self, follower: Callable[[str], None]) -> None:
        """Call `follower` with the key of each wake-up; it must neither block nor raise."""
        self._followers.append(follower)

    def relay_by(self, relay: Callable[[str], None] | None) -> None:
        """Let `relay` tell other processes; it must neither block nor raise."""
        self._relay = relay

    def stop(self) -> None:
        """Wake all waiters and reject new ones."""
        with self._lock:
            self._stopped = True
            for waiters in self._waiters.values():
                for woken in waiters:
                    woken.set()

    @property
    def stopped(self) -> bool:
        """True once the server stops: streams end then."""
        return self._stopped

    @contextmanager
    def _listening(self, key: str) -> Iterator[threading.Event]:
        woken = threading.Event()
        with self._lock:
            self._waiters.setdefault(key, []).append(woken)
        try:
            yield woken
        finally:
            with self._lock:
                self._waiters[key].remove(woken)
                if not self._waiters[key]:
                    del self._waiters[key]


def init_app(app: Flask) -> None:
    """Give the application its own wake-ups, by drafts and by forms."""
    app.extensions["wakeups"] = Wakeups(most=THREADS // 2)
    call_after_changes(app, app.extensions["wakeups"].notify)


def wakeups() -> Wakeups:
    """The wake-ups of the current application."""
    return cast(Wakeups, current_app.extensions["wakeups"])


def client_gone() -> Callable[[], bool]:
    """Tells whether the client of the current request has left; to be asked while waiting."""
    return cast(
        Callable[[], bool], request.environ.get("waitress.client_disconnected", lambda: False)
    )

"""Requests that wait for something to happen, and the wake-ups that end their waits.

A wake-up is a hint; what happened is read from the database, at least once each second, so that a
hint lost between processes costs that second only. Behind our server a wait holds no thread: the
view is left by `Parked`, and runs again when there is something or the time is over.

Processes that share a PostgreSQL wake each other by NOTIFY and LISTEN, with a thread and a
connection for each. NOTIFY is sent after its commit: inside, it takes a lock that all commits of
the database share.
"""

import logging
import select
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from flask import Flask, current_app, request

from webapp.base.database import call_after_changes, db, on_sqlite

MOST = 128  # waits and calls of models in one process
OF_ACCOUNT = 16  # waits of one account at a time, whatever they wait for
RETRY_SECONDS = 2  # Retry-After of a wait that found no slot
LOOK_SECONDS = 1.0
WAITED = "askback.waited"  # in the WSGI environment of our server: finished waits by their key
CHANNEL = "askback_wakeups"
GATHER_SECONDS = 0.01  # one NOTIFY for all wake-ups of a key in this time
MOST_KEYS = 10_000  # gathered while the database is away
END_LOOK_SECONDS = 0.5  # how often the threads look whether the process ends
PING_SECONDS = 15.0  # of silence, after which the listening connection is tried
ANSWER_SECONDS = 2.0  # for a statement on either connection
RECONNECT_SECONDS = 1.0  # before connecting again
LOG_SECONDS = 60.0  # between two lines of the log about the same failure

log = logging.getLogger("askback.wakeups")
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
        self._listeners: defaultdict[str, list[Callable[[], object]]] = defaultdict(list)
        self.stopped = False
        # passes wake-ups on to other processes; it neither blocks nor raises
        self.relay: Callable[[str], None] = lambda _key: None

    def reserve(self, holder: str, most: int | None = None) -> None:
        """Take one of the slots of an account, or of `most` that another holder has.

        Raises NoSlot.
        """
        most = self._of_account if most is None else most
        with self._lock:
            full = self._held.total() >= self._most or self._held[holder] >= most
            if full or self.stopped:
                raise NoSlot
            self._held[holder] += 1

    def is_full(self, account_id: str) -> bool:
        """Whether the account itself has taken all that it may have."""
        return self._held[account_id] >= self._of_account

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
                while (found := look()) is None and wait.left > 0 and not self.stopped:
                    woken.wait(min(wait.left, LOOK_SECONDS))
                    woken.clear()
                return found
        finally:
            wait.release()

    def notify(self, key: str) -> None:
        """Wake all waits for `key`, those in other processes, too; call it after the commit."""
        self.wake(key)
        self.relay(key)

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

    def stop(self) -> None:
        """Wake all waits and refuse new ones."""
        with self._lock:
            self.stopped = True
        self.wake(None)


def init_app(app: Flask) -> None:
    """Give the application its own wake-ups, by drafts and by forms."""
    app.extensions["wakeups"] = Wakeups(most=MOST)
    call_after_changes(app, app.extensions["wakeups"].notify)


def wakeups() -> Wakeups:
    """The wake-ups of the current application."""
    return cast(Wakeups, current_app.extensions["wakeups"])


def finished(key: str) -> object:
    """What this request, which runs again, has waited for; None if it did not or nothing came."""
    wait = request.environ.get(WAITED, {}).get(key)
    return wait.look() if wait else None


def began_waiting(key: str) -> float:
    """When this request began to wait for `key`, by the monotonic clock; now, if it did not."""
    wait = request.environ.get(WAITED, {}).get(key)
    return wait.began if wait else time.monotonic()


def waited() -> bool:
    """Whether the current request runs again after a wait: it was counted and refused then."""
    return bool(request.environ.get(WAITED))


@contextmanager
def shared_wakeups(app: Flask) -> Iterator[None]:
    """While the block runs, wake-ups reach the other processes on the same PostgreSQL, and theirs
    this one. On SQLite, which one process serves, nothing is started.
    """
    with app.app_context():
        if on_sqlite():
            yield
            return
    with Relay(app).running():
        yield


class Relay:
    """Both threads of one process."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._wakeups: Wakeups = app.extensions["wakeups"]
        self._changed = threading.Condition()
        self._keys: set[str] = set()
        self._ended = threading.Event()
        self._sender_pid = 0  # of the database session that sends our own notifications

    @contextmanager
    def running(self) -> Iterator[None]:
        """Does not wait for a connection, nor at the end for a database that hangs."""
        threads = [
            threading.Thread(target=self._keep, args=(work,), name=name, daemon=True)
            for name, work in (("notify", self._send), ("listen", self._listen))
        ]
        for thread in threads:
            thread.start()
        self._wakeups.relay = self.tell
        try:
            yield
        finally:
            self._wakeups.relay = lambda _key: None
            self._ended.set()
            with self._changed:
                self._changed.notify()
            for thread in threads:
                thread.join(END_LOOK_SECONDS)

    def tell(self, key: str) -> None:
        """Notify the other processes; never blocks."""
        with self._changed:
            if not self._keys:
                self._changed.notify()
            if len(self._keys) < MOST_KEYS:
                self._keys.add(key)

    def _keep(self, work: Callable[[Any], None]) -> None:
        """Connect and work, again after each failure; a long one is logged now and then."""
        logs_at = 0.0
        while not self._ended.is_set():
            try:
                with self._app.app_context(), _own_connection() as connection:
                    work(connection)
            except Exception:
                if time.monotonic() >= logs_at:
                    logs_at = time.monotonic() + LOG_SECONDS
                    log.warning("wake-ups between processes are interrupted", exc_info=True)
            self._ended.wait(RECONNECT_SECONDS)

    def _send(self, connection: Any) -> None:
        self._sender_pid = connection.info.backend_pid
        while not self._ended.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._keys or self._ended.is_set())
            self._ended.wait(GATHER_SECONDS)
            with self._changed:
                keys, self._keys = self._keys, set()
            connection.execute(_NOTIFY, [CHANNEL, list(keys)])

    def _listen(self, connection: Any) -> None:
        """Wake everybody who waits here, at first for what was notified before we listened."""
        connection.execute(f"LISTEN {CHANNEL}")
        self._wakeups.wake(None)
        arrived = select.poll()
        arrived.register(connection.fileno(), select.POLLIN)
        heard = time.monotonic()
        while not self._ended.is_set():
            if arrived.poll(int(END_LOOK_SECONDS * 1000)):
                heard = time.monotonic()
            elif time.monotonic() >= heard + PING_SECONDS:
                connection.execute("SELECT 1")
                heard = time.monotonic()
            for notice in connection.notifies(timeout=0):
                if notice.pid != self._sender_pid:
                    self._wakeups.wake(notice.payload)


_NOTIFY = "SELECT pg_notify(%s, key) FROM unnest(%s::text[]) AS key"


@contextmanager
def _own_connection() -> Iterator[Any]:
    """A connection of the driver that the pool does not count."""
    engine = db.engine.execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        connection.detach()
        driver.patience = ANSWER_SECONDS
        yield driver

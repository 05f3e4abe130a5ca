"""Requests that wait for a change, and the wake-ups that end their waits.

A wake-up is only a hint. A wait reads the database at each hint and at least once a second, so a
hint lost between processes costs at most that second. Behind our server a wait holds no thread: it
leaves the view by `Parked`, and the view runs again on a change or when the time is over.

Processes that share a PostgreSQL wake each other by NOTIFY and LISTEN, each with a thread and a
connection of its own. NOTIFY is sent after the commit, because inside a transaction it takes a lock
that all commits of the database share.
"""

import logging
import select
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from flask import Flask, current_app, request

from webapp.base.database import call_after_changes, db, on_sqlite

MOST = 128  # waits and calls of language models in one process
OF_ACCOUNT = 16  # concurrent waits of one account
RETRY_SECONDS = 2  # Retry-After of a wait that found no slot
LOOK_SECONDS = 1.0
WAITED = "askback.waited"  # key in our server's WSGI environment: finished waits by their key
CHANNEL = "askback_wakeups"
GATHER_SECONDS = 0.01  # wake-ups of a key in this time share one NOTIFY
MOST_KEYS = 10_000  # kept while the database is away
END_LOOK_SECONDS = 0.5  # how often the threads check whether the process ends
PING_SECONDS = 15.0  # of silence before the listening connection is tested
ANSWER_SECONDS = 2.0  # time limit of a statement on either connection
RECONNECT_SECONDS = 1.0  # before connecting again
LOG_SECONDS = 60.0  # between two lines of the log about the same failure

log = logging.getLogger("askback.wakeups")
T = TypeVar("T")


class NoSlot(Exception):
    """All slots of the account or of the server are taken, or the server is stopping."""


@dataclass(frozen=True)
class Wait:
    """A wait that the server continues without a thread.

    look     the `look` of `Wakeups.wait_until`; needs an application context with the same request
    began    the start by the monotonic clock
    release  gives the slot back
    """

    key: str
    look: Callable[[], object]
    began: float
    seconds: float
    release: Callable[[], None]

    @property
    def left(self) -> float:
        """Return the seconds until the time is over; negative afterwards."""
        return self.began + self.seconds - time.monotonic()


class Parked(BaseException):
    """Leaves a view that waits. It is no `Exception`, so that only the server handles it."""

    def __init__(self, wait: Wait) -> None:
        self.wait = wait


class Slots:
    """Admits at most `most` at a time, of each holder at most `of_account`."""

    def __init__(self, most: int, of_account: int = OF_ACCOUNT) -> None:
        self._most, self._of_account = most, of_account
        self._lock = threading.Lock()
        self._taken = 0
        self._held: Counter[str] = Counter()
        self.stopped = False

    def reserve(self, holders: Mapping[str, int]) -> None:
        """Take one slot, which counts for all holders; each may have so many. Raises NoSlot."""
        with self._lock:
            full = any(self._held[holder] >= most for holder, most in holders.items())
            if full or self._taken >= self._most or self.stopped:
                raise NoSlot
            self._taken += 1
            self._held.update(holders.keys())

    def is_full(self, account_id: str) -> bool:
        """Return whether the account uses all its slots."""
        return self._held[account_id] >= self._of_account

    def release(self, *holders: str) -> None:
        """Give back a slot of these holders."""
        with self._lock:
            self._taken -= 1
            self._held.subtract(holders)
            self._held += Counter()  # drops holders without a slot

    @contextmanager
    def slot(self, holder: str, most: int | None = None) -> Iterator[None]:
        """Hold a slot during the block; the holder has `most`, by default those of an account.

        Raises NoSlot.
        """
        self.reserve({holder: self._of_account if most is None else most})
        try:
            yield
        finally:
            self.release(holder)


class Wakeups(Slots):
    """Admits waits, and wakes them by key."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._listeners: defaultdict[str, list[Callable[[], object]]] = defaultdict(list)
        # passes wake-ups on to other processes; must neither block nor raise
        self.relay: Callable[[str], None] = lambda _key: None

    def wait_until(
        self,
        key: str,
        look: Callable[[], T | None],
        seconds: float,
        *,
        account_id: str,
        most: int = OF_ACCOUNT,
    ) -> T | None:
        """Return the result of `look` as soon as it is not None; return None after `seconds`.

        look  called at once, after each `notify(key)` and each second; must not keep a database
              connection when it returns
        most  the slots of the holder
        Returns None early when the server stops. Raises NoSlot, and Parked for the server.
        """
        waited: dict[str, Wait] | None = request.environ.get(WAITED)
        if waited and key in waited:
            return cast(T | None, waited[key].look())
        self.reserve({account_id: most})
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
        """Wake all waits for `key` in all processes; call it after the commit."""
        self.wake(key)
        self.relay(key)

    def wake(self, key: str | None) -> None:
        """Wake the waits for `key` in this process; None wakes all, as hints may have been lost."""
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
    """Give the application its own wake-ups, which changes of drafts and forms trigger."""
    app.extensions["wakeups"] = Wakeups(most=MOST)
    call_after_changes(app, app.extensions["wakeups"].notify)


def wakeups() -> Wakeups:
    """Return the wake-ups of the current application."""
    return cast(Wakeups, current_app.extensions["wakeups"])


def began_waiting(key: str) -> float:
    """Return when the wait for `key` began, or now without one, by the monotonic clock."""
    wait = request.environ.get(WAITED, {}).get(key)
    return wait.began if wait else time.monotonic()


def waited() -> bool:
    """Return whether this request runs again after a wait; limits have counted it before."""
    return bool(request.environ.get(WAITED))


@contextmanager
def shared_wakeups(app: Flask) -> Iterator[None]:
    """Exchange wake-ups with other processes during the block; on SQLite there are none."""
    with app.app_context():
        if on_sqlite():
            yield
            return
    with Relay(app).running():
        yield


class Relay:
    """The sending and the listening thread of one process."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._wakeups: Wakeups = app.extensions["wakeups"]
        self._changed = threading.Condition()
        self._keys: set[str] = set()
        self._ended = threading.Event()
        self._sender_pid = 0  # the database session that sends our own notifications

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run both threads during the block; never wait for a connection or a hung database."""
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
        """Connect and work, and start again after each failure; log at most once a minute."""
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
        """Wake the waits of this process; first all, for notifications from before LISTEN."""
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
    """Open a driver connection that does not count for the pool."""
    engine = db.engine.execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        connection.detach()
        driver.patience = ANSWER_SECONDS
        yield driver

"""Wake-ups between processes that share a PostgreSQL: NOTIFY and LISTEN, a thread for each.

Each thread has a connection of its own, in autocommit mode and outside of the pool. NOTIFY is sent
after the commit that it tells of: inside, it takes a lock that all commits of the database share.
Whatever is lost while a connection is down is found by the waits' own look, a second later.
"""

import logging
import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask

from webapp.database import db, on_sqlite
from webapp.web.wakeups import Wakeups

CHANNEL = "askback_wakeups"
GATHER_SECONDS = 0.01  # one NOTIFY for all wake-ups of a key in this time
MOST_KEYS = 10_000  # gathered while the database is away
LOOK_SECONDS = 0.5  # how often the threads look whether the process ends
PING_SECONDS = 15.0  # of silence, after which the listening connection is tried
ANSWER_SECONDS = 2.0  # for a statement on either connection
RETRY_SECONDS = 1.0  # before connecting again
LOG_SECONDS = 60.0  # between two lines of the log about the same failure

log = logging.getLogger("askback.wakeups")


@contextmanager
def shared_wakeups(app: Flask) -> Iterator[None]:
    """While the block runs, wake-ups reach the other processes on the same PostgreSQL, and theirs
    this one. On SQLite, which one process serves, nothing is started.
    """
    with app.app_context():
        if on_sqlite():
            yield
            return
    relay = Relay(app)
    relay.start()
    try:
        yield
    finally:
        relay.stop()


@contextmanager
def changes_told(app: Flask) -> Iterator[None]:
    """At the end of the block, in an application context, tell the servers on the same PostgreSQL
    what it has changed: for a command beside them, which runs no threads.
    """
    keys: set[str] = set()
    found: Wakeups = app.extensions["wakeups"]
    found.relay_by(keys.add)
    try:
        yield
    finally:
        found.relay_by(None)
        if keys and not on_sqlite():
            _tell_once(keys)


def _tell_once(keys: set[str]) -> None:
    """What is stored stays, whatever becomes of this."""
    try:
        with _own_connection() as connection:
            connection.execute(_NOTIFY, [CHANNEL, list(keys)[:MOST_KEYS]])
    except Exception:
        log.warning("the servers were not told what has changed; they find it soon", exc_info=True)


class Relay:
    """Both threads of one process."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._wakeups: Wakeups = app.extensions["wakeups"]
        self._changed = threading.Condition()
        self._keys: set[str] = set()
        self._ended = threading.Event()
        self._sender_pid = 0  # of the database session that sends our own notifications
        self._threads = [
            threading.Thread(target=self._keep, args=(work,), name=name, daemon=True)
            for name, work in (("notify", self._send), ("listen", self._listen))
        ]

    def start(self) -> None:
        """Begin; returns at once, connected or not."""
        for thread in self._threads:
            thread.start()
        self._wakeups.relay_by(self.tell)

    def stop(self) -> None:
        """End both threads, without waiting for a database that hangs."""
        self._wakeups.relay_by(None)
        self._ended.set()
        with self._changed:
            self._changed.notify()
        for thread in self._threads:
            thread.join(LOOK_SECONDS)

    def tell(self, key: str) -> None:
        """Have the other processes told; never blocks."""
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
            self._ended.wait(RETRY_SECONDS)

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
        """Wake whoever waits here, at first for what was told before we listened."""
        connection.execute(f"LISTEN {CHANNEL}")
        self._wakeups.wake(None)
        arrived = select.poll()
        arrived.register(connection.fileno(), select.POLLIN)
        silent = 0.0
        while not self._ended.is_set():
            silent = 0.0 if arrived.poll(int(LOOK_SECONDS * 1000)) else silent + LOOK_SECONDS
            if silent >= PING_SECONDS:
                connection.execute("SELECT 1")
                silent = 0.0
            for told in connection.notifies(timeout=0):
                if told.pid != self._sender_pid:
                    self._wakeups.wake(told.payload)


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

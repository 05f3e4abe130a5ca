"""Connections to SQLite: durable, one writer per process at a time, a log of bounded size."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import OperationalError

IMMEDIATE = "askback_immediate"
READING = "askback_reading"
LOCK_SECONDS = 4.5  # how long a writer waits for others, before it is refused
LOG_BYTES = 4 * 1024 * 1024  # size of the log, or a tenth of the data if that is more
EMPTYING_SECONDS = 0.25  # how long a writer waits for readers that hold the log
EMPTIED_EVERY_SECONDS = 2.0  # if readers hold it for longer
_writers = threading.Lock()
_emptied_at: dict[str, float] = {}  # by path: when emptying the log last failed
_turn = threading.local()  # `until`: the deadline of a thread that holds the lock but no connection


def prepare_engine(engine: Engine) -> None:
    """Attach the settings and the writer lock."""
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    event.listen(engine.pool, "checkin", release_writers)


@contextmanager
def turn(give_back: Callable[[], None]) -> Iterator[None]:
    """Hold the writer lock of this process; BEGIN IMMEDIATE within the block uses it.

    give_back  releases connections before waiting: readers need them
    raises     OperationalError after LOCK_SECONDS
    """
    until = time.monotonic() + LOCK_SECONDS
    if not _writers.acquire(blocking=False):
        give_back()
        _wait_for_others()
    _turn.until = until
    try:
        yield
    finally:
        if _take_turn() is not None:
            _writers.release()


def release_writers(_connection: Any, record: Any) -> None:
    """Release the writer lock of this process, if this connection holds it."""
    if record.record_info.pop("writer", False):
        _writers.release()


def _set_up(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    for pragma in (
        f"busy_timeout={_millis(LOCK_SECONDS)}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "temp_store=MEMORY",  # else statement journals beyond 16 pages go to a file
        "secure_delete=ON",  # deleted content is overwritten in the file
    ):
        connection.execute(f"PRAGMA {pragma}")
    pages, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")
    )
    # a later checkpoint writes repeatedly changed pages less often
    most = _most_log(pages * size)
    connection.execute(f"PRAGMA wal_autocheckpoint={most * 3 // 4 // size}")
    connection.execute(f"PRAGMA journal_size_limit={most}")


def begin_writing(connection: Connection) -> None:
    """BEGIN IMMEDIATE as the only writer of this process, until `ending` or the return of the
    connection to the pool.

    raises  OperationalError after LOCK_SECONDS
    """
    until = _take_turn()
    if until is None:
        until = time.monotonic() + LOCK_SECONDS
        _wait_for_others()
    pooled: Any = connection.connection
    pooled.record_info["writer"] = True
    try:
        _empty_log(pooled.dbapi_connection, connection.engine.url.database or "")
        _begin_immediate(pooled.dbapi_connection, until - time.monotonic())
    except sqlite3.Error as error:
        release_writers(None, pooled)
        raise OperationalError("BEGIN IMMEDIATE", None, error) from error


@contextmanager
def ending(connection: Connection) -> Iterator[None]:
    """After the block, commit what `begin_writing` began; roll back if the block raises.

    The connection stays usable. raises  OperationalError: nothing is stored then
    """
    pooled: Any = connection.connection
    driver = pooled.dbapi_connection
    try:
        yield
        if connection.engine.dispatch.commit:  # as SQLAlchemy's own commit does
            connection.engine.dispatch.commit(connection)
        try:
            driver.execute("COMMIT")
        except sqlite3.Error as error:
            raise OperationalError("COMMIT", None, error) from error
    finally:
        try:
            driver.rollback()  # does nothing after COMMIT
        finally:
            release_writers(None, pooled)


def _begin(connection: Connection) -> None:
    """Begin without SQLAlchemy, for speed."""
    options = connection.get_execution_options()
    if options.get(IMMEDIATE):
        begin_writing(connection)
    elif not options.get(READING):
        driver: Any = connection.connection.dbapi_connection
        driver.execute("BEGIN")


def _empty_log(driver: Any, path: str) -> None:
    """Truncate the log if overlapping readers have kept it growing."""
    if time.monotonic() - _emptied_at.get(path, 0.0) < EMPTIED_EVERY_SECONDS:
        return
    log, data = _size(f"{path}-wal"), _size(path)
    if log < _most_log(data) * 7 // 8:
        return
    driver.execute(f"PRAGMA busy_timeout={_millis(EMPTYING_SECONDS)}")
    try:
        (busy, *_) = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        driver.execute(f"PRAGMA busy_timeout={_millis(LOCK_SECONDS)}")
    if busy:
        _emptied_at[path] = time.monotonic()


def _take_turn() -> float | None:
    """Return the deadline of a thread that holds the writer lock, else None; only once."""
    until: float | None = getattr(_turn, "until", None)
    _turn.until = None
    return until


def _wait_for_others() -> None:
    if not _writers.acquire(timeout=LOCK_SECONDS):
        raise OperationalError("BEGIN IMMEDIATE", None, RuntimeError("other writers hold it"))


def _begin_immediate(driver: Any, seconds: float) -> None:
    """Begin, waiting for other programs only in the time that our own writers have left."""
    spent = seconds < LOCK_SECONDS - 0.1
    if spent:
        driver.execute(f"PRAGMA busy_timeout={_millis(max(seconds, 0.001))}")
    try:
        driver.execute("BEGIN IMMEDIATE")
    finally:
        if spent:
            driver.execute(f"PRAGMA busy_timeout={_millis(LOCK_SECONDS)}")


def _most_log(data_bytes: int) -> int:
    return max(LOG_BYTES, data_bytes // 10)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _millis(seconds: float) -> int:
    return int(seconds * 1000)

"""One database handle for SQLite and PostgreSQL: column types, ids, write transactions.

Times are BIGINT milliseconds since the epoch, because clients re-parse dates to milliseconds.
"""

import json
import math
import secrets
import select
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import orjson
from flask import Flask, g
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import (
    BigInteger,
    Connection,
    CursorResult,
    Dialect,
    Engine,
    Executable,
    MetaData,
    Row,
    event,
)
from sqlalchemy.exc import DBAPIError, InvalidatePoolError, OperationalError
from sqlalchemy.orm import DeclarativeBase, registry
from sqlalchemy.types import TypeDecorator

from webapp.prepared import all_rows

IMMEDIATE = "askback_immediate"
READING = "askback_reading"
IDLE_SECONDS = 1.0  # after which a pooled connection may have been closed by its server
LOCK_SECONDS = 15  # how long a writer waits for others, before the request is refused
MISSING_TABLES = {"42P01", "42703"}  # of PostgreSQL: undefined table, undefined column
GIVEN_UP = {"40P01", "40001"}  # of PostgreSQL: deadlock, serialization failure
CHECKPOINT_PAGES = 4000  # an answer writes eleven; the same ones are moved the more seldom
_sqlite_writers = threading.Lock()
_beside: WeakKeyDictionary[Engine, Engine] = WeakKeyDictionary()


def to_millis(moment: datetime) -> int:
    """Milliseconds since the epoch of an aware datetime; finer parts are cut, not rounded."""
    if moment.tzinfo is None:
        raise ValueError("naive datetime")
    return (int(moment.timestamp()) * 1000) + moment.microsecond // 1000


def from_millis(millis: int) -> datetime:
    """Aware UTC datetime of milliseconds since the epoch."""
    seconds, rest = divmod(millis, 1000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest * 1000)


class UtcDateTime(TypeDecorator[datetime]):
    """Aware in, aware UTC out; stored as BIGINT milliseconds on both databases."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else to_millis(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else from_millis(value)


class Base(DeclarativeBase):
    """Declarative base; constraint names follow one convention so that migrations can name them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    registry = registry(metadata=metadata, type_annotation_map={datetime: UtcDateTime})


db = SQLAlchemy(model_class=Base, session_options={"expire_on_commit": False})


def new_id(prefix: str) -> str:
    """`prefix_` and 96 random bits as hexadecimal digits."""
    return f"{prefix}_{secrets.token_hex(12)}"


def utc_now() -> datetime:
    """The current moment, aware UTC, cut to milliseconds as it will be stored."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def begin_write() -> None:
    """Make the session's transaction a writing one; call it before the first write of a use case.

    SQLite: ends an open read transaction and starts BEGIN IMMEDIATE behind one process-wide lock
    (writers that wait on the busy handler alone starve each other). PostgreSQL: nothing to do.
    """
    if not on_sqlite():
        return
    session = db.session()
    if session.in_transaction():
        if session.connection().get_execution_options().get(IMMEDIATE):
            return
        session.rollback()
    session.connection(execution_options={IMMEDIATE: True})


def rows(statement: Executable, **values: Any) -> CursorResult[Any]:
    """Run a statement without entities in the session's transaction.

    Hot statements are built once, with `bindparam`, and come here: building one and passing the
    session's own `execute` take longer than SQLite takes to answer it. Nothing is flushed before.
    """
    return db.session.connection().execute(statement, values)


def look(statement: Executable, **values: Any) -> Sequence[Row[Any]]:
    """All rows of one SELECT, in a transaction of its own unless the session is in one.

    The connection is kept for further looks until the session begins, `release` or the end of the
    request: whoever held one connection and waited for a second would wait for others like
    themselves. One that the server drops is replaced once. Statements as for `rows`.
    """
    if db.session.registry.has() and db.session().in_transaction():
        return rows(statement, **values).all()
    try:
        return all_rows(_connection(), statement, values)
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
    _close_connection()
    return all_rows(_connection(), statement, values)


def lacks_tables(error: BaseException) -> bool:
    """Whether PostgreSQL missed a table or a column, which SQLite calls an OperationalError."""
    return getattr(getattr(error, "orig", None), "sqlstate", None) in MISSING_TABLES


def was_given_up(error: BaseException) -> bool:
    """Whether PostgreSQL ended the transaction in favour of others, so that it may be repeated."""
    return getattr(getattr(error, "orig", None), "sqlstate", None) in GIVEN_UP


def on_sqlite() -> bool:
    """Where statements do not travel, and a writer is alone."""
    return db.engine.dialect.name == "sqlite"


def write(statement: Executable, **values: Any) -> Sequence[Row[Any]]:
    """One statement outside of the session as a transaction of its own; the rows it returns.

    PostgreSQL commits it by itself: the client goes there once, and rows are locked no longer than
    the database needs. SQLite as `writing`. Statements as for `rows`.
    """
    if on_sqlite():
        with writing() as connection:
            return all_rows(connection, statement, values)
    _leave_session()
    return all_rows(_connection(), statement, values)


@contextmanager
def writing() -> Iterator[Connection]:
    """One writing transaction on SQLite outside of the session; locks as `begin_write`.

    Commits at the end, rolls back when anything is raised. What the session has read or not yet
    committed is given up first, so that it sees the change afterwards; inside, leave it alone.
    """
    _leave_session()
    connection = _connection()
    connection.rollback()
    connection.execution_options(**{READING: False, IMMEDIATE: True})
    try:
        with connection.begin():
            yield connection
    except BaseException:
        _close_connection()  # which ends whatever a failed commit has left open
        raise
    connection.execution_options(**{READING: True, IMMEDIATE: False})
    _release_writers(None, connection.connection)


def _connection() -> Connection:
    """The connection of this request beside the session; its statements commit by themselves."""
    if "connection" not in g:
        g.connection = _beside[db.engine].connect()
    connection: Connection = g.connection
    return connection


def _leave_session() -> None:
    if db.session.registry.has():
        db.session.rollback()


def release() -> None:
    """Give all connections of this request back; call it before waiting for anything."""
    db.session.remove()
    _close_connection()


def _close_connection(*_of_the_event: object) -> None:
    if "connection" in g:
        g.pop("connection").close()


event.listen(db.session, "after_transaction_create", _close_connection)


def engine_options(url: str) -> dict[str, Any]:
    """How many connections one process holds, and that errors never repeat stored values."""
    common = {
        "hide_parameters": True,
        "pool_timeout": 10,
        "json_serializer": _to_json,
        "json_deserializer": _from_json,
    }
    if url.startswith("sqlite"):
        return common | {"pool_size": 16, "max_overflow": 48}
    return common | {
        "pool_size": 10,
        "max_overflow": 20,
        "pool_recycle": 1800,
        "connect_args": {"connect_timeout": 5, "options": f"-c lock_timeout={LOCK_SECONDS}s"},
    }


def _to_json(value: Any) -> str:
    """The faster encoder, save for what it refuses: lone surrogates, integers beyond 64 bits."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value)


def _from_json(text: str | bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


def init_app(app: Flask) -> None:
    """Bind the handle; every request gives back what it took.

    Needs the database in the configuration already.
    """
    db.init_app(app)
    app.teardown_appcontext(_close_connection)
    with app.app_context():
        prepare_engine(db.engine)


def prepare_engine(engine: Engine) -> None:
    """Attach the SQLite settings and the writer lock, or the look at PostgreSQL connections."""
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _sqlite_pragmas)
        event.listen(engine, "begin", _sqlite_begin)
        event.listen(engine.pool, "checkin", _release_writers)
        _beside[engine] = engine.execution_options(**{READING: True})
    else:
        event.listen(engine.pool, "checkout", partial(_ping_after_idling, engine.dialect))
        event.listen(engine.pool, "checkin", _begin_idling)
        _beside[engine] = engine.execution_options(isolation_level="AUTOCOMMIT")


def _ping_after_idling(dialect: Dialect, connection: Any, record: Any, _proxy: Any) -> None:
    """Replace a connection that the server has closed meanwhile.

    Asking each time costs as much as a small query. A server that ends a connection says so, and
    that can be seen without asking; one that vanished with its network is found after idling.
    """
    idle_seconds = time.monotonic() - record.info.get("idle_since", math.inf)
    try:
        if idle_seconds < IDLE_SECONDS and not _was_told_something(connection):
            return
        dialect.do_ping(connection)
        connection.rollback()
    except dialect.loaded_dbapi.Error as error:
        raise InvalidatePoolError from error


def _was_told_something(connection: Any) -> bool:
    """Whether the server has sent what nobody asked for, as it does when it says good-bye."""
    unread = select.poll()
    unread.register(connection.fileno(), select.POLLIN)
    return bool(unread.poll(0))


def _begin_idling(_connection: Any, record: Any) -> None:
    record.info["idle_since"] = time.monotonic()


def _sqlite_pragmas(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    for pragma in (
        f"busy_timeout={LOCK_SECONDS * 1000}",
        "journal_mode=WAL",
        "synchronous=FULL",
        f"wal_autocheckpoint={CHECKPOINT_PAGES}",
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _sqlite_begin(connection: Any) -> None:
    # past SQLAlchemy, for speed
    options = connection.get_execution_options()
    if options.get(READING):
        return
    if not options.get(IMMEDIATE):
        connection.connection.dbapi_connection.execute("BEGIN")
        return
    if not _sqlite_writers.acquire(timeout=LOCK_SECONDS):
        raise OperationalError("BEGIN IMMEDIATE", None, RuntimeError("other writers hold it"))
    connection.connection.record_info["writer"] = True
    try:
        connection.connection.dbapi_connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        raise OperationalError("BEGIN IMMEDIATE", None, error) from error


def _release_writers(_connection: Any, record: Any) -> None:
    if record.record_info.pop("writer", False):
        _sqlite_writers.release()

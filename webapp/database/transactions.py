"""One database handle for SQLite and PostgreSQL: column types, ids, write transactions.

Times are BIGINT milliseconds since the epoch, because clients re-parse dates to milliseconds.
"""

import json
import logging
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import orjson
from flask import Flask, g
from flask_sqlalchemy import SQLAlchemy
from flask_sqlalchemy.session import Session as SessionBase
from sqlalchemy import (
    BigInteger,
    Connection,
    CursorResult,
    Dialect,
    Engine,
    Executable,
    MetaData,
    Row,
    Table,
    event,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import DeclarativeBase, registry
from sqlalchemy.types import TypeDecorator

from webapp import open_files
from webapp.database import sqlite
from webapp.database.failures import (
    STORAGE_FAILURES,
    gave_no_answer,
    may_run_again,
    note_stored,
    note_unknown,
    was_lost,
)
from webapp.database.prepared_statements import all_rows
from webapp.database.sqlite import IMMEDIATE, READING, release_writers

TRIES = 3  # of a transaction that others stand in the way of
POOL_SECONDS = 4  # how long a request waits for a connection that others hold
FILES_OF_A_CONNECTION = 3  # of SQLite: the database, its log, and a journal at times
log = logging.getLogger("askback.database")
P = ParamSpec("P")
R = TypeVar("R")
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


class Session(SessionBase):
    """A session that can always be ended: nothing that its server says replaces an answer.

    What was not committed is forgotten by a server together with the connection.
    """

    def rollback(self) -> None:
        """Forget what is not committed, with the connection if need be."""
        self._let_go(super().rollback)

    def close(self) -> None:
        """Give the connection back, or give it up."""
        self._let_go(super().close)

    def _let_go(self, end: Callable[[], None]) -> None:
        try:
            end()
        except STORAGE_FAILURES:
            log.warning("a connection was given up", exc_info=True)
            self.invalidate()


db = SQLAlchemy(model_class=Base, session_options={"class_": Session, "expire_on_commit": False})


def new_id(prefix: str) -> str:
    """`prefix_` and 96 random bits as hexadecimal digits."""
    return f"{prefix}_{secrets.token_hex(12)}"


def utc_now() -> datetime:
    """The current moment, aware UTC, cut to milliseconds as it will be stored."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def tried_again(use_case: Callable[P, R]) -> Callable[P, R]:
    """A use case that begins again when the database gave its one transaction up for others.

    For those that follow another transaction of the same request, which has done its work: the
    request as a whole may not run again.
    """

    @wraps(use_case)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        for _ in range(TRIES - 1):
            try:
                return use_case(*args, **kwargs)
            except DBAPIError as error:
                if not may_run_again(error):
                    raise
                log.warning("given up by the database, tried again")
                db.session.rollback()
                _close_connection()
        return use_case(*args, **kwargs)

    return run


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
    with sqlite.turn(_close_connection):
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
        if not was_lost(error) or gave_no_answer(error):
            raise
    _close_connection()
    return all_rows(_connection(), statement, values)


def on_sqlite() -> bool:
    """Where statements do not travel, and a writer is alone."""
    return db.engine.dialect.name == "sqlite"


def insert_into(table: Table) -> Any:
    """INSERT as the database in use has it, with ON CONFLICT.

    Only its dialect is loaded: that of the other would make every start an eighth longer.
    """
    return import_module(f"sqlalchemy.dialects.{db.engine.dialect.name}").insert(table)


def built_once(build: Callable[[], R]) -> Callable[[], R]:
    """Keep the statement that `build` makes by `insert_into`, one for each dialect."""

    @cache
    def kept(_dialect: str) -> R:
        return build()

    return lambda: kept(db.engine.dialect.name)


def is_read_only() -> bool:
    """Whether the database takes no writes: a replica, or a file that we may only read."""
    if on_sqlite():
        return not os.access(db.engine.url.database or "", os.W_OK)
    return bool(look(text("SHOW transaction_read_only"))[0][0] == "on")


def write(statement: Executable, **values: Any) -> Sequence[Row[Any]]:
    """One statement outside of the session as a transaction of its own; the rows it returns.

    PostgreSQL commits it by itself: the client goes there once, and rows are locked no longer than
    the database needs. SQLite as `writing`. Statements as for `rows`.

    A connection that PostgreSQL drops meanwhile leaves open whether the statement was carried out.
    It is then sent once more, so it has to find nothing left to do, or to fail, where it was: no
    rows and an IntegrityError may both mean that it is stored, and the caller looks.
    """
    if on_sqlite():
        with writing() as connection:
            return all_rows(connection, statement, values)
    _leave_session()
    try:
        found = all_rows(_connection(), statement, values)
    except DBAPIError as error:
        if not was_lost(error):
            raise
        note_unknown()
        if gave_no_answer(error):
            raise
        _close_connection()
        found = all_rows(_connection(), statement, values)
    note_stored()
    return found


@contextmanager
def writing() -> Iterator[Connection]:
    """One writing transaction on SQLite outside of the session; locks as `begin_write`.

    Commits at the end, rolls back when anything is raised. What the session has read or not yet
    committed is given up first, so that it sees the change afterwards; inside, leave it alone.
    """
    _leave_session()
    try:
        with sqlite.turn(_close_connection):
            connection = _connection()
            connection.rollback()
            connection.execution_options(**{READING: False, IMMEDIATE: True})
            transaction = connection.begin()
        with transaction:
            yield connection
    except BaseException:
        _close_connection()  # which ends whatever a failed commit has left open
        raise
    note_stored()
    connection.execution_options(**{READING: True, IMMEDIATE: False})
    release_writers(None, connection.connection)


def _connection() -> Connection:
    """The connection of this request beside the session; its statements commit by themselves."""
    if "connection" not in g:
        g.connection = _beside[db.engine].connect()
    connection: Connection = g.connection
    return connection


def _leave_session() -> None:
    if db.session.registry.has():
        db.session.rollback()


def release(*_of_the_event: object) -> None:
    """Give all connections of this request back, which never fails; call it before waiting for
    anything.
    """
    db.session.remove()
    _close_connection()


def _close_connection(*_of_the_event: object) -> None:
    if "connection" not in g:
        return
    connection: Connection = g.pop("connection")
    try:
        connection.close()
    except STORAGE_FAILURES:
        log.warning("a connection was given up", exc_info=True)
        connection.invalidate()


event.listen(db.session, "after_transaction_create", _close_connection)
event.listen(db.session, "after_commit", lambda _session: note_stored())


def engine_options(url: str) -> dict[str, Any]:
    """How many connections one process holds, and that errors never repeat stored values."""
    common = {
        "hide_parameters": True,
        "pool_timeout": POOL_SECONDS,
        "json_serializer": _to_json,
        "json_deserializer": _from_json,
    }
    if url.startswith("sqlite"):
        most = open_files.for_database() // FILES_OF_A_CONNECTION
        return common | {"pool_size": min(16, most), "max_overflow": max(0, most - 16)}
    from webapp.database.postgresql import CONNECT_ARGS  # brings the driver with it

    return common | {
        "pool_size": 10,
        "max_overflow": 20,
        "pool_recycle": 1800,
        "connect_args": CONNECT_ARGS,
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
    app.teardown_appcontext(release)
    with app.app_context():
        prepare_engine(db.engine)


def prepare_engine(engine: Engine) -> None:
    """Attach the SQLite settings and the writer lock, or the look at PostgreSQL connections."""
    if engine.dialect.name == "sqlite":
        sqlite.prepare_engine(engine)
        _beside[engine] = engine.execution_options(**{READING: True})
    else:
        from webapp.database import postgresql

        postgresql.prepare_engine(engine)
        _beside[engine] = engine.execution_options(isolation_level="AUTOCOMMIT")

"""The database: one handle for SQLite and PostgreSQL, its engine and its transactions.

Listeners of changes are called after the commit.
"""

import logging
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import sqlalchemy as sa
from flask import Flask, current_app, g
from flask_sqlalchemy import SQLAlchemy
from flask_sqlalchemy.session import Session as SessionBase
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import DeclarativeBase, registry

from webapp.base import open_files
from webapp.base.database import failures, sqlite, types
from webapp.base.database.prepared_statements import all_rows
from webapp.base.database.sqlite import IMMEDIATE, READING
from webapp.base.database.types import (
    UtcDateTime as UtcDateTime,
    among as among,
    from_millis as from_millis,
    to_millis as to_millis,
)

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert as PostgresqlInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert

POOL_SECONDS = 4  # how long a request waits for a pooled connection
FILES_OF_A_CONNECTION = 3  # of SQLite: the database, its log, and a journal at times
CHANGE_LISTENERS = "change_listeners"
TRIES = 3  # of a transaction that the database aborts
log = logging.getLogger("askback.database")
P = ParamSpec("P")
R = TypeVar("R")


class Base(DeclarativeBase):
    """Declarative base; constraint names follow one convention so that migrations can name them."""

    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    registry = registry(
        metadata=metadata, type_annotation_map={datetime: UtcDateTime, StrEnum: types.ENUM}
    )


class Session(SessionBase):
    """A session whose rollback and close never raise, so that they cannot replace a response.

    The server rolls back uncommitted work when the connection ends.
    """

    def rollback(self) -> None:
        """Roll back; drops the connection if that fails."""
        self._let_go(super().rollback)

    def close(self) -> None:
        """Return the connection to the pool; drops it if that fails."""
        self._let_go(super().close)

    def _let_go(self, end: Callable[[], None]) -> None:
        try:
            end()
        except failures.STORAGE_FAILURES:
            log.warning("a connection was given up", exc_info=True)
            self.invalidate()


db = SQLAlchemy(model_class=Base, session_options={"class_": Session, "expire_on_commit": False})


def new_id(prefix: str) -> str:
    """Return `prefix_` and 96 random bits as hexadecimal digits."""
    return f"{prefix}_{secrets.token_hex(12)}"


def utc_now() -> datetime:
    """Return the current moment, aware UTC, cut to milliseconds as the database stores it."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def on_sqlite() -> bool:
    """True on SQLite: no network round trips, and one writer at a time."""
    return db.engine.dialect.name == "sqlite"


def insert_into(table: sa.Table) -> "PostgresqlInsert | SqliteInsert":
    """Return an INSERT of the dialect in use, with ON CONFLICT.

    Imports only that dialect: importing both would make every start an eighth longer.
    """
    dialect = import_module(f"sqlalchemy.dialects.{db.engine.dialect.name}")
    return cast("PostgresqlInsert | SqliteInsert", dialect.insert(table))


def built_once(build: Callable[[], R]) -> Callable[[], R]:
    """Cache the statement that `build` makes by `insert_into`, one for each dialect."""

    @cache
    def kept(_dialect: str) -> R:
        return build()

    return lambda: kept(db.engine.dialect.name)


def engine_options(url: str) -> dict[str, Any]:
    """Return the options of the engine: pool size, and errors without stored values."""
    common = {
        "hide_parameters": True,
        "pool_timeout": POOL_SECONDS,
        "json_serializer": types.to_json,
        "json_deserializer": types.from_json,
    }
    if url.startswith("sqlite"):
        most = open_files.for_database() // FILES_OF_A_CONNECTION
        return common | {"pool_size": min(16, most), "max_overflow": max(0, most - 16)}
    # overflow connections close after each use, and open again under load
    return common | {"pool_size": 30, "max_overflow": 0, "pool_recycle": 1800}


def prepare_engine(engine: sa.Engine) -> None:
    """Attach the SQLite settings and the writer lock, or the check of PostgreSQL connections."""
    if engine.dialect.name == "sqlite":
        sqlite.prepare_engine(engine)
    else:
        from webapp.base.database import postgresql

        postgresql.prepare_engine(engine)


def tried_again(use_case: Callable[P, R]) -> Callable[P, R]:
    """Run a use case again if the database aborted its transaction in favour of others.

    For use cases that follow a committed transaction of the same request: the request as a whole
    must not run again.
    """

    @wraps(use_case)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        for _ in range(TRIES - 1):
            try:
                return use_case(*args, **kwargs)
            except DBAPIError as error:
                if not failures.may_run_again(error):
                    raise
                log.warning("given up by the database, tried again")
                db.session.rollback()
                _close_connection()
        return use_case(*args, **kwargs)

    return run


def execute(statement: sa.Executable, **values: Any) -> sa.CursorResult[*tuple[Any, ...]]:
    """Run a statement without entities in the session's transaction, without a flush before.

    Build frequent statements once, with `bindparam`, and run them here: building one and calling
    the session's own `execute` take longer than SQLite takes to answer.
    """
    return db.session.connection().execute(statement, values)


def read_rows(statement: sa.Executable, **values: Any) -> Sequence[sa.Row[*tuple[Any, ...]]]:
    """Return all rows of one SELECT, in a transaction of its own unless the session is in one.

    The request keeps the connection for further reads until the session begins, it ends or calls
    `release_connections`: requests that held one connection and waited for a second could deadlock.
    A connection that the server drops is replaced once.

    Build the statement once, with `bindparam` and without lists (`in_`): it is prepared and kept.
    """
    if db.session.registry.has() and db.session().in_transaction():
        return execute(statement, **values).all()
    try:
        return all_rows(_connection(), statement, values)
    except DBAPIError as error:
        if not failures.was_lost(error) or failures.gave_no_answer(error):
            raise
    _close_connection()
    return all_rows(_connection(), statement, values)


def is_read_only() -> bool:
    """Return whether the database takes no writes: a replica, or a read-only file."""
    if on_sqlite():
        return not os.access(db.engine.url.database or "", os.W_OK)
    return bool(read_rows(sa.text("SHOW transaction_read_only"))[0][0] == "on")


def execute_autocommit(
    statement: sa.Executable, **values: Any
) -> Sequence[sa.Row[*tuple[Any, ...]]]:
    """Run one statement outside the session as a transaction of its own; return its rows.

    PostgreSQL commits it by itself: one round trip, and the shortest locks. SQLite, which has no
    round trips, uses a `sqlite_transaction`. Statements as for `execute`.

    If PostgreSQL drops the connection, it is unknown whether the statement was carried out, and it
    is sent once more. The second run has to find nothing left to do, or to fail: no rows and an
    IntegrityError may both mean that the data is stored, so the caller has to read it back.
    """
    if on_sqlite():
        with sqlite_transaction() as connection:
            return all_rows(connection, statement, values)
    _leave_session()
    try:
        found = all_rows(_connection(), statement, values)
    except DBAPIError as error:
        if not failures.was_lost(error):
            raise
        failures.note_unknown()
        if failures.gave_no_answer(error):
            raise
        _close_connection()
        found = all_rows(_connection(), statement, values)
    failures.note_stored()
    _tell_changes()
    return found


@contextmanager
def sqlite_transaction() -> Iterator[sa.Connection]:
    """Open a writing transaction of SQLite outside the session, for prepared statements.

    Commits at the end, rolls back on an exception; must not be nested. Takes half the processor
    time of a `write_transaction`, whose session takes a connection of its own.
    """
    _leave_session()
    with sqlite.turn(_close_connection):
        connection = _connection()
        sqlite.begin_writing(connection)
    with sqlite.ending(connection):
        yield connection
    failures.note_stored()
    _tell_changes()


@contextmanager
def core_transaction() -> Iterator[sa.Connection]:
    """Open a writing transaction for prepared statements: a `sqlite_transaction` on SQLite, else
    a `write_transaction`. Pass its connection to everything that reads or writes in it.
    """
    with sqlite_transaction() if on_sqlite() else write_transaction() as connection:
        yield connection


@contextmanager
def write_transaction() -> Iterator[sa.Connection]:
    """Open a writing transaction of the session: commits at the end, rolls back on an exception.

    Yields the session's connection. SQLite allows one at a time; must not be nested. Raise a
    refusal that has to leave something stored after the block.
    """
    try:
        _begin_write()
        yield db.session.connection()
        db.session.commit()
    except BaseException:
        db.session.rollback()
        raise
    _tell_changes()


def _begin_write() -> None:
    """Make the session's transaction a writing one.

    SQLite: ends an open read transaction and starts BEGIN IMMEDIATE behind one process-wide lock
    (with the busy handler alone, writers starve each other). PostgreSQL: nothing to do.
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


def _connection() -> sa.Connection:
    """Return the autocommit connection of this request, which the session does not use."""
    if "connection" not in g:
        g.connection = current_app.extensions["autocommit"].connect()
    connection: sa.Connection = g.connection
    return connection


def _leave_session() -> None:
    if db.session.registry.has():
        db.session.rollback()


def release_connections(*_of_the_event: object) -> None:
    """Return this request's connections to the pool without raising; call it before any wait."""
    db.session.remove()
    _close_connection()


def _close_connection(*_of_the_event: object) -> None:
    if "connection" not in g:
        return
    connection: sa.Connection = g.pop("connection")
    try:
        connection.close()
    except failures.STORAGE_FAILURES:
        log.warning("a connection was given up", exc_info=True)
        connection.invalidate()


def call_after_changes(app: Flask, listener: Callable[[str], None]) -> None:
    """Call `listener`, after the commit, with each id that was passed to `note_change`.

    It runs in the thread of the request, and must neither block nor raise.
    """
    app.extensions.setdefault(CHANGE_LISTENERS, []).append(listener)


def note_change(object_id: str) -> None:
    """Notify listeners of this object after the transaction, or the next statement, commits.

    A notification does no harm if nothing was stored.
    """
    g.setdefault("changed", set()).add(object_id)


def _tell_changes() -> None:
    """Notify listeners of all noted changes, after a commit."""
    changed: set[str] = g.pop("changed", set())
    for listener in current_app.extensions.get(CHANGE_LISTENERS, ()):
        for object_id in changed:
            listener(object_id)


def _note_committed(session: Session) -> None:
    if not session.in_nested_transaction():  # the end of a savepoint stores nothing
        failures.note_stored()


sa.event.listen(db.session, "after_transaction_create", _close_connection)
sa.event.listen(db.session, "after_commit", _note_committed)


def init_app(app: Flask) -> None:
    """Initialise the database; every request returns its connections at its end.

    Needs the database in the configuration already.
    """
    db.init_app(app)
    app.teardown_appcontext(release_connections)
    with app.app_context():
        prepare_engine(db.engine)
        options = {READING: True} if on_sqlite() else {"isolation_level": "AUTOCOMMIT"}
        # the same pool, used without a session
        app.extensions["autocommit"] = db.engine.execution_options(**options)

"""Transactions, and notifications of changes after their commit."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from flask import Flask, current_app, g
from sqlalchemy import Connection, CursorResult, Executable, Row, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from webapp.base.database import failures, sqlite
from webapp.base.database.engine import db, direct_engines, on_sqlite, prepare_engine
from webapp.base.database.prepared_statements import all_rows
from webapp.base.database.sqlite import IMMEDIATE

CHANGE_LISTENERS = "change_listeners"
TRIES = 3  # of a transaction that the database aborts
log = logging.getLogger("askback.database")
P = ParamSpec("P")
R = TypeVar("R")


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


def execute(statement: Executable, **values: Any) -> CursorResult[*tuple[Any, ...]]:
    """Run a statement without entities in the session's transaction, without a flush before.

    Build frequent statements once, with `bindparam`, and run them here: building one and calling
    the session's own `execute` take longer than SQLite takes to answer.
    """
    return db.session.connection().execute(statement, values)


def read_rows(statement: Executable, **values: Any) -> Sequence[Row[*tuple[Any, ...]]]:
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
    return bool(read_rows(text("SHOW transaction_read_only"))[0][0] == "on")


def execute_autocommit(statement: Executable, **values: Any) -> Sequence[Row[*tuple[Any, ...]]]:
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
def sqlite_transaction() -> Iterator[Connection]:
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
def core_transaction() -> Iterator[Connection]:
    """Open a writing transaction for prepared statements: a `sqlite_transaction` on SQLite, else
    a `write_transaction`. Pass its connection to everything that reads or writes in it.
    """
    with sqlite_transaction() if on_sqlite() else write_transaction() as connection:
        yield connection


@contextmanager
def write_transaction() -> Iterator[Connection]:
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


def _connection() -> Connection:
    """Return the autocommit connection of this request, which the session does not use."""
    if "connection" not in g:
        g.connection = direct_engines[db.engine].connect()
    connection: Connection = g.connection
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
    connection: Connection = g.pop("connection")
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


event.listen(db.session, "after_transaction_create", _close_connection)
event.listen(db.session, "after_commit", _note_committed)


def init_app(app: Flask) -> None:
    """Initialise the database; every request returns its connections at its end.

    Needs the database in the configuration already.
    """
    db.init_app(app)
    app.teardown_appcontext(release_connections)
    with app.app_context():
        prepare_engine(db.engine)

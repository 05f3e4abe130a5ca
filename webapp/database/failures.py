"""Failures of the database: which say that it is away, and what a request knows of its own work.

Nothing here asks the database.
"""

import sqlite3

from flask import g, has_app_context
from sqlalchemy.exc import (
    DatabaseError,
    DBAPIError,
    InterfaceError,
    InternalError,
    InvalidRequestError,
    OperationalError,
    PendingRollbackError,
    ResourceClosedError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

# What a handler of failures listens to, before it asks `is_away`.
STORAGE_FAILURES = (SQLAlchemyError, sqlite3.Error)
MISSING_TABLES = {"42P01", "42703"}  # of PostgreSQL: undefined table, undefined column
GIVEN_UP = {"40P01", "40001"}  # of PostgreSQL: deadlock, serialization failure
NO_ANSWER = "HYT00"  # the SQLSTATE that other drivers have for a time-out
# Those that tell of the database, not of a statement: its connections, its files, its locks.
AWAY = (
    OperationalError,
    InterfaceError,
    InternalError,  # of a read-only PostgreSQL, and of a transaction that it has ended
    PoolTimeout,
    PendingRollbackError,
    ResourceClosedError,
    sqlite3.OperationalError,
)
CLOSED_IN_THE_POOL = "This connection is closed"  # says SQLAlchemy after its second try


def is_away(error: BaseException) -> bool:
    """Whether the storage cannot do its work just now: away, locked, full, read-only, too busy.

    Another try may succeed, and a database without our tables counts, too. False for what another
    try would meet again: a broken constraint, a value or a statement that is wrong.
    """
    if isinstance(error, AWAY) or lacks_tables(error) or was_lost(error):
        return True
    if isinstance(error, InvalidRequestError):
        return str(error).startswith(CLOSED_IN_THE_POOL)
    # of a damaged file; the class stands above all others of a driver
    return type(error) in {DatabaseError, sqlite3.DatabaseError}


def lacks_tables(error: BaseException) -> bool:
    """Whether PostgreSQL missed a table or a column, which SQLite calls an OperationalError."""
    return _state(error) in MISSING_TABLES


def was_given_up(error: BaseException) -> bool:
    """Whether PostgreSQL ended the transaction in favour of others, so that it may be repeated."""
    return _state(error) in GIVEN_UP


def was_lost(error: BaseException) -> bool:
    """Whether the connection ended under the statement."""
    return isinstance(error, DBAPIError) and error.connection_invalidated


def gave_no_answer(error: BaseException) -> bool:
    """Whether the server was waited for in vain: another try now would take as long."""
    return _state(error) == NO_ANSWER


def may_run_again(error: BaseException) -> bool:
    """Whether a request may do at once, and once more, what ended with this failure.

    Not where nobody knows whether it is done.
    """
    if has_app_context() and g.get("outcome_unknown"):
        return False
    return was_given_up(error) or (was_lost(error) and not gave_no_answer(error))


def note_stored() -> None:
    """This request has stored something."""
    if has_app_context():
        g.stored = True
        g.outcome_unknown = False


def note_unknown() -> None:
    """Nobody knows whether this request has stored what it tried to store last."""
    if has_app_context():
        g.outcome_unknown = True


def may_have_stored() -> bool:
    """Whether this request has stored something, or may have, though it failed afterwards."""
    return bool(g.get("stored") or g.get("outcome_unknown"))


def _state(error: BaseException) -> str | None:
    """The SQLSTATE of a failure, None where there is none."""
    state: str | None = getattr(getattr(error, "orig", None), "sqlstate", None)
    return state

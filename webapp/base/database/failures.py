"""Classifies database failures, and tracks whether a request has stored something.

Nothing here queries the database.
"""

import sqlite3

from flask import g, has_app_context
from sqlalchemy import exc

# Exceptions to catch before calling `is_away`.
STORAGE_FAILURES = (exc.SQLAlchemyError, sqlite3.Error)
# of PostgreSQL: undefined table, undefined column; SQLite raises OperationalError for them
MISSING_TABLES = {"42P01", "42703"}
GIVEN_UP = {"40P01", "40001"}  # of PostgreSQL: deadlock, serialization failure
IN_USE = {"55P03", "57014", *GIVEN_UP}  # of PostgreSQL: time-outs of a lock and of a statement
NO_ANSWER = "HYT00"  # the SQLSTATE that other drivers have for a time-out
SQLITE_IN_USE = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
# Failures of the database, not of a statement: its connections, its files, its locks.
AWAY = (
    exc.OperationalError,
    exc.InterfaceError,
    exc.InternalError,  # of a read-only PostgreSQL, and of a transaction that it has ended
    exc.TimeoutError,
    exc.PendingRollbackError,
    exc.ResourceClosedError,
    sqlite3.OperationalError,
)
CLOSED_IN_THE_POOL = "This connection is closed"  # the message of SQLAlchemy after its second try


def is_away(error: BaseException) -> bool:
    """True if the storage is unavailable: unreachable, locked, full, read-only or overloaded.

    A later attempt may succeed; missing tables count as well. False for errors that would repeat: a
    violated constraint, a wrong value or statement.
    """
    if isinstance(error, AWAY) or was_lost(error) or _state(error) in MISSING_TABLES:
        return True
    if isinstance(error, exc.InvalidRequestError):
        return str(error).startswith(CLOSED_IN_THE_POOL)
    # these exact types mean a damaged file; they are base classes of all others
    return type(error) in {exc.DatabaseError, sqlite3.DatabaseError}


def is_in_use(error: exc.DBAPIError) -> bool:
    """True if other transactions hold what the statement needs; a later attempt may succeed."""
    code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    return _state(error) in IN_USE or code in SQLITE_IN_USE


def was_lost(error: BaseException) -> bool:
    """True if the connection was lost during the statement."""
    return isinstance(error, exc.DBAPIError) and error.connection_invalidated


def gave_no_answer(error: BaseException) -> bool:
    """True if the server timed out: an immediate retry would take as long."""
    return _state(error) == NO_ANSWER


def may_run_again(error: BaseException) -> bool:
    """Return whether a request may run once more immediately after this failure.

    False if it is unknown whether its work was committed.
    """
    if has_app_context() and g.get("outcome_unknown"):
        return False
    return _state(error) in GIVEN_UP or (was_lost(error) and not gave_no_answer(error))


def note_stored() -> None:
    """Note that this request has stored something."""
    if has_app_context():
        g.stored = True
        g.outcome_unknown = False


def note_unknown() -> None:
    """Note that the outcome of the last commit of this request is unknown."""
    if has_app_context():
        g.outcome_unknown = True


def may_have_stored() -> bool:
    """Return whether this request has stored something, or may have."""
    return bool(g.get("stored") or g.get("outcome_unknown"))


def _state(error: BaseException) -> str | None:
    """Return the SQLSTATE of a failure; None if it has none."""
    state: str | None = getattr(getattr(error, "orig", None), "sqlstate", None)
    return state

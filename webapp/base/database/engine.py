"""The handle `db` for SQLite and PostgreSQL: models, sessions, engine and dialect."""

import logging
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakKeyDictionary

from flask_sqlalchemy import SQLAlchemy
from flask_sqlalchemy.session import Session as SessionBase
from sqlalchemy import Engine, MetaData, Table
from sqlalchemy.orm import DeclarativeBase, registry

from webapp.base import open_files
from webapp.base.database import sqlite
from webapp.base.database.failures import STORAGE_FAILURES
from webapp.base.database.sqlite import READING
from webapp.base.database.types import ENUM, UtcDateTime, from_json, to_json

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert as PostgresqlInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert

POOL_SECONDS = 4  # how long a request waits for a pooled connection
FILES_OF_A_CONNECTION = 3  # of SQLite: the database, its log, and a journal at times
log = logging.getLogger("askback.database")
R = TypeVar("R")
# by engine: the same pool, used without a session
direct_engines: WeakKeyDictionary[Engine, Engine] = WeakKeyDictionary()


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
    registry = registry(
        metadata=metadata, type_annotation_map={datetime: UtcDateTime, StrEnum: ENUM}
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
        except STORAGE_FAILURES:
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


def insert_into(table: Table) -> "PostgresqlInsert | SqliteInsert":
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
        "json_serializer": to_json,
        "json_deserializer": from_json,
    }
    if url.startswith("sqlite"):
        most = open_files.for_database() // FILES_OF_A_CONNECTION
        return common | {"pool_size": min(16, most), "max_overflow": max(0, most - 16)}
    from webapp.base.database.postgresql import CONNECT_ARGS

    return common | {
        "pool_size": 30,
        "max_overflow": 0,  # such connections close after each use, and open again under load
        "pool_recycle": 1800,
        "connect_args": CONNECT_ARGS,
    }


def prepare_engine(engine: Engine) -> None:
    """Attach the SQLite settings and the writer lock, or the check of PostgreSQL connections."""
    if engine.dialect.name == "sqlite":
        sqlite.prepare_engine(engine)
        direct_engines[engine] = engine.execution_options(**{READING: True})
    else:
        from webapp.base.database import postgresql

        postgresql.prepare_engine(engine)
        direct_engines[engine] = engine.execution_options(isolation_level="AUTOCOMMIT")

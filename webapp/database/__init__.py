"""The database: one handle for SQLite and PostgreSQL, types, transactions, schema."""

from webapp.database.changes import call_after_changes, note_change
from webapp.database.engine import (
    Base,
    built_once,
    db,
    engine_options,
    insert_into,
    new_id,
    on_sqlite,
    prepare_engine,
    utc_now,
)
from webapp.database.lists import among
from webapp.database.transactions import (
    TRIES,
    core_transaction,
    execute,
    execute_autocommit,
    init_app,
    is_read_only,
    read_rows,
    release_connections,
    sqlite_transaction,
    tried_again,
    write_transaction,
)
from webapp.database.types import UtcDateTime, enum_type, from_millis, to_millis

__all__ = [
    "Base",
    "TRIES",
    "UtcDateTime",
    "among",
    "built_once",
    "call_after_changes",
    "core_transaction",
    "db",
    "engine_options",
    "enum_type",
    "execute",
    "execute_autocommit",
    "from_millis",
    "init_app",
    "insert_into",
    "is_read_only",
    "new_id",
    "note_change",
    "on_sqlite",
    "prepare_engine",
    "read_rows",
    "release_connections",
    "sqlite_transaction",
    "to_millis",
    "tried_again",
    "utc_now",
    "write_transaction",
]

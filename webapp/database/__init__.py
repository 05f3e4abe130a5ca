"""The database: one handle for SQLite and PostgreSQL, types, transactions, schema."""

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
from webapp.database.transactions import (
    TRIES,
    begin_write,
    init_app,
    is_read_only,
    look,
    release,
    rows,
    tried_again,
    write,
    writing,
)
from webapp.database.types import UtcDateTime, from_millis, to_millis

__all__ = [
    "Base",
    "TRIES",
    "UtcDateTime",
    "begin_write",
    "built_once",
    "db",
    "engine_options",
    "from_millis",
    "init_app",
    "insert_into",
    "is_read_only",
    "look",
    "new_id",
    "on_sqlite",
    "prepare_engine",
    "release",
    "rows",
    "to_millis",
    "tried_again",
    "utc_now",
    "write",
    "writing",
]

"""The database: one handle for SQLite and PostgreSQL, types, transactions, schema."""

from webapp.base.database.engine import (
    Base as Base,
    built_once as built_once,
    db as db,
    engine_options as engine_options,
    insert_into as insert_into,
    new_id as new_id,
    on_sqlite as on_sqlite,
    prepare_engine as prepare_engine,
    utc_now as utc_now,
)
from webapp.base.database.transactions import (
    TRIES as TRIES,
    call_after_changes as call_after_changes,
    core_transaction as core_transaction,
    execute as execute,
    execute_autocommit as execute_autocommit,
    init_app as init_app,
    is_read_only as is_read_only,
    note_change as note_change,
    read_rows as read_rows,
    release_connections as release_connections,
    sqlite_transaction as sqlite_transaction,
    tried_again as tried_again,
    write_transaction as write_transaction,
)
from webapp.base.database.types import (
    UtcDateTime as UtcDateTime,
    among as among,
    from_millis as from_millis,
    to_millis as to_millis,
)

"""The database: one handle for SQLite and PostgreSQL, types, transactions, schema."""

from webapp.base.database.engine import (
    Base as Base,
)
from webapp.base.database.engine import (
    built_once as built_once,
)
from webapp.base.database.engine import (
    db as db,
)
from webapp.base.database.engine import (
    engine_options as engine_options,
)
from webapp.base.database.engine import (
    insert_into as insert_into,
)
from webapp.base.database.engine import (
    new_id as new_id,
)
from webapp.base.database.engine import (
    on_sqlite as on_sqlite,
)
from webapp.base.database.engine import (
    prepare_engine as prepare_engine,
)
from webapp.base.database.engine import (
    utc_now as utc_now,
)
from webapp.base.database.transactions import (
    TRIES as TRIES,
)
from webapp.base.database.transactions import (
    call_after_changes as call_after_changes,
)
from webapp.base.database.transactions import (
    core_transaction as core_transaction,
)
from webapp.base.database.transactions import (
    execute as execute,
)
from webapp.base.database.transactions import (
    execute_autocommit as execute_autocommit,
)
from webapp.base.database.transactions import (
    init_app as init_app,
)
from webapp.base.database.transactions import (
    is_read_only as is_read_only,
)
from webapp.base.database.transactions import (
    note_change as note_change,
)
from webapp.base.database.transactions import (
    read_rows as read_rows,
)
from webapp.base.database.transactions import (
    release_connections as release_connections,
)
from webapp.base.database.transactions import (
    sqlite_transaction as sqlite_transaction,
)
from webapp.base.database.transactions import (
    tried_again as tried_again,
)
from webapp.base.database.transactions import (
    write_transaction as write_transaction,
)
from webapp.base.database.types import (
    UtcDateTime as UtcDateTime,
)
from webapp.base.database.types import (
    among as among,
)
from webapp.base.database.types import (
    enum_type as enum_type,
)
from webapp.base.database.types import (
    from_millis as from_millis,
)
from webapp.base.database.types import (
    to_millis as to_millis,
)

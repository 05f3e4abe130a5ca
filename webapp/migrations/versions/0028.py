"""All tables of the first release; 0028.sql has them in the words of PostgreSQL."""

from pathlib import Path

from alembic import op

revision = "0028"
down_revision = None

WORDS_OF_SQLITE = {"BYTEA": "BLOB", "BIGSERIAL": "INTEGER", "DEFAULT false": "DEFAULT 0"}
# the database notes what a deleted recording leaves in the store, however the row goes
NOTED = "INSERT INTO object_deletions (object_key, noted_at) VALUES (old.object_key, {now})"
FOR_SQLITE = (
    "CREATE INDEX ix_response_sessions_suspect ON response_sessions (form_id, suspect, id)"
    " WHERE suspect IS 1",
    "CREATE INDEX ix_event_deliveries_settled ON event_deliveries (settled_at)"
    " WHERE settled_at IS NOT NULL",
    "CREATE TRIGGER recordings_deleted AFTER DELETE ON recordings BEGIN "
    + NOTED.format(now="CAST(strftime('%s', 'now') AS INTEGER) * 1000")
    + "; END",
)
FOR_POSTGRESQL = (
    "CREATE INDEX ix_response_sessions_suspect ON response_sessions (form_id, suspect, id)",
    "CREATE INDEX ix_event_deliveries_settled ON event_deliveries (settled_at)",
    "CREATE OR REPLACE FUNCTION note_object_deletion() RETURNS trigger LANGUAGE plpgsql "
    "AS $$ BEGIN "
    + NOTED.format(now="CAST(EXTRACT(epoch FROM clock_timestamp()) * 1000 AS BIGINT)")
    + "; RETURN NULL; END $$",
    "CREATE TRIGGER recordings_deleted AFTER DELETE ON recordings "
    "FOR EACH ROW EXECUTE FUNCTION note_object_deletion()",
)


def upgrade() -> None:
    connection = op.get_bind()
    on_sqlite = connection.dialect.name == "sqlite"
    tables = Path(__file__).with_suffix(".sql").read_text()
    for word, own in WORDS_OF_SQLITE.items() if on_sqlite else ():
        tables = tables.replace(word, own)
    made = tables.removesuffix(";\n").split(";\n")
    for statement in (*made, *(FOR_SQLITE if on_sqlite else FOR_POSTGRESQL)):
        connection.exec_driver_sql(statement)

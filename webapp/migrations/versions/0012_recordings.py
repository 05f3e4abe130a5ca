"""recordings of spoken answers, and what a creator was told of them"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None
expands = True

NOTED = "INSERT INTO object_deletions (object_key, noted_at) VALUES (old.object_key, {now})"
NOTE_ON_SQLITE = (
    "CREATE TRIGGER recordings_deleted AFTER DELETE ON recordings BEGIN "
    + NOTED.format(now="CAST(strftime('%s', 'now') AS INTEGER) * 1000")
    + "; END"
)
NOTE_ON_POSTGRESQL = (
    "CREATE OR REPLACE FUNCTION note_object_deletion() RETURNS trigger LANGUAGE plpgsql "
    "AS $$ BEGIN "
    + NOTED.format(now="CAST(EXTRACT(epoch FROM clock_timestamp()) * 1000 AS BIGINT)")
    + "; RETURN NULL; END $$",
    "CREATE TRIGGER recordings_deleted AFTER DELETE ON recordings "
    "FOR EACH ROW EXECUTE FUNCTION note_object_deletion()",
)
STATES = ("waiting", "none", "silent", "done", "failed")


def upgrade() -> None:
    op.create_table(
        "object_deletions",
        sa.Column("object_key", sa.String(length=200), nullable=False),
        sa.Column("noted_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("object_key", name=op.f("pk_object_deletions")),
    )
    op.create_table(
        "recordings",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("form_id", sa.String(length=40), nullable=False),
        sa.Column("question_id", sa.String(length=200), nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("upload_key", sa.String(length=64), nullable=False),
        sa.Column("session_id", sa.String(length=40), nullable=True),
        sa.Column("answer_id", sa.String(length=40), nullable=True),
        sa.Column("object_key", sa.String(length=200), nullable=False),
        sa.Column("media_type", sa.String(length=40), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("duration_ms", sa.Integer(), nullable=False),
        sa.Column("levels", sa.String(length=64), nullable=True),
        sa.Column("transcriber", sa.String(length=260), server_default="", nullable=False),
        sa.Column(
            "transcript_state",
            sa.Enum(
                *STATES,
                name="transcript_state",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("transcript", sa.Text(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.BigInteger(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"], name=op.f("fk_recordings_form_id")),
        sa.ForeignKeyConstraint(
            ["session_id"], ["response_sessions.id"], name=op.f("fk_recordings_session_id")
        ),
        sa.ForeignKeyConstraint(
            ["answer_id"], ["answers.id"], name=op.f("fk_recordings_answer_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recordings")),
        sa.UniqueConstraint("object_key", name=op.f("uq_recordings_object_key")),
        sa.UniqueConstraint(
            "key_hash", "upload_key", name=op.f("uq_recordings_key_hash_upload_key")
        ),
    )
    for name, columns in (
        ("ix_recordings_claimed", ["answer_id", "created_at"]),
        ("ix_recordings_session_id", ["session_id"]),
        ("ix_recordings_of_question", ["form_id", "key_hash", "question_id"]),
        ("ix_recordings_due", ["next_at"]),
    ):
        op.create_index(name, "recordings", columns, unique=False)
    sqlite = op.get_bind().dialect.name == "sqlite"
    for statement in [NOTE_ON_SQLITE] if sqlite else NOTE_ON_POSTGRESQL:
        op.execute(statement)
    op.add_column(
        "day_counts",
        sa.Column("transcribed_ms", sa.BigInteger(), server_default="0", nullable=False),
    )
    for table in ("forms", "draft_confirmations"):
        for column in _told():
            op.add_column(table, column)
    op.add_column(
        "forms",
        sa.Column("spoken_language", sa.String(length=20), server_default="", nullable=False),
    )


def downgrade() -> None:
    op.drop_column("forms", "spoken_language")
    for table in ("forms", "draft_confirmations"):
        for column in reversed(_told()):
            op.drop_column(table, column.name)
    op.drop_column("day_counts", "transcribed_ms")
    op.drop_table("recordings")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION note_object_deletion()")
    op.drop_table("object_deletions")


def _told() -> list[sa.Column[bool] | sa.Column[str]]:
    return [
        sa.Column("records_voice", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("transcriber", sa.String(length=260), server_default="", nullable=False),
    ]

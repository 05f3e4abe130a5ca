"""deletions of single responses, which can be undone for a while"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None
expands = True

SUSPECT = "ix_response_sessions_suspect"


def upgrade() -> None:
    op.create_table(
        "response_deletions",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("form_id", sa.String(length=40), nullable=False),
        sa.Column("session_id", sa.String(length=40), nullable=True),
        sa.Column("response_count", sa.Integer(), nullable=False),
        sa.Column("scheduled_at", sa.BigInteger(), nullable=False),
        sa.Column("begun_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["form_id"], ["forms.id"], name=op.f("fk_response_deletions_form_id")
        ),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["response_sessions.id"],
            name=op.f("fk_response_deletions_session_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_response_deletions")),
        sa.UniqueConstraint("session_id", name=op.f("uq_response_deletions_session_id")),
    )
    for column in ("form_id", "scheduled_at"):
        op.create_index(
            op.f(f"ix_response_deletions_{column}"), "response_deletions", [column], unique=False
        )
    op.create_index(
        SUSPECT,
        "response_sessions",
        ["form_id", "suspect", "id"],
        unique=False,
        sqlite_where=sa.text("suspect IS 1"),
    )


def downgrade() -> None:
    op.drop_index(SUSPECT, table_name="response_sessions")
    op.drop_table("response_deletions")

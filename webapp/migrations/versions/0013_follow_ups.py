"""follow-up questions, and who a creator was told writes them"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None
expands = True

STATES = ("claimed", "asked", "nothing")


def upgrade() -> None:
    op.create_table(
        "follow_ups",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("form_id", sa.String(length=40), nullable=False),
        sa.Column("session_id", sa.String(length=40), nullable=False),
        sa.Column("parent_question_id", sa.String(length=200), nullable=False),
        sa.Column("answer_id", sa.String(length=40), nullable=False),
        sa.Column(
            "state",
            sa.Enum(
                *STATES,
                name="follow_up_state",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("depth", sa.Integer(), nullable=True),
        sa.Column("question_text", sa.Text(), nullable=False),
        sa.Column("technique", sa.String(length=32), nullable=True),
        sa.Column("reason", sa.String(length=32), nullable=True),
        sa.Column("writer", sa.String(length=500), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["form_id"], ["forms.id"], name=op.f("fk_follow_ups_form_id")),
        sa.ForeignKeyConstraint(
            ["session_id"], ["response_sessions.id"], name=op.f("fk_follow_ups_session_id")
        ),
        sa.ForeignKeyConstraint(
            ["answer_id"], ["answers.id"], name=op.f("fk_follow_ups_answer_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_follow_ups")),
        sa.UniqueConstraint("answer_id", name=op.f("uq_follow_ups_answer_id")),
        sa.UniqueConstraint(
            "session_id",
            "parent_question_id",
            "depth",
            name=op.f("uq_follow_ups_session_id_parent_question_id_depth"),
        ),
    )
    op.create_index("ix_follow_ups_form_id", "follow_ups", ["form_id"], unique=False)
    op.add_column(
        "day_counts", sa.Column("model_calls", sa.Integer(), server_default="0", nullable=False)
    )
    for table in ("forms", "draft_confirmations"):
        writer = sa.Column(
            "follow_up_writer", sa.String(length=500), server_default="", nullable=False
        )
        op.add_column(table, writer)


def downgrade() -> None:
    for table in ("forms", "draft_confirmations"):
        op.drop_column(table, "follow_up_writer")
    op.drop_column("day_counts", "model_calls")
    op.drop_table("follow_ups")

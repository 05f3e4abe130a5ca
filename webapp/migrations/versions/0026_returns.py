"""each sending back of a draft, with its notes"""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None
expands = True


def upgrade() -> None:
    op.create_table(
        "draft_returns",
        sa.Column("draft_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("returned_at", sa.BigInteger(), nullable=False),
        sa.Column("note", sa.String(length=500), nullable=True),
        sa.Column("question_notes", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["draft_id"], ["drafts.id"], name=op.f("fk_draft_returns_draft_id")
        ),
        sa.PrimaryKeyConstraint("draft_id", "number", name=op.f("pk_draft_returns")),
    )
    op.execute(
        "INSERT INTO draft_returns"
        " SELECT id, return_count, returned_revision, returned_at, return_note, '{}' FROM drafts"
        " WHERE returned_at IS NOT NULL"
    )


def downgrade() -> None:
    op.drop_table("draft_returns")

"""drafts that their creator sent back, and what they wrote beside that or a discard"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None
expands = True

COUNTED = ("drafts", "draft_confirmations")


def upgrade() -> None:
    for table in COUNTED:
        count = sa.Column("return_count", sa.Integer(), server_default="0", nullable=False)
        op.add_column(table, count)
    op.add_column("drafts", sa.Column("returned_at", sa.BigInteger(), nullable=True))
    op.add_column("drafts", sa.Column("returned_revision", sa.Integer(), nullable=True))
    for name in ("return_note", "discard_note"):
        op.add_column("drafts", sa.Column(name, sa.String(length=500), nullable=True))


def downgrade() -> None:
    for name in ("discard_note", "return_note", "returned_revision", "returned_at"):
        op.drop_column("drafts", name)
    for table in reversed(COUNTED):
        op.drop_column(table, "return_count")

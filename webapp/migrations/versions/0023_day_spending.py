"""what strangers may spend of a day is counted by address and for the server, too"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None
expands = True


def upgrade() -> None:
    op.create_table(
        "day_spending",
        sa.Column("day", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("share", sa.String(length=160), nullable=False),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", "share", name=op.f("pk_day_spending")),
    )


def downgrade() -> None:
    op.drop_table("day_spending")

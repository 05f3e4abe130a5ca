"""the changes of a draft that its creator accepted one by one"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None
expands = True


def upgrade() -> None:
    op.add_column(
        "draft_views", sa.Column("accepted", sa.Text(), nullable=False, server_default="")
    )


def downgrade() -> None:
    op.drop_column("draft_views", "accepted")

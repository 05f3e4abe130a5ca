"""how long callbacks take, and attempts whose processes say that they still run"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None
expands = True


def upgrade() -> None:
    op.add_column("callback_endpoints", sa.Column("duration_ms", sa.Integer(), nullable=True))
    op.add_column("event_deliveries", sa.Column("renewals", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("event_deliveries", "renewals")
    op.drop_column("callback_endpoints", "duration_ms")

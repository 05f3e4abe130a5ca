"""settled_deliveries"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None
expands = True

INDEX, TABLE, COLUMNS = "ix_event_deliveries_settled", "event_deliveries", ["settled_at"]


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.drop_index(INDEX, table_name=TABLE)
        op.create_index(INDEX, TABLE, COLUMNS, sqlite_where=sa.text("settled_at IS NOT NULL"))


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.drop_index(INDEX, table_name=TABLE)
        op.create_index(INDEX, TABLE, COLUMNS)

"""keys_outlive_drafts"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None
# a process from before this meets a key without a draft only where a form was erased within its
# day, and then answers 500
expands = True


def upgrade() -> None:
    with op.batch_alter_table("idempotency_keys", schema=None) as batch_op:
        batch_op.alter_column("draft_id", existing_type=sa.String(length=40), nullable=True)


def downgrade() -> None:
    op.execute("DELETE FROM idempotency_keys WHERE draft_id IS NULL")
    with op.batch_alter_table("idempotency_keys", schema=None) as batch_op:
        batch_op.alter_column("draft_id", existing_type=sa.String(length=40), nullable=False)

"""what came of asking a model for a follow-up question"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None
expands = True


def upgrade() -> None:
    op.add_column("follow_ups", sa.Column("model_outcome", sa.String(length=32), nullable=True))


def downgrade() -> None:
    op.drop_column("follow_ups", "model_outcome")

"""access tokens for fewer resources than their connection"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None
expands = True


def upgrade() -> None:
    op.add_column("oauth_tokens", sa.Column("resource", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("oauth_tokens", "resource")

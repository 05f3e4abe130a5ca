"""what agents say beside their revisions of drafts, and until when a connection is muted"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0013"
branch_labels = None
depends_on = None
expands = True


def upgrade() -> None:
    for table in ("drafts", "draft_revisions"):
        op.add_column(table, sa.Column("agent_note", sa.String(length=300), nullable=True))
    op.add_column("oauth_grants", sa.Column("muted_until", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("oauth_grants", "muted_until")
    for table in ("draft_revisions", "drafts"):
        op.drop_column(table, "agent_note")

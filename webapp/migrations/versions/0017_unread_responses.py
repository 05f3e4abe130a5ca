"""what a creator has read of the responses to a form"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None
expands = True


def upgrade() -> None:
    seen = sa.Column("seen_stamp", sa.BigInteger(), server_default="0", nullable=False)
    op.add_column("forms", seen)
    op.add_column("response_sessions", sa.Column("read_stamp", sa.BigInteger(), nullable=True))
    # what came before there was such a mark is not new
    op.execute("UPDATE forms SET seen_stamp = last_stamp")


def downgrade() -> None:
    op.drop_column("response_sessions", "read_stamp")
    op.drop_column("forms", "seen_stamp")

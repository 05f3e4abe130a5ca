"""callbacks that their creator is to confirm, or has confirmed"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None
expands = True

COLUMNS = {
    "url": sa.Text(),
    "answered": sa.String(length=160),
    "asked_form_id": sa.String(length=40),
    "grant_id": sa.String(length=40),
    "asked_at": sa.BigInteger(),
    "confirmed_at": sa.BigInteger(),
}


def upgrade() -> None:
    for name, kind in COLUMNS.items():
        op.add_column("callback_endpoints", sa.Column(name, kind, nullable=True))


def downgrade() -> None:
    for name in reversed(COLUMNS):
        op.drop_column("callback_endpoints", name)

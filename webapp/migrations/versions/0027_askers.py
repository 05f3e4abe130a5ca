"""why people are asked, and by whom: on the account, what a creator confirmed, and the form"""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None
expands = True


def _text(name: str, length: int) -> sa.Column[str]:
    return sa.Column(name, sa.String(length=length), nullable=False, server_default="")


def upgrade() -> None:
    for table in ("drafts", "forms"):
        op.add_column(table, sa.Column("public_reason", sa.Text(), nullable=True))
    op.add_column("accounts", _text("organisation", 80))
    op.add_column("accounts", _text("accent", 20))
    for table in ("draft_confirmations", "forms"):
        op.add_column(table, _text("asker_organisation", 80))
        op.add_column(table, _text("asker_accent", 20))


def downgrade() -> None:
    for table in ("forms", "draft_confirmations"):
        op.drop_column(table, "asker_accent")
        op.drop_column(table, "asker_organisation")
    op.drop_column("accounts", "accent")
    op.drop_column("accounts", "organisation")
    for table in ("forms", "drafts"):
        op.drop_column(table, "public_reason")

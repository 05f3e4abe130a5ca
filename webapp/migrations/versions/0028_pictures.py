"""pictures of who asks: of the account, what a creator confirmed, and the form"""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None
expands = True

NAMED = {
    "accounts": "picture",
    "draft_confirmations": "asker_picture",
    "forms": "asker_picture",
}


def upgrade() -> None:
    op.create_table(
        "pictures",
        sa.Column("account_id", sa.String(length=40), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_pictures_account_id")
        ),
        sa.PrimaryKeyConstraint("account_id", "digest", name=op.f("pk_pictures")),
    )
    for table, name in NAMED.items():
        column = sa.Column(name, sa.String(length=64), nullable=False, server_default="")
        op.add_column(table, column)


def downgrade() -> None:
    for table, name in NAMED.items():
        op.drop_column(table, name)
    op.drop_table("pictures")

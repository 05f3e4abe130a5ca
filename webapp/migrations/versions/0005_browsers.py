"""browsers, disabled accounts"""

import time

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("accounts", schema=None) as batch_op:
        batch_op.add_column(sa.Column("disabled_at", sa.BigInteger(), nullable=True))
    with op.batch_alter_table("sign_ins", schema=None) as batch_op:
        batch_op.add_column(sa.Column("last_active_at", sa.BigInteger(), nullable=True))
        batch_op.add_column(
            sa.Column("browser", sa.String(length=60), server_default="", nullable=False)
        )
        batch_op.add_column(sa.Column("address", sa.String(length=45), nullable=True))
    # sessions that are there have been active until this moment, as far as anybody knows
    sign_ins = sa.table("sign_ins", sa.column("last_active_at", sa.BigInteger()))
    op.execute(sign_ins.update().values(last_active_at=int(time.time() * 1000)))
    with op.batch_alter_table("sign_ins", schema=None) as batch_op:
        batch_op.alter_column("last_active_at", existing_type=sa.BigInteger(), nullable=False)


def downgrade() -> None:
    with op.batch_alter_table("sign_ins", schema=None) as batch_op:
        batch_op.drop_column("address")
        batch_op.drop_column("browser")
        batch_op.drop_column("last_active_at")
    with op.batch_alter_table("accounts", schema=None) as batch_op:
        batch_op.drop_column("disabled_at")

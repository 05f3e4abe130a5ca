"""schema_marks"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None
expands = True


def upgrade() -> None:
    op.create_table(
        "schema_marks",
        sa.Column("revision", sa.String(length=32), nullable=False),
        sa.Column("serves", sa.String(length=32), nullable=False),
        sa.Column("version", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("revision", name=op.f("pk_schema_marks")),
    )


def downgrade() -> None:
    op.drop_table("schema_marks")

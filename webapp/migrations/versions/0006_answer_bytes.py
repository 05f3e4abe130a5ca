"""answer_bytes"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

FILL = """
    UPDATE forms SET answer_bytes =
      (SELECT coalesce(sum({length}), 0) FROM answers WHERE answers.form_id = forms.id)
"""


def upgrade() -> None:
    column = sa.Column("answer_bytes", sa.BigInteger(), server_default="0", nullable=False)
    op.add_column("forms", column)
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    length = "length(CAST(answer_text AS BLOB))" if on_sqlite else "octet_length(answer_text)"
    op.execute(FILL.format(length=length))


def downgrade() -> None:
    op.drop_column("forms", "answer_bytes")  # a batch makes the table anew, which answers hold

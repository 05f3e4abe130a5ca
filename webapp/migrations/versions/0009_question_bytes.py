"""question_bytes"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None
expands = True

# added to what there is, because programs of the revision before go on counting their answers
COUNT = """
    UPDATE forms SET answer_bytes = answer_bytes {sign}
      (SELECT coalesce(sum({length}), 0) FROM answers WHERE answers.form_id = forms.id)
"""


def upgrade() -> None:
    op.execute(COUNT.format(sign="+", length=_length()))


def downgrade() -> None:
    op.execute(COUNT.format(sign="-", length=_length()))


def _length() -> str:
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    return "length(CAST(question_text AS BLOB))" if on_sqlite else "octet_length(question_text)"

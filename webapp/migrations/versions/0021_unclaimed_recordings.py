"""bounds of unclaimed recordings, by address and by form; claimed ones count as answers do"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None
expands = True

INDEXES = {
    "ix_recordings_of_form": ["form_id", "answer_id", "created_at"],
    "ix_recordings_of_address": ["address_hash", "created_at"],
}
# added to what there is, because programs of the revision before go on counting their answers
COUNT = """
    UPDATE forms SET answer_bytes = answer_bytes {sign}
      (SELECT sum(size) FROM recordings WHERE form_id = forms.id AND answer_id IS NOT NULL)
    WHERE id IN (SELECT form_id FROM recordings WHERE answer_id IS NOT NULL)
"""


def upgrade() -> None:
    op.add_column("recordings", sa.Column("address_hash", sa.String(length=64), nullable=True))
    for name, columns in INDEXES.items():
        op.create_index(name, "recordings", columns)
    op.execute(COUNT.format(sign="+"))


def downgrade() -> None:
    op.execute(COUNT.format(sign="-"))
    for name in INDEXES:
        op.drop_index(name, "recordings")
    op.drop_column("recordings", "address_hash")

"""Deletions of responses by the creator of their form, which can be undone for a short while.

Until a deletion has begun, nothing of its responses is touched: the creator's pages and files
leave them out at once, agents go on reading them, so that no cursor is disturbed by an undo.
"""

from datetime import datetime

from sqlalchemy import ColumnElement, ForeignKey, String, and_, case, exists, or_, select
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import Base
from webapp.domain.responses.models import ResponseSession


class ResponseDeletion(Base):
    """One deletion; its row goes when all of it is done.

    session_id      the response; null for those of the form that look automated and have not
                    changed since `scheduled_at`
    response_count  how many it was of when it was scheduled
    begun_at        set for good: from then on it cannot be undone
    """

    __tablename__ = "response_deletions"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    form_id: Mapped[str] = mapped_column(ForeignKey("forms.id"), index=True)
    session_id: Mapped[str | None] = mapped_column(ForeignKey("response_sessions.id"), unique=True)
    response_count: Mapped[int]
    scheduled_at: Mapped[datetime] = mapped_column(index=True)
    begun_at: Mapped[datetime | None]


_D, _S = ResponseDeletion, ResponseSession
LOOKS_AUTOMATED = _S.suspect.is_(True)  # as the index of these says it
_HIDES = (
    _D.form_id == _S.form_id,
    or_(
        _D.session_id == _S.id,
        and_(_D.session_id.is_(None), LOOKS_AUTOMATED, _S.last_active_at <= _D.scheduled_at),
    ),
)
# as a CASE: an EXISTS by itself PostgreSQL would join, and may read all sessions for that
IS_SHOWN: ColumnElement[bool] = case(
    (exists(select(_D.id).where(*_HIDES).correlate(_S)), False), else_=True
)

"""The table of follow-ups, and the outcomes of model calls."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, cast

from sqlalchemy import ForeignKey, Integer, String, Text, UniqueConstraint, bindparam, func, select
from sqlalchemy.orm import Mapped, mapped_column

from webapp.base import database, vocabulary
from webapp.records.responses.models import Answer


class FollowUp(database.Base):
    """One decision after one answer, and the question that resulted from it.

    id          also the id of the question, if one is asked
    answer_id   the answer it follows; when that answer is superseded, the follow-up is dropped
    depth       its place among the follow-ups to the scripted question, from 1, without gaps;
                dropped follow-ups count. Null unless it was asked
    model_outcome a `ModelOutcome`, or the check that refused the text of the model; null unless a
                model was asked
    """

    __tablename__ = "follow_ups"
    __table_args__ = (UniqueConstraint("session_id", "parent_question_id", "depth"),)

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    form_id: Mapped[str] = mapped_column(ForeignKey("forms.id"), index=True)
    session_id: Mapped[str] = mapped_column(ForeignKey("response_sessions.id"))
    parent_question_id: Mapped[str] = mapped_column(String(200))
    answer_id: Mapped[str] = mapped_column(ForeignKey("answers.id"), unique=True)
    state: Mapped[vocabulary.FollowUpState]
    depth: Mapped[int | None] = mapped_column(Integer)
    question_text: Mapped[str] = mapped_column(Text)
    technique: Mapped[str | None] = mapped_column(String(32))
    reason: Mapped[str | None] = mapped_column(String(32))
    writer: Mapped[str] = mapped_column(String(500))
    model_outcome: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None]
    created_at: Mapped[datetime]


class ModelOutcome(StrEnum):
    """The outcome of a model call whose text no check refused."""

    WROTE = "wrote"
    PICKED = "picked"  # a prepared question
    SILENT = "silent"
    LATE = "late"
    FAILED = "failed"  # an error, a refusal by the service, or an incomplete response


def count_outcomes(
    *, form_id: str | None = None, since: datetime | None = None
) -> tuple[dict[ModelOutcome, int], dict[str, int]]:
    """Count how often each outcome occurred, and how often each check refused a model's text."""
    outcome, count = FollowUp.model_outcome, func.count()
    counted = select(outcome, count).where(outcome.is_not(None)).group_by(outcome)
    if form_id is not None:
        counted = counted.where(FollowUp.form_id == form_id)
    if since is not None:
        counted = counted.where(FollowUp.created_at >= since)
    rows = database.db.session.execute(counted.order_by(count.desc(), outcome)).all()
    known = set(ModelOutcome)
    return (
        {ModelOutcome(name): times for name, times in rows if name in known},
        {str(name): times for name, times in rows if name not in known},
    )


class AskedFollowUp(NamedTuple):
    """A follow-up question that was asked; it never changes."""

    id: str
    parent_question_id: str
    depth: int
    question_text: str
    technique: str
    reason: str
    writer: str
    answer_id: str
    follows: str
    dropped: bool

    @property
    def by_model(self) -> bool:
        return bool(self.writer) and self.writer not in set(vocabulary.FollowUpAuthor)


_F = FollowUp
_OF_SESSION = (
    select(
        *(_F.__table__.c[name] for name in AskedFollowUp._fields[:-2]),
        Answer.question_id.label("follows"),
        Answer.superseded.label("dropped"),
    )
    .join(Answer, Answer.id == _F.answer_id)
    .where(_F.session_id == bindparam("session"), _F.state == vocabulary.FollowUpState.ASKED)
    .order_by(_F.parent_question_id, _F.depth)
)
_HOW = select(_F.id, _F.technique, _F.reason, _F.writer).where(database.among(_F.id, "ids"))


def read_follow_ups(session_id: str) -> list[AskedFollowUp]:
    """Return all follow-ups of a session, by scripted question in the order of asking."""
    found = database.read_rows(_OF_SESSION, session=session_id)
    return [AskedFollowUp._make(row) for row in found]


def how_asked(question_ids: Iterable[str]) -> dict[str, FollowUp]:
    """Return how each follow-up came about, by id, as rows of `_HOW`; no statement without ids."""
    ids = list(question_ids)
    return {row.id: cast(FollowUp, row) for row in database.read_rows(_HOW, ids=ids)} if ids else {}

"""What was decided after an answer: the question that was asked, or that nothing is."""

from datetime import datetime

from sqlalchemy import ForeignKey, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import Base, enum_type
from webapp.domain.shared.vocabulary import FollowUpState


class FollowUp(Base):
    """One decision after one answer, and the question that came of it.

    id          that of the question, where one is asked
    answer_id   the answer it follows; it is dropped once that answer is superseded
    depth       its place among the follow-ups to the scripted question, from 1; none is left out,
                dropped ones count. Null unless it was asked
    reason      a `Reason`, or a `FollowUpCondition` of a prepared one; `technique` a `Technique`
    writer      as `AskedFollowUp`
    model_outcome a `ModelOutcome`, or the check that refused what the model wrote; null unless a
                model was asked
    lease_until until when the model may take; afterwards nobody decided
    """

    __tablename__ = "follow_ups"
    __table_args__ = (UniqueConstraint("session_id", "parent_question_id", "depth"),)

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    form_id: Mapped[str] = mapped_column(ForeignKey("forms.id"), index=True)
    session_id: Mapped[str] = mapped_column(ForeignKey("response_sessions.id"))
    parent_question_id: Mapped[str] = mapped_column(String(200))
    answer_id: Mapped[str] = mapped_column(ForeignKey("answers.id"), unique=True)
    state: Mapped[FollowUpState] = mapped_column(enum_type(FollowUpState, "follow_up_state"))
    depth: Mapped[int | None] = mapped_column(Integer)
    question_text: Mapped[str] = mapped_column(Text)
    technique: Mapped[str | None] = mapped_column(String(32))
    reason: Mapped[str | None] = mapped_column(String(32))
    writer: Mapped[str] = mapped_column(String(500))
    model_outcome: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None]
    created_at: Mapped[datetime]

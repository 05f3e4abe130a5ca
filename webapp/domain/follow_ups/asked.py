"""The follow-up questions that somebody was asked, as statements read them."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import bindparam, select

from webapp.database import among, read_rows
from webapp.domain.follow_ups.models import FollowUp
from webapp.domain.responses.models import Answer
from webapp.domain.shared.limits import FOLLOW_UPS_MAX
from webapp.domain.shared.vocabulary import FollowUpAuthor, FollowUpState


class AskedFollowUp(NamedTuple):
    """A question that was asked, for good.

    depth      its place among the follow-ups to the scripted question, from 1
    writer     a `FollowUpAuthor`, the model and its host, or "" for the built-in question
    follows    id of the question whose answer it follows
    dropped    the answer that it follows was changed or taken back since
    """

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
        """True if a model wrote it."""
        return bool(self.writer) and self.writer not in set(FollowUpAuthor)


class HowAsked(NamedTuple):
    """How a question came about: a `Technique`, its reason, its writer."""

    id: str
    technique: str
    reason: str
    writer: str


_F = FollowUp
_COLUMNS = (
    *(_F.__table__.c[name] for name in AskedFollowUp._fields[:-2]),
    Answer.question_id.label("follows"),
    Answer.superseded.label("dropped"),
)
_ASKED = (
    select(*_COLUMNS)
    .join(Answer, Answer.id == _F.answer_id)
    .where(_F.session_id == bindparam("session"), _F.state == FollowUpState.ASKED)
)
_OF_SESSION = _ASKED.order_by(_F.parent_question_id, _F.depth)
_ONE = _ASKED.where(_F.parent_question_id == bindparam("parent"), _F.depth == bindparam("depth"))

_HOW = select(*(_F.__table__.c[name] for name in HowAsked._fields)).where(among(_F.id, "ids"))


def read_follow_ups(session_id: str) -> list[AskedFollowUp]:
    """All that this respondent was asked, those of one scripted question in the order of asking."""
    found = read_rows(_OF_SESSION, session=session_id)
    return [AskedFollowUp._make(row) for row in found]


def find_follow_up(session_id: str, parent_question_id: str, depth: int) -> AskedFollowUp | None:
    """One that this respondent was asked; `depth` from 1."""
    if depth > FOLLOW_UPS_MAX:
        return None
    found = read_rows(_ONE, session=session_id, parent=parent_question_id, depth=depth)
    return AskedFollowUp._make(found[0]) if found else None


def how_asked(question_ids: Iterable[str]) -> dict[str, HowAsked]:
    """By id of the follow-up; no statement where none is asked for."""
    ids = list(question_ids)
    found = read_rows(_HOW, ids=ids) if ids else ()
    return {row.id: HowAsked._make(row) for row in found}

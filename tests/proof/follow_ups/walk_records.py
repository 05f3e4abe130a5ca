"""What the database says of respondents, read without the application's own statements."""

from collections import Counter
from typing import Any, NamedTuple

from sqlalchemy import select

from tests.proof.follow_ups.walk_model import Caps, Place
from webapp.base.database import db
from webapp.base.text import token_hash
from webapp.base.vocabulary import FollowUpState, QuestionKind, SessionStatus
from webapp.records.follow_ups import FollowUp
from webapp.records.forms import Form
from webapp.records.responses.counters import QuestionCount
from webapp.records.responses.models import Answer, ResponseSession


class Record(NamedTuple):
    """One session: its row, its answers, corrected ones included, and what was decided."""

    session: ResponseSession | None
    answers: list[Answer]
    decisions: list[FollowUp]
    numbers: dict[str, int]

    @property
    def asked(self) -> list[FollowUp]:
        return [each for each in self.decisions if each.state is FollowUpState.ASKED]

    @property
    def passed(self) -> set[str]:
        """Ids of the answers that nothing follows."""
        return {each.answer_id for each in self.decisions if each.state is FollowUpState.NOTHING}

    @property
    def places(self) -> dict[str, Place]:
        """By id of the question."""
        scripted = {each: (number, 0) for each, number in self.numbers.items()}
        return scripted | {each.id: self.place(each) for each in self.asked}

    def place(self, asked: FollowUp) -> Place:
        return self.numbers[asked.parent_question_id], asked.depth or 0

    @property
    def current(self) -> dict[Place, Answer]:
        places = self.places
        return {places[each.question_id]: each for each in self.answers if not each.superseded}

    @property
    def skipped(self) -> set[Place]:
        return {self.places[each] for each in (self.session.skipped if self.session else ())}


def read_record(form: Any, session_key: str) -> Record:
    """In a transaction of its own; needs an application context."""
    numbers = {question["id"]: number for number, question in enumerate(form.questions, start=1)}
    db.session.rollback()
    found = db.session.scalars(
        select(ResponseSession).where(ResponseSession.key_hash == token_hash(session_key))
    ).one_or_none()
    if found is None:
        return Record(None, [], [], numbers)
    answers = select(Answer).where(Answer.session_id == found.id).order_by(Answer.stamp)
    decisions = select(FollowUp).where(FollowUp.session_id == found.id)
    return Record(
        found, list(db.session.scalars(answers)), list(db.session.scalars(decisions)), numbers
    )


def require_sound(record: Record, caps: Caps) -> None:
    """What holds of every session at any moment."""
    asked = [record.place(each) for each in record.asked]
    assert caps.allow(asked), f"{asked} with {caps}"
    for number in record.numbers.values():
        depths = sorted(depth for parent, depth in asked if parent == number)
        assert depths == list(range(1, len(depths) + 1))
    assert most(Counter(each.answer_id for each in record.decisions)) <= 1
    current = [each for each in record.answers if not each.superseded]
    assert most(Counter(each.question_id for each in current)) <= 1
    if record.session:
        assert record.session.answer_count == len(current)
        assert record.session.answered == {each.question_id: each.id for each in current}
        assert not record.session.answered.keys() & {*record.session.skipped}
    by_id = {each.id: each for each in record.asked}
    for answer in record.answers:
        origin = by_id.get(answer.question_id)
        kind = QuestionKind.FOLLOW_UP if origin else QuestionKind.SCRIPTED
        assert answer.question_kind is kind
        assert answer.parent_question_id == (origin.parent_question_id if origin else None)
        assert not origin or answer.question_text == origin.question_text


def require_counted(form: Any) -> None:
    """The counters of a form are what its rows say, and know scripted questions alone."""
    db.session.rollback()
    sessions = list(db.session.scalars(select(ResponseSession).filter_by(form_id=form.id)))
    answers = list(db.session.scalars(select(Answer).filter_by(form_id=form.id, superseded=False)))
    scripted = [question["id"] for question in form.questions]
    counted = {
        row.question_id: (row.answered, row.skipped)
        for row in db.session.scalars(select(QuestionCount).filter_by(form_id=form.id))
    }
    assert counted.keys() <= {*scripted}
    skips = Counter(each for session in sessions for each in session.skipped)
    answered = Counter(each.question_id for each in answers)
    for each in scripted:
        assert counted.get(each, (0, 0)) == (answered[each], skips[each])
    row = db.session.get_one(Form, form.id)
    done = [each for each in sessions if each.status is SessionStatus.COMPLETED]
    began = [each for each in sessions if each.answer_count or each in done]
    assert (row.started_count, row.response_count) == (len(sessions), len(done))
    assert row.answered_count == len(began)


def require_gone(record: Record, session_id: str) -> None:
    """Nothing is left of a session that was withdrawn."""
    assert record.session is None
    for table in (Answer, FollowUp):
        assert not list(db.session.scalars(select(table).filter_by(session_id=session_id)))


def most(counted: Counter[str]) -> int:
    return max(counted.values(), default=0)

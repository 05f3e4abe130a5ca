"""What a creator sees of a form without the responses that they delete just now.

The counters still hold those, because agents still read them. The figures are lowered by them, or,
where they are very many, follow as they go.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import NamedTuple

from sqlalchemy import bindparam, select

from webapp.database import read_rows
from webapp.domain.responses.counters import DAY_MILLIS, EPOCH_DAY, Day, QuestionCounts
from webapp.domain.responses.deletions import IS_SHOWN, LOOKS_AUTOMATED, ResponseDeletion
from webapp.domain.responses.models import (
    Answer,
    AnsweredForm,
    AttachmentRow,
    ResponseSession,
)
from webapp.domain.responses.recordings import find_attachment, no_attachment
from webapp.domain.results.by_question import Funnel

HIDDEN_COUNTED = 500  # our choice


class _Hidden(NamedTuple):
    id: str
    skipped: list[str]
    answered: dict[str, str]
    completed_stamp: int | None


@dataclass(frozen=True, slots=True)
class HiddenResponses:
    """What the figures are lowered by; `answered` and `skipped` by id of the question."""

    started: int = 0
    with_answers: int = 0
    completed: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    days: Counter[date] = field(default_factory=Counter)

    def lower_funnel(self, form: AnsweredForm, funnel: Funnel) -> Funnel:
        """The funnel with lower counts of each question; the form has lower ones already."""
        ids = [question["id"] for question in form.questions]
        return replace(
            funnel,
            questions=[
                QuestionCounts(
                    each.answered - self.answered[question_id],
                    each.skipped - self.skipped[question_id],
                )
                for question_id, each in zip(ids, funnel.questions, strict=True)
            ],
        )

    def lower_days(self, days: Iterable[Day]) -> list[Day]:
        """The days with lower counts."""
        return [replace(day, completed=day.completed - self.days[day.date]) for day in days]


def read_hidden(form_id: str) -> HiddenResponses:
    """Of up to HIDDEN_COUNTED responses; of more nothing."""
    if not read_rows(_ANY, form=form_id):
        return HiddenResponses()
    most = HIDDEN_COUNTED + 1
    rows = [*read_rows(_ONE_BY_ONE, form=form_id, most=most)]
    rows += read_rows(_AUTOMATED, form=form_id, most=most)
    hidden = {row.id: _Hidden._make(row) for row in rows}
    return HiddenResponses() if len(hidden) > HIDDEN_COUNTED else _sum(list(hidden.values()))


def find_shown_attachment(form_id: str, attachment_id: str) -> AttachmentRow:
    """As `find_attachment`, and NotFound for that of a deleted response."""
    found = find_attachment(form_id, attachment_id)
    if not read_rows(_SHOWN_ANSWER, answer=found.answer_id):
        raise no_attachment()
    return found


def _sum(hidden: Sequence[_Hidden]) -> HiddenResponses:
    completed = [each.completed_stamp for each in hidden if each.completed_stamp is not None]
    return HiddenResponses(
        len(hidden),
        sum(bool(each.answered) or each.completed_stamp is not None for each in hidden),
        len(completed),
        Counter(question_id for each in hidden for question_id in each.answered),
        Counter(question_id for each in hidden for question_id in {*each.skipped}),
        Counter(EPOCH_DAY + timedelta(days=stamp // DAY_MILLIS) for stamp in completed),
    )


_D, _S = ResponseDeletion, ResponseSession
_OF_FORM = _D.form_id == bindparam("form")
_ANY = select(_D.id).where(_OF_FORM).limit(1)
_HIDDEN = select(*(_S.__table__.c[name] for name in _Hidden._fields)).limit(bindparam("most"))
_ONE_BY_ONE = _HIDDEN.join(_D, _D.session_id == _S.id).where(_OF_FORM)
_AUTOMATED = _HIDDEN.where(_S.form_id == bindparam("form"), LOOKS_AUTOMATED, ~IS_SHOWN)
_SHOWN_ANSWER = (
    select(Answer.id)
    .join(_S, _S.id == Answer.session_id)
    .where(Answer.id == bindparam("answer"), IS_SHOWN)
)

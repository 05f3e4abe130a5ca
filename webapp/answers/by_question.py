"""Results by question, without hidden responses."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import chain
from statistics import median_low
from typing import Any, NamedTuple

import sqlalchemy as sa

from webapp.answers.unread import newest_stamp
from webapp.base.database import db, read_rows
from webapp.base.vocabulary import SessionStatus
from webapp.records.forms import FormRow
from webapp.records.responses import counters, models

ANSWERS_SHOWN = 10  # per question at first, and with each "more"
CHARS_SHOWN = 2000  # per answer in a list; the page of its response shows all of it
NEWER_COUNTED = 99  # most answers counted while a page is open
USUAL_FROM = 3  # answers; with fewer, no length is usual
USUAL_OF = 100  # newest answers; their median is the usual length


@dataclass(frozen=True, slots=True)
class Funnel:
    """The number of respondents who reached each step; events are counted, nobody is tracked."""

    opened: int
    started: int
    questions: list[counters.QuestionCounts]
    completed: int


class ShownAnswer(NamedTuple):
    """An answer of a session; `answer_text` holds at most one character more than is shown."""

    id: str
    session_id: str
    question_id: str
    parent_question_id: str | None
    answer_text: str
    stamp: int
    responder_name: str | None
    session_status: str
    suspect: bool
    response_type: str
    completed_stamp: int | None
    read_stamp: int | None

    def is_new(self, seen_stamp: int) -> bool:
        newest = newest_stamp(self.completed_stamp, self.stamp)
        return newest > max(seen_stamp, self.read_stamp or 0)

    @property
    def is_sent(self) -> bool:
        return self.session_status == SessionStatus.COMPLETED


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """Answers, newest first; `before` is the stamp to continue from, None at the end."""

    answers: list[ShownAnswer]
    before: int | None


# The database cuts long answers, so that a page of twenty questions stays small.
SHOWN_TEXT = sa.func.substr(models.Answer.answer_text, 1, CHARS_SHOWN + 1).label("answer_text")
SHOWN_COLUMNS = (
    models.Answer.id,
    models.Answer.session_id,
    models.Answer.question_id,
    models.Answer.parent_question_id,
    SHOWN_TEXT,
    models.Answer.stamp,
    models.ResponseSession.responder_name,
    models.raw_column(models.ResponseSession.status).label("session_status"),
    models.ResponseSession.suspect,
    models.raw_column(models.Answer.response_type),
    models.ResponseSession.completed_stamp,
    models.ResponseSession.read_stamp,
)


def newest_answers(form: FormRow) -> dict[str, AnswerPage]:
    """Return the newest current answers to each scripted question, by question id."""
    found = _of_each_question(form, _NEWEST_ANSWERS, ANSWERS_SHOWN + 1)
    return {question_id: _page(rows) for question_id, rows in found.items()}


def more_answers(form_id: str, question_id: str, before: int) -> AnswerPage:
    """Return the next current answers to one question, older than the stamp `before`."""
    older = _of_question(_NEWEST_ANSWERS, form_id, question_id).where(models.Answer.stamp < before)
    return _page(db.session.execute(older.limit(ANSWERS_SHOWN + 1)).all())


def usual_words(form: FormRow) -> dict[str, int]:
    """Return the median word count of the newest answers to each question that has enough."""
    found = _of_each_question(form, _NEWEST_LENGTHS, USUAL_OF)
    return {
        question_id: median_low(row.word_count for row in rows)
        for question_id, rows in found.items()
        if len(rows) >= USUAL_FROM
    }


def count_newer(form_id: str, since: int) -> int:
    """Return how many current answers came after `since` (ms), at most NEWER_COUNTED + 1."""
    return len(read_rows(_NEWER, form=form_id, since=since))


_NEWER = (
    sa.select(models.Answer.id)
    .join(models.ResponseSession, models.ResponseSession.id == models.Answer.session_id)
    .where(
        models.Answer.form_id == sa.bindparam("form"),
        models.Answer.stamp > sa.bindparam("since"),
        models.Answer.superseded.is_(False),
        models.IS_SHOWN,
    )
    .limit(NEWER_COUNTED + 1)
)


_Row = sa.Row[*tuple[Any, ...]]
_Rows = sa.Select[*tuple[Any, ...]]
_BY_STAMP: _Rows = (
    sa.select().where(models.Answer.superseded.is_(False)).order_by(models.Answer.stamp.desc())
)
_NEWEST_ANSWERS = (
    _BY_STAMP.add_columns(*SHOWN_COLUMNS)
    .join(models.ResponseSession, models.ResponseSession.id == models.Answer.session_id)
    .where(models.IS_SHOWN)
)
# from the index alone, so deleted responses are counted
_NEWEST_LENGTHS = _BY_STAMP.add_columns(models.Answer.question_id, models.Answer.word_count)


def _of_question(newest: _Rows, form_id: str, question_id: str) -> _Rows:
    return newest.where(models.Answer.form_id == form_id, models.Answer.question_id == question_id)


def _of_each_question(form: FormRow, newest: _Rows, limit: int) -> dict[str, list[_Row]]:
    ids = [question["id"] for question in form.questions]
    parts = (_of_question(newest, form.id, each).limit(limit).subquery() for each in ids)
    found: dict[str, list[_Row]] = {each: [] for each in ids}
    for row in db.session.execute(sa.union_all(*map(sa.select, parts))):
        found[row.question_id].append(row)
    return found


def _page(rows: Sequence[_Row]) -> AnswerPage:
    shown = [ShownAnswer._make(row) for row in rows[:ANSWERS_SHOWN]]
    return AnswerPage(shown, shown[-1].stamp if len(rows) > ANSWERS_SHOWN else None)


HIDDEN_COUNTED = 500


@dataclass(frozen=True, slots=True)
class HiddenResponses:
    """The counts to subtract from the figures; `answered` and `skipped` by question id."""

    started: int = 0
    with_answers: int = 0
    completed: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    days: Counter[date] = field(default_factory=Counter)

    def lower_days(self, days: Iterable[counters.Day]) -> list[counters.Day]:
        return [replace(day, completed=day.completed - self.days[day.date]) for day in days]


def read_hidden(form_id: str) -> HiddenResponses:
    """Count the hidden responses; if there are more than HIDDEN_COUNTED, return zeros."""
    if not read_rows(_ANY, form=form_id):
        return HiddenResponses()
    most = HIDDEN_COUNTED + 1
    rows = [*read_rows(_ONE_BY_ONE, form=form_id, most=most)]
    rows += read_rows(_AUTOMATED, form=form_id, most=most)
    hidden = {row.id: row for row in rows}.values()
    if len(hidden) > HIDDEN_COUNTED:
        return HiddenResponses()
    completed = [row.completed_stamp for row in hidden if row.completed_stamp is not None]
    days = (timedelta(days=stamp // counters.DAY_MILLIS) for stamp in completed)
    return HiddenResponses(
        len(hidden),
        sum(bool(row.answered) or row.completed_stamp is not None for row in hidden),
        len(completed),
        Counter(chain.from_iterable(row.answered for row in hidden)),
        Counter(chain.from_iterable({*row.skipped} for row in hidden)),
        Counter(counters.EPOCH_DAY + since for since in days),
    )


def read_funnel(form: FormRow, hidden: HiddenResponses) -> Funnel:
    """Return the funnel from the link to the last question, in order, from counters alone."""
    reached = counters.read_questions(form.id)
    questions = []
    for id_ in (question["id"] for question in form.questions):
        count = reached.get(id_, counters.QuestionCounts())
        shown = count.answered - hidden.answered[id_], count.skipped - hidden.skipped[id_]
        questions.append(counters.QuestionCounts(*shown))
    opened = counters.read_link_views(form.id)
    return Funnel(opened, form.started_count, questions, form.response_count)


_D, _S = models.ResponseDeletion, models.ResponseSession
_OF_FORM = _D.form_id == sa.bindparam("form")
_ANY = sa.select(_D.id).where(_OF_FORM).limit(1)
_HIDDEN = sa.select(_S.id, _S.skipped, _S.answered, _S.completed_stamp).limit(sa.bindparam("most"))
_ONE_BY_ONE = _HIDDEN.join(_D, _D.session_id == _S.id).where(_OF_FORM)
_AUTOMATED = _HIDDEN.where(
    _S.form_id == sa.bindparam("form"), models.LOOKS_AUTOMATED, ~models.IS_SHOWN
)

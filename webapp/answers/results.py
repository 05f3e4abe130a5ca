"""Results by question, and search and filters for responses, without hidden responses."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import chain
from statistics import median_low
from typing import Any, NamedTuple

import sqlalchemy as sa

from webapp.base.database import among, db, read_rows
from webapp.base.text import normalized
from webapp.base.vocabulary import FollowUpState, ResponseType, SessionStatus
from webapp.records.follow_ups import FollowUp
from webapp.records.forms import FormRow
from webapp.records.responses import counters, models, recordings

ANSWERS_SHOWN = 10  # per question at first, and with each "more"
CHARS_SHOWN = 2000  # per answer in a list; the page of its response shows all of it
CUT_AT = CHARS_SHOWN + 1  # one more shows that an answer is longer
NEWER_COUNTED = 99  # most answers counted while a page is open
USUAL_FROM = 3  # answers; with fewer, no length is usual
USUAL_OF = 100  # newest answers; their median is the usual length

_A, _D, _S = models.Answer, models.ResponseDeletion, models.ResponseSession


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
    stamp: int
    answer_text: str
    response_type: str
    session_status: str
    responder_name: str | None
    suspect: bool
    completed_stamp: int | None
    read_stamp: int | None

    def is_new(self, seen_stamp: int) -> bool:
        newest = newest_stamp(self.completed_stamp, self.stamp)
        return newest > max(seen_stamp, self.read_stamp or 0)

    @property
    def is_sent(self) -> bool:
        return self.session_status == SessionStatus.COMPLETED


def newest_stamp(completed: int | None, *answers: int) -> int:
    """Return the newest stamp of a response: of its completion, or of one of these answers."""
    return max([completed or 0, *answers])


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """Answers, newest first; `before` is the stamp to continue from, None at the end."""

    answers: list[ShownAnswer]
    before: int | None


# The database cuts long answers, so that a page of twenty questions stays small.
SHOWN_TEXT = sa.func.substr(_A.answer_text, 1, CUT_AT).label("answer_text")
SHOWN_COLUMNS = (
    *(getattr(_A, name) for name in ShownAnswer._fields[:5]),
    SHOWN_TEXT,
    models.raw_column(_A.response_type),
    models.raw_column(_S.status).label("session_status"),
    *(getattr(_S, name) for name in ShownAnswer._fields[8:]),
)


def newest_answers(form: FormRow) -> dict[str, AnswerPage]:
    """Return the newest current answers to each scripted question, by question id."""
    found = _of_each_question(form, _NEWEST_ANSWERS, ANSWERS_SHOWN + 1)
    return {question_id: _page(rows) for question_id, rows in found.items()}


def more_answers(form_id: str, question_id: str, before: int) -> AnswerPage:
    """Return the next current answers to one question, older than the stamp `before`."""
    older = _of_question(_NEWEST_ANSWERS, form_id, question_id).where(_A.stamp < before)
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
    sa.select(_A.id)
    .join(_S, _S.id == _A.session_id)
    .where(
        _A.form_id == sa.bindparam("form"),
        _A.stamp > sa.bindparam("since"),
        _A.superseded.is_(False),
        models.IS_SHOWN,
    )
    .limit(NEWER_COUNTED + 1)
)


_Row = sa.Row[*tuple[Any, ...]]
_Rows = sa.Select[*tuple[Any, ...]]
_BY_STAMP: _Rows = sa.select().where(_A.superseded.is_(False)).order_by(_A.stamp.desc())
_NEWEST_ANSWERS = (
    _BY_STAMP.add_columns(*SHOWN_COLUMNS).join(_S, _S.id == _A.session_id).where(models.IS_SHOWN)
)
# from the index alone, so deleted responses are counted
_NEWEST_LENGTHS = _BY_STAMP.add_columns(_A.question_id, _A.word_count)


def _of_question(newest: _Rows, form_id: str, question_id: str) -> _Rows:
    return newest.where(_A.form_id == form_id, _A.question_id == question_id)


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


_OF_FORM = _D.form_id == sa.bindparam("form")
_ANY = sa.select(_D.id).where(_OF_FORM).limit(1)
_HIDDEN = sa.select(_S.id, _S.skipped, _S.answered, _S.completed_stamp).limit(sa.bindparam("most"))
_ONE_BY_ONE = _HIDDEN.join(_D, _D.session_id == _S.id).where(_OF_FORM)
_AUTOMATED = _HIDDEN.where(
    _S.form_id == sa.bindparam("form"), models.LOOKS_AUTOMATED, ~models.IS_SHOWN
)


MATCHES_MAX = 200  # per text


def comparable(text: str) -> str:
    """Return the text without differences of case and Unicode normalisation."""
    return normalized("NFKC", text).casefold()


def find_matches(text: str, needle: str) -> list[tuple[int, int]]:
    """Return start and end (exclusive) of each match of the comparable text `needle`, in order."""
    if not needle:
        return []
    folded, letters = _folded(text)
    found: list[tuple[int, int]] = []
    at = folded.find(needle)
    while at >= 0 and len(found) < MATCHES_MAX:
        after, done = at + len(needle), found[-1][1] if found else 0
        found.append((max(letters[at][0], done), max(letters[after - 1][1], done)))
        at = folded.find(needle, after)
    return found


def _folded(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the comparable text and, for each of its characters, the span of its letter."""
    if text.isascii():
        return text.lower(), [(at, at + 1) for at in range(len(text))]
    borders = [at for at, char in enumerate(text) if at and not unicodedata.combining(char)]
    letters = list(zip([0, *borders], [*borders, len(text)], strict=True))
    parts = [comparable(text[start:end]) for start, end in letters]
    places = ([place] * len(part) for place, part in zip(letters, parts, strict=True))
    return "".join(parts), list(chain.from_iterable(places))


ANSWERS_FOUND = 50  # per page
PEOPLE_FOUND = 20
ANSWERS_LOOKED_AT = 2000  # per request
PEOPLE_LOOKED_AT = 500
CHARS_LOOKED_AT = 4_000_000
ANSWERS_AT_ONCE = 100  # per statement
PEOPLE_AT_ONCE = 20

END_OF_TIME = 2**62  # ms; later than any stamp

PersonKey = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of a search; times in milliseconds, `until` exclusive.

    `unflagged` leaves out responses that look automated, `spoken` typed answers, and `follow_ups`
    threads and people that were asked no follow-up question.
    """

    words: str = ""
    sent_only: bool = False
    unflagged: bool = False
    spoken: bool = False
    follow_ups: bool = False
    since: int = 0
    until: int = END_OF_TIME

    def __bool__(self) -> bool:
        return self != Filters()

    @property
    def needle(self) -> str:
        return comparable(self.words)

    def keep(self, *, sent: bool, suspect: bool) -> bool:
        return (sent or not self.sent_only) and not (suspect and self.unflagged)

    def holds(self, *texts: str) -> bool:
        needle = self.needle
        return not needle or any(needle in comparable(text) for text in texts)


class FoundPeople(NamedTuple):
    """People, newest first; `before` is the key to continue from, None at the end."""

    people: list[models.SessionAnswers]
    before: PersonKey | None


@dataclass(slots=True)
class _Effort:
    finds: int
    looks: int
    chars: int

    def look(self, chars: int, *, found: bool) -> bool:
        """Count one row; return True if no more may be read."""
        self.looks -= 1
        self.chars -= chars
        self.finds -= found
        return min(self.looks, self.chars, self.finds) <= 0


def find_answers(form_id: str, filters: Filters, *, before: int | None) -> AnswerPage:
    """Return the current answers that pass the filters, continuing from `before`."""
    effort = _Effort(ANSWERS_FOUND, ANSWERS_LOOKED_AT, CHARS_LOOKED_AT)
    found: list[ShownAnswer] = []
    for answer, may_pass in _answers_backwards(form_id, filters, before):
        passes = may_pass and _passes(filters, answer)
        if passes:
            found.append(answer._replace(answer_text=answer.answer_text[:CUT_AT]))
        if effort.look(len(answer.answer_text), found=passes):
            return AnswerPage(found, answer.stamp)
    return AnswerPage(found, None)


def _passes(filters: Filters, answer: ShownAnswer) -> bool:
    kept = filters.keep(sent=answer.is_sent, suspect=answer.suspect)
    kept = kept and (answer.response_type == ResponseType.VOICE or not filters.spoken)
    return kept and filters.holds(answer.answer_text, answer.responder_name or "")


def find_people(form_id: str, filters: Filters, *, before: PersonKey | None) -> FoundPeople:
    """Return people with an answer who pass the filters, continuing from `before`."""
    effort = _Effort(PEOPLE_FOUND, PEOPLE_LOOKED_AT, CHARS_LOOKED_AT)
    found: list[models.SessionAnswers] = []
    for session, answers in _people_backwards(form_id, filters, before):
        texts = [answer.answer_text for answer in answers]
        passes = bool(recordings.spoken_ids(answers) if filters.spoken else answers)
        passes = passes and filters.holds(*texts, session.responder_name or "")
        if passes:
            shown = [each._replace(answer_text=each.answer_text[:CUT_AT]) for each in answers]
            found.append(models.SessionAnswers(session, shown))
        if effort.look(sum(map(len, texts)), found=passes):
            return FoundPeople(found, (session.created_at, session.id))
    return FoundPeople(found, None)


def _answers_backwards(
    form_id: str, filters: Filters, before: int | None
) -> Iterator[tuple[ShownAnswer, bool]]:
    """Yield answers, newest first, uncut, each with whether it passes what the database checks."""
    current = sa.and_(_A.superseded.is_(False), models.IS_SHOWN)
    text = _A.answer_text
    query = (
        sa.select(*(text if column is SHOWN_TEXT else column for column in SHOWN_COLUMNS))
        .add_columns(sa.and_(current, _HAS_FOLLOW_UPS) if filters.follow_ups else current)
        .join(_S, _S.id == _A.session_id)
        .where(_A.form_id == form_id, _A.stamp >= filters.since)
        .order_by(_A.stamp.desc())
        .limit(ANSWERS_AT_ONCE)
    )
    before = min(before or END_OF_TIME, filters.until)
    while True:
        rows = db.session.execute(query.where(_A.stamp < before)).all()
        for row in rows:
            yield ShownAnswer._make(row[:-1]), row[-1]
        if len(rows) < ANSWERS_AT_ONCE:
            return
        before = rows[-1].stamp


def _people_backwards(
    form_id: str, filters: Filters, before: PersonKey | None
) -> Iterator[tuple[models.SessionRow, Sequence[models.AnswerRow]]]:
    began = sa.type_coerce(_S.created_at, sa.BigInteger)
    query = (
        sa.select(*models.SESSION_COLUMNS, models.IS_SHOWN)
        .where(_S.form_id == form_id, began >= filters.since)
        .order_by(_S.created_at.desc(), _S.id.desc())
        .limit(PEOPLE_AT_ONCE)
    )
    position, end = sa.tuple_(began, _S.id), (filters.until, "")
    before = min(before or end, end)
    while True:
        rows = db.session.execute(query.where(position < sa.tuple_(*before))).all()
        answers = _answers_of([row for row in rows if row[-1]], filters)
        for row in rows:
            yield models.SessionRow._make(row[:-1]), answers[row.id]
        if len(rows) < PEOPLE_AT_ONCE:
            return
        before = (rows[-1].created_at, rows[-1].id)


def _answers_of(
    sessions: Sequence[sa.Row[*tuple[Any, ...]]], filters: Filters
) -> dict[str, list[models.AnswerRow]]:
    wanted = [
        row.id
        for row in sessions
        if filters.keep(sent=row.status == SessionStatus.COMPLETED, suspect=bool(row.suspect))
    ]
    if filters.follow_ups:
        wanted = [row.session_id for row in read_rows(_ASKED_MORE, sessions=wanted)]
    answers: dict[str, list[models.AnswerRow]] = defaultdict(list)
    for answer in models.current_answers(wanted):
        answers[answer.session_id].append(answer)
    return answers


_IS_ASKED = FollowUp.state == FollowUpState.ASKED
_ASKED_MORE = (
    sa.select(FollowUp.session_id)
    .where(among(FollowUp.session_id, "sessions"), _IS_ASKED)
    .distinct()
)
# not EXISTS, for which PostgreSQL reads the follow-ups of all forms
_HAS_FOLLOW_UPS = (
    sa.select(FollowUp.id)
    .where(
        FollowUp.session_id == _A.session_id,
        FollowUp.parent_question_id == sa.func.coalesce(_A.parent_question_id, _A.question_id),
        _IS_ASKED,
    )
    .limit(1)
    .scalar_subquery()
    .is_not(None)
)

"""Search and filters for responses."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from webapp.answers.by_question import (
    CHARS_SHOWN,
    SHOWN_COLUMNS,
    SHOWN_TEXT,
    AnswerPage,
    ShownAnswer,
)
from webapp.base.database import among, db, read_rows
from webapp.base.text import normalized
from webapp.base.vocabulary import FollowUpState, ResponseType, SessionStatus
from webapp.records.follow_ups import FollowUp
from webapp.records.responses import models
from webapp.records.responses.recordings import spoken_ids

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
    since: int | None = None
    until: int | None = None

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

    def between(
        self, column: sa.ColumnElement[int] | InstrumentedAttribute[int]
    ) -> list[sa.ColumnElement[bool]]:
        conditions = [] if self.since is None else [column >= self.since]
        return conditions if self.until is None else [*conditions, column < self.until]


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
            found.append(answer._replace(answer_text=cut(answer.answer_text)))
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
        passes = bool(spoken_ids(answers) if filters.spoken else answers)
        passes = passes and filters.holds(*texts, session.responder_name or "")
        if passes:
            shown = [each._replace(answer_text=cut(each.answer_text)) for each in answers]
            found.append(models.SessionAnswers(session, shown))
        if effort.look(sum(map(len, texts)), found=passes):
            return FoundPeople(found, (session.created_at, session.id))
    return FoundPeople(found, None)


def cut(answer_text: str) -> str:
    """Return the text that a list shows, plus one character if the answer is longer."""
    return answer_text[: CHARS_SHOWN + 1]


def _answers_backwards(
    form_id: str, filters: Filters, before: int | None
) -> Iterator[tuple[ShownAnswer, bool]]:
    """Yield answers, newest first, uncut, each with whether it passes what the database checks."""
    current = sa.and_(models.Answer.superseded.is_(False), models.IS_SHOWN)
    text = models.Answer.answer_text
    query = (
        sa.select(*(text if column is SHOWN_TEXT else column for column in SHOWN_COLUMNS))
        .add_columns(sa.and_(current, _HAS_FOLLOW_UPS) if filters.follow_ups else current)
        .join(models.ResponseSession, models.ResponseSession.id == models.Answer.session_id)
        .where(models.Answer.form_id == form_id, *filters.between(models.Answer.stamp))
        .order_by(models.Answer.stamp.desc())
        .limit(ANSWERS_AT_ONCE)
    )
    while True:
        older = query if before is None else query.where(models.Answer.stamp < before)
        rows = db.session.execute(older).all()
        for row in rows:
            yield ShownAnswer._make(row[:-1]), row[-1]
        if len(rows) < ANSWERS_AT_ONCE:
            return
        before = rows[-1].stamp


def _people_backwards(
    form_id: str, filters: Filters, before: PersonKey | None
) -> Iterator[tuple[models.SessionRow, Sequence[models.AnswerRow]]]:
    began = sa.type_coerce(models.ResponseSession.created_at, sa.BigInteger)
    query = (
        sa.select(*models.SESSION_COLUMNS, models.IS_SHOWN)
        .where(models.ResponseSession.form_id == form_id, *filters.between(began))
        .order_by(models.ResponseSession.created_at.desc(), models.ResponseSession.id.desc())
        .limit(PEOPLE_AT_ONCE)
    )
    position = sa.tuple_(began, models.ResponseSession.id)
    while True:
        older = query if before is None else query.where(position < sa.tuple_(*before))
        rows = db.session.execute(older).all()
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
        FollowUp.session_id == models.Answer.session_id,
        FollowUp.parent_question_id
        == sa.func.coalesce(models.Answer.parent_question_id, models.Answer.question_id),
        _IS_ASKED,
    )
    .limit(1)
    .scalar_subquery()
    .is_not(None)
)

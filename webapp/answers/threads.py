"""Threads as the creator reads them: an answer to a scripted question, then its follow-ups."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, Select, and_, bindparam, func, select, tuple_, type_coerce
from sqlalchemy.orm import aliased

from webapp.answers import unread
from webapp.answers.results import SHOWN_COLUMNS, ShownAnswer
from webapp.base.database import among, read_rows
from webapp.base.errors import ErrorCode, NotFound
from webapp.base.vocabulary import FollowUpState
from webapp.records.content.model import Content, asks_follow_ups
from webapp.records.follow_ups import FollowUp
from webapp.records.forms import FormRow
from webapp.records.responses import models


class AskedQuestion(NamedTuple):
    """A follow-up question that somebody was asked."""

    id: str
    session_id: str
    parent_question_id: str
    question_text: str
    technique: str
    reason: str
    writer: str
    skipped: list[str]
    outdated: bool

    @property
    def is_skipped(self) -> bool:
        return self.id in self.skipped


class ShownFollowUp(NamedTuple):
    """A follow-up question; `answer` is None if it was skipped, dropped or left open."""

    asked: AskedQuestion
    answer: ShownAnswer | models.AnswerRow | None


class AnswerThread(NamedTuple):
    """One respondent's answer to a scripted question, None if taken back, and its follow-ups."""

    question_id: str
    question_text: str
    answer: models.AnswerRow | None
    follow_ups: list[ShownFollowUp]


def follow_ups_of(
    content: Content, answers: Iterable[ShownAnswer]
) -> dict[str, list[ShownFollowUp]]:
    """Return the follow-ups in the threads of these answers by answer id, in two statements."""
    shown = {each.id: each.session_id for each in answers}
    if not shown or not asks_follow_ups(content):
        return {}
    rows = read_rows(_OF_ANSWERS, answers=list(shown), sessions=list({*shown.values()}))
    ids = [row.id for row in rows]
    answered = read_rows(_ANSWERS, questions=ids) if ids else ()
    given = {row.question_id: ShownAnswer._make(row) for row in answered}
    found = defaultdict(list)
    for row in rows:
        asked = AskedQuestion._make(row[:-1])
        found[row.first_id].append(ShownFollowUp(asked, given.get(asked.id)))
    return found


def first_answers(answers: Sequence[ShownAnswer]) -> list[ShownAnswer]:
    """Return the answer that begins each thread, in the order in which the threads first occur."""
    later = [each.id for each in answers if each.parent_question_id]
    rows = read_rows(_FIRST_ANSWERS, answers=later) if later else ()
    first = {(row.session_id, row.question_id): ShownAnswer._make(row) for row in rows}
    found: dict[tuple[str, str], ShownAnswer] = {}
    for each in answers:
        thread = each.session_id, each.parent_question_id or each.question_id
        found.setdefault(thread, first.get(thread, each))
    return list(found.values())


def threads_of(
    content: Content, people: Sequence[models.SessionAnswers]
) -> dict[str, list[AnswerThread]]:
    """Return all threads of each respondent by session id, in one statement."""
    asked: dict[str, list[AskedQuestion]] = defaultdict(list)
    if people and asks_follow_ups(content):
        for row in read_rows(_OF_SESSIONS, sessions=[each.session.id for each in people]):
            asked[row.session_id].append(AskedQuestion._make(row))
    return {
        person.session.id: _threads(content, person.answers, asked[person.session.id])
        for person in people
    }


def _threads(
    content: Content, answers: list[models.AnswerRow], asked: list[AskedQuestion]
) -> list[AnswerThread]:
    given = {each.question_id: each for each in answers}
    follow_ups: dict[str, list[ShownFollowUp]] = defaultdict(list)
    for each in asked:
        follow_ups[each.parent_question_id].append(ShownFollowUp(each, given.get(each.id)))
    threads = [
        AnswerThread(id_, each.question_text, each, follow_ups.pop(id_, []))
        for id_, each in given.items()
        if each.parent_question_id is None
    ]
    for question in content.questions:
        left = follow_ups.get(question["id"], [])
        if any(part.answer for part in left):
            threads.append(AnswerThread(question["id"], question["text"], None, left))
    return threads


_F = FollowUp
_FIRST, _FOLLOWED = aliased(models.Answer), aliased(models.Answer)
_ASKED = (
    select(
        *(_F.__table__.c[name] for name in AskedQuestion._fields[:-2]),
        select(models.ResponseSession.skipped)
        .where(models.ResponseSession.id == _F.session_id)
        .scalar_subquery()
        .label("skipped"),
        _FOLLOWED.superseded.label("outdated"),
    )
    .select_from(_F)
    .join(_FOLLOWED, _FOLLOWED.id == _F.answer_id)
    .where(_F.state == FollowUpState.ASKED)
)
_OF_SESSIONS = _ASKED.where(among(_F.session_id, "sessions")).order_by(
    _F.session_id, _F.parent_question_id, _F.depth
)
_OF_ANSWERS = (
    _ASKED.add_columns(_FIRST.id.label("first_id"))
    .join(
        _FIRST,
        and_(
            _FIRST.session_id == _F.session_id,
            func.coalesce(_FIRST.parent_question_id, _FIRST.question_id) == _F.parent_question_id,
        ),
    )
    # the sessions, too: by the answers alone PostgreSQL reads all follow-ups where those are few
    .where(among(_FIRST.id, "answers"), among(_F.session_id, "sessions"))
    .order_by(_F.depth)
)


_SHOWN = (
    select(*SHOWN_COLUMNS)
    .join(models.ResponseSession, models.ResponseSession.id == models.Answer.session_id)
    .where(models.Answer.superseded.is_(False))
)
_ANSWERS = _SHOWN.join(
    _F, and_(_F.form_id == models.Answer.form_id, _F.id == models.Answer.question_id)
).where(among(_F.id, "questions"))
_LATER = aliased(models.Answer)
_BEGINS_IT = and_(
    _LATER.session_id == models.Answer.session_id,
    _LATER.parent_question_id == models.Answer.question_id,
)
_FIRST_ANSWERS = _SHOWN.join(_LATER, _BEGINS_IT).where(among(_LATER.id, "answers"))


class OneResponse(NamedTuple):
    """One response and its neighbours in the list."""

    person: models.SessionAnswers
    threads: dict[str, AnswerThread]
    stamp: int
    is_new: bool
    newer: str | None
    older: str | None
    next_unread: str | None


def get_response(form: FormRow, session_id: str) -> OneResponse:
    """Return the response of this session, uncut; raises NotFound, also if it is deleted."""
    found = read_rows(_ONE, session=session_id, form=form.id)
    if not found:
        raise no_response()
    *row, skipped, read_stamp = found[0]
    session = models.SessionRow._make(row)
    answers = models.current_answers([session_id])
    person = models.SessionAnswers(session, answers, skipped=skipped)
    stamp = unread.newest_stamp(session.completed_stamp, *(each.stamp for each in answers))
    place = {"form": form.id, "began": session.created_at, "id": session_id}
    return OneResponse(
        person,
        {each.question_id: each for each in threads_of(form, [person])[session_id]},
        stamp,
        stamp > max(form.seen_stamp, read_stamp or 0),
        _neighbour(_NEWER_RESPONSE, place),
        _neighbour(_OLDER_RESPONSE, place),
        unread.next_unread(form, session_id, session.completed_stamp),
    )


def no_response() -> NotFound:
    """Return the error for an unknown or deleted response."""
    return NotFound(
        ErrorCode.NOT_FOUND, "There is no such response.", "It may be withdrawn or deleted."
    )


def newest_response(form: FormRow) -> str | None:
    """Return the id of the newest unread response, else of the newest; None if there is none."""
    place = {"form": form.id, "began": form.last_stamp + 1, "id": ""}
    return unread.next_unread(form) or _neighbour(_OLDER_RESPONSE, place)


def _neighbour(query: Select[str], place: dict[str, object]) -> str | None:
    found = read_rows(query, **place)
    return str(found[0].id) if found else None


_S = models.ResponseSession
_ONE = select(*models.SESSION_COLUMNS, _S.skipped, _S.read_stamp).where(
    _S.id == bindparam("session"), _S.form_id == bindparam("form"), models.IS_SHOWN
)
_BEGAN = type_coerce(_S.created_at, BigInteger)
_PLACE, _HERE = tuple_(_BEGAN, _S.id), tuple_(bindparam("began"), bindparam("id"))
_WITH_ANSWERS = (
    select(_S.id)
    .where(_S.form_id == bindparam("form"), _S.answer_count > 0, models.IS_SHOWN)
    .limit(1)
)
_OLDER_RESPONSE = _WITH_ANSWERS.where(_PLACE < _HERE).order_by(_S.created_at.desc(), _S.id.desc())
_NEWER_RESPONSE = _WITH_ANSWERS.where(_PLACE > _HERE).order_by(_S.created_at, _S.id)

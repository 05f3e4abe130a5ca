"""Responses as their creator reads them: threads, one response, and what is unread.

A thread is an answer to a scripted question, then its follow-ups.

A form has one mark up to which everything is read; a response that was read ahead of it has a mark
of its own. The form's mark follows up to the oldest unread response, so that a search for unread
responses reads nothing older.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import aliased

from webapp.answers import results
from webapp.base.database import among, execute, read_rows, tried_again, write_transaction
from webapp.base.errors import ErrorCode, NotFound
from webapp.base.vocabulary import FollowUpState
from webapp.records.content.model import Content, asks_follow_ups
from webapp.records.follow_ups import FollowUp
from webapp.records.forms import Form, FormRow, lock_form, no_form, owned_form
from webapp.records.responses import models

_A, _F, _S = models.Answer, FollowUp, models.ResponseSession


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
    answer: results.ShownAnswer | models.AnswerRow | None


class AnswerThread(NamedTuple):
    """One respondent's answer to a scripted question, None if taken back, and its follow-ups."""

    question_id: str
    question_text: str
    answer: models.AnswerRow | None
    follow_ups: list[ShownFollowUp]


def follow_ups_of(
    content: Content, answers: Iterable[results.ShownAnswer]
) -> dict[str, list[ShownFollowUp]]:
    """Return the follow-ups in the threads of these answers by answer id, in two statements."""
    shown = {each.id: each.session_id for each in answers}
    if not shown or not asks_follow_ups(content):
        return {}
    rows = read_rows(_OF_ANSWERS, answers=list(shown), sessions=list({*shown.values()}))
    ids = [row.id for row in rows]
    answered = read_rows(_ANSWERS, questions=ids) if ids else ()
    given = {row.question_id: results.ShownAnswer._make(row) for row in answered}
    found = defaultdict(list)
    for row in rows:
        asked = AskedQuestion._make(row[:-1])
        found[row.first_id].append(ShownFollowUp(asked, given.get(asked.id)))
    return found


def first_answers(answers: Sequence[results.ShownAnswer]) -> list[results.ShownAnswer]:
    """Return the answer that begins each thread, in the order in which the threads first occur."""
    later = [each.id for each in answers if each.parent_question_id]
    rows = read_rows(_FIRST_ANSWERS, answers=later) if later else ()
    first = {(row.session_id, row.question_id): results.ShownAnswer._make(row) for row in rows}
    found: dict[tuple[str, str], results.ShownAnswer] = {}
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


_FIRST, _FOLLOWED = aliased(_A), aliased(_A)
_ASKED = (
    sa.select(
        *(_F.__table__.c[name] for name in AskedQuestion._fields[:-2]),
        sa.select(_S.skipped).where(_S.id == _F.session_id).scalar_subquery().label("skipped"),
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
        sa.and_(
            _FIRST.session_id == _F.session_id,
            sa.func.coalesce(_FIRST.parent_question_id, _FIRST.question_id)
            == _F.parent_question_id,
        ),
    )
    # the sessions, too: by the answers alone PostgreSQL reads all follow-ups where those are few
    .where(among(_FIRST.id, "answers"), among(_F.session_id, "sessions"))
    .order_by(_F.depth)
)


_SHOWN = (
    sa.select(*results.SHOWN_COLUMNS)
    .join(_S, _S.id == _A.session_id)
    .where(_A.superseded.is_(False))
)
_ANSWERS = _SHOWN.join(_F, sa.and_(_F.form_id == _A.form_id, _F.id == _A.question_id)).where(
    among(_F.id, "questions")
)
_LATER = aliased(_A)
_BEGINS_IT = sa.and_(
    _LATER.session_id == _A.session_id, _LATER.parent_question_id == _A.question_id
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
    stamp = results.newest_stamp(session.completed_stamp, *(each.stamp for each in answers))
    place = {"form": form.id, "began": session.created_at, "id": session_id}
    return OneResponse(
        person,
        {each.question_id: each for each in threads_of(form, [person])[session_id]},
        stamp,
        stamp > max(form.seen_stamp, read_stamp or 0),
        _neighbour(_NEWER_RESPONSE, place),
        _neighbour(_OLDER_RESPONSE, place),
        next_unread(form, session_id, session.completed_stamp),
    )


def no_response() -> NotFound:
    """Return the error for an unknown or deleted response."""
    return NotFound(
        ErrorCode.NOT_FOUND, "There is no such response.", "It may be withdrawn or deleted."
    )


def newest_response(form: FormRow) -> str | None:
    """Return the id of the newest unread response, else of the newest; None if there is none."""
    place = {"form": form.id, "began": form.last_stamp + 1, "id": ""}
    return next_unread(form) or _neighbour(_OLDER_RESPONSE, place)


def _neighbour(query: sa.Select[str], place: dict[str, object]) -> str | None:
    found = read_rows(query, **place)
    return str(found[0].id) if found else None


_ONE = sa.select(*models.SESSION_COLUMNS, _S.skipped, _S.read_stamp).where(
    _S.id == sa.bindparam("session"), _S.form_id == sa.bindparam("form"), models.IS_SHOWN
)
_BEGAN = sa.type_coerce(_S.created_at, sa.BigInteger)
_PLACE, _HERE = sa.tuple_(_BEGAN, _S.id), sa.tuple_(sa.bindparam("began"), sa.bindparam("id"))
_WITH_ANSWERS = (
    sa.select(_S.id)
    .where(_S.form_id == sa.bindparam("form"), _S.answer_count > 0, models.IS_SHOWN)
    .limit(1)
)
_OLDER_RESPONSE = _WITH_ANSWERS.where(_PLACE < _HERE).order_by(_S.created_at.desc(), _S.id.desc())
_NEWER_RESPONSE = _WITH_ANSWERS.where(_PLACE > _HERE).order_by(_S.created_at, _S.id)


UNREAD_COUNTED = 99  # per form

_UNREAD = sa.and_(
    _S.form_id == Form.id,
    _S.completed_stamp > Form.seen_stamp,
    _S.completed_stamp > sa.func.coalesce(_S.read_stamp, 0),
)


def count_unread(form_ids: Collection[str]) -> Counter[str]:
    """Count unread responses by form id, at most UNREAD_COUNTED + 1 each, in one statement."""
    found = read_rows(_COUNT_UNREAD, forms=list(form_ids)) if form_ids else ()
    return Counter({row.id: row.unread for row in found})


def new_among(form: FormRow, people: Iterable[models.SessionAnswers]) -> set[str]:
    """Return the ids of the sessions of which the creator has not read everything."""
    newest = {
        each.session.id: results.newest_stamp(
            each.session.completed_stamp, *(a.stamp for a in each.answers)
        )
        for each in people
    }
    ids = [session_id for session_id, stamp in newest.items() if stamp > form.seen_stamp]
    found = read_rows(_READ_STAMPS, sessions=ids) if ids else ()
    return {row.id for row in found if newest[row.id] > (row.read_stamp or 0)}


def next_unread(form: FormRow, session_id: str = "", before: int | None = None) -> str | None:
    """Return the id of the newest unread response before `before` (ms), or else of the newest."""
    if (form.completed_stamp or 0) <= form.seen_stamp:
        return None
    newest = form.last_stamp + 1
    for bound in (before or newest, newest):
        found = read_rows(_NEXT_UNREAD, form=form.id, but=session_id, before=bound)
        if found:
            return str(found[0].id)
    return None


@tried_again
def mark_read(account_id: str, form_id: str, session_id: str, stamp: int) -> None:
    """Mark one response as read up to `stamp`, as its page showed it. Raises NotFound."""
    with write_transaction():
        execute(_MARK_READ, form=form_id, session=session_id, stamp=stamp)
        lock_form(account_id, form_id)  # waits for concurrent completions
        execute(_FOLLOW, form=form_id)


@tried_again
def mark_all_read(account_id: str, form_id: str, stamp: int) -> None:
    """Mark everything of a form as read up to `stamp`, as its page showed it. Raises NotFound."""
    with write_transaction():
        found = execute(_MARK_ALL_READ, account=account_id, form=form_id, stamp=stamp)
        if not found.rowcount:
            raise no_form()


_READ_STAMPS = sa.select(_S.id, _S.read_stamp).where(among(_S.id, "sessions"))
_SOME_UNREAD = (
    sa.select(sa.literal(1))
    .where(_UNREAD, models.IS_SHOWN)
    .limit(UNREAD_COUNTED + 1)
    .correlate(Form)
)
_UNREAD_OF_FORM = sa.select(sa.func.count()).select_from(_SOME_UNREAD.subquery()).scalar_subquery()
_COUNT_UNREAD = sa.select(Form.id, _UNREAD_OF_FORM.label("unread")).where(
    among(Form.id, "forms"), Form.completed_stamp > Form.seen_stamp
)
_NEXT_UNREAD = (
    sa.select(_S.id)
    .join(Form, Form.id == _S.form_id)
    .where(Form.id == sa.bindparam("form"), _UNREAD, models.IS_SHOWN)
    .where(_S.id != sa.bindparam("but"), _S.completed_stamp < sa.bindparam("before"))
    .order_by(_S.completed_stamp.desc())
    .limit(1)
)
_OLDEST_UNREAD = (
    sa.select(_S.completed_stamp - 1)
    .where(_UNREAD)
    .order_by(_S.completed_stamp)
    .limit(1)
    .correlate(Form)
    .scalar_subquery()
)
_STAMP = sa.bindparam("stamp", type_=sa.BigInteger)
_MARK_READ = (
    sa.update(_S)
    .where(_S.id == sa.bindparam("session"), _S.form_id == sa.bindparam("form"))
    .where(sa.func.coalesce(_S.read_stamp, 0) < _STAMP)
    .values(read_stamp=_STAMP)
)
_FOLLOW = (
    sa.update(Form)
    .where(Form.id == sa.bindparam("form"), Form.completed_stamp > Form.seen_stamp)
    .values(seen_stamp=sa.func.coalesce(_OLDEST_UNREAD, Form.completed_stamp))
)
# the mark never moves back, nor beyond the newest stamp
_MARK_ALL_READ = (
    sa.update(Form)
    .where(owned_form(sa.bindparam("account"), sa.bindparam("form")))
    .values(
        seen_stamp=sa.case(
            (_STAMP.between(Form.seen_stamp, Form.last_stamp), _STAMP),
            else_=Form.seen_stamp,
        )
    )
)

"""Answering a form in public: every answer is stored when given, sending completes the response.

A respondent carries a session key, made by the page and unknown to the database until the first
answer; only its SHA-256 is kept. Rows are locked in one order: session, form, counters. An
outcome leaves the transaction open and unwritten: the edge rolls it back.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Row,
    String,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    type_coerce,
    update,
)

from webapp.database import begin_write, db, new_id, rows
from webapp.domain.counts import Reached, count_completion, count_questions
from webapp.domain.errors import InvalidInput, StateConflict
from webapp.domain.forms import Form
from webapp.domain.limits import ANSWER_MAX_CHARS, RESPONDER_NAME_MAX_CHARS
from webapp.domain.places import (
    change_form,
    find_place,
    is_new,
    not_open,
    open_place,
    question_at,
    take_stamp,
)
from webapp.domain.public_forms import get_public_form, next_open
from webapp.domain.responses import Answer, ResponseSession, count_words
from webapp.domain.terms import (
    FormStatus,
    QuestionKind,
    ResponseType,
    SessionStatus,
)

# Built once, because answering is the hottest write.
_STORED = select(
    Answer.id,
    Answer.question_id,
    Answer.answer_key,
    Answer.superseded.is_(False).label("current"),
    case((Answer.answer_key == bindparam("key"), Answer.answer_text)).label("answer_text"),
).where(
    Answer.session_id == bindparam("session"),
    or_(Answer.answer_key == bindparam("key"), Answer.superseded.is_(False)),
)
_ADD_ANSWER = insert(Answer)
_TOUCH = (
    update(ResponseSession)
    .where(ResponseSession.id == bindparam("session"))
    .values(
        skipped=bindparam("new_skipped"),
        answer_count=bindparam("new_count"),
        last_active_at=bindparam("now"),
    )
)


def answer_question(
    share_token: str,
    session_key: str,
    *,
    position: int,
    answer_text: str,
    answer_key: str,
    now: datetime,
) -> int | None:
    """Store one typed answer durably; a repeat of `answer_key` stores nothing and is no error.

    position    0-based place of the scripted question
    answer_key  made for each rendered question, so a double click or a retry answers once
    returns     position of the next question that is neither answered nor skipped, None at the end
    raises      NotFound; StateConflict `form_closed`, `form_completed`, `response_completed`,
                `answer_differs` (this key stored other words); InvalidInput `question_unknown`,
                `answer_empty`, `answer_too_long`; nothing is stored then
    """
    _require_answer(answer_text)
    begin_write()
    place = open_place(share_token, session_key, now)
    question = question_at(place, position)
    stored = _stored_answers(place.session_id, answer_key)
    settled = {question["id"], *place.skipped, *(row.question_id for row in stored if row.current)}
    following = next_open(place.questions, settled, after=position)
    if _is_repeat(stored, answer_key, question["id"], answer_text):
        db.session.rollback()
        return following
    earlier = [row.id for row in stored if row.current and row.question_id == question["id"]]
    stamp = take_stamp(place, now, first=place.answer_count == 0)
    _supersede(earlier)
    was_skipped = question["id"] in place.skipped
    count_questions(place.form_id, {question["id"]: Reached(int(not earlier), -int(was_skipped))})
    rows(
        _ADD_ANSWER,
        id=new_id("ans"),
        form_id=place.form_id,
        session_id=place.session_id,
        question_id=question["id"],
        question_text=question["text"],
        answer_text=answer_text,
        response_type=ResponseType.TEXT,
        question_kind=QuestionKind.SCRIPTED,
        answer_key=answer_key,
        word_count=count_words(answer_text),
        superseded=False,
        stamp=stamp,
    )
    skipped = [skip for skip in place.skipped if skip != question["id"]]
    _touch(place, now, skipped=skipped, answer_count=place.answer_count + (not earlier))
    db.session.commit()
    return following


def skip_question(
    share_token: str, session_key: str, *, position: int, now: datetime
) -> int | None:
    """Pass over a question, taking back an answer given to it before; repeats change nothing.

    returns  as `answer_question`
    raises   NotFound; StateConflict as `answer_question`; InvalidInput `question_unknown`
    """
    begin_write()
    place = open_place(share_token, session_key, now)
    if place.form_status != FormStatus.PUBLISHED:
        raise not_open(place.form_status)
    question = question_at(place, position)
    stored = _stored_answers(place.session_id, "")
    earlier = [row.id for row in stored if row.question_id == question["id"]]
    _supersede(earlier)
    left = place.answer_count - len(earlier)
    _count_skip(place, taken_back=bool(earlier) and left == 0)
    newly_skipped = question["id"] not in place.skipped
    count_questions(place.form_id, {question["id"]: Reached(-len(earlier), int(newly_skipped))})
    skipped = [*(skip for skip in place.skipped if skip != question["id"]), question["id"]]
    _touch(place, now, skipped=skipped, answer_count=left)
    db.session.commit()
    settled = {*skipped, *(row.question_id for row in stored)}
    return next_open(place.questions, settled, after=position)


def complete_response(
    share_token: str, session_key: str, *, responder_name: str, now: datetime
) -> bool:
    """Send the response; True the first time, False for a repeat.

    raises  NotFound; StateConflict `form_closed`, `form_completed`, `nothing_answered`;
            InvalidInput `name_too_long`
    """
    name = _clean_name(responder_name)
    begin_write()
    place = find_place(share_token, session_key)
    if place is None:
        get_public_form(share_token)
    if place is None or (place.answer_count == 0 and place.status != SessionStatus.COMPLETED):
        raise StateConflict(
            "nothing_answered",
            "Nothing is answered yet.",
            "Answer at least one question.",
        )
    if place.status == SessionStatus.COMPLETED:
        db.session.rollback()
        return False
    stamp = take_stamp(place, now, completes=True)
    db.session.execute(
        update(ResponseSession)
        .where(ResponseSession.id == place.session_id)
        .values(
            status=SessionStatus.COMPLETED,
            completed_stamp=stamp,
            responder_name=name,
            last_active_at=now,
        )
    )
    count_completion(place.form_id, stamp)
    db.session.commit()
    return True


def withdraw_response(share_token: str, session_key: str) -> bool:
    """Delete the session with all its answers and lower the counts; False when it is gone already.

    A `one` form takes answers again. Takes no stamp.
    """
    begin_write()
    place = find_place(share_token, session_key)
    if place is None:
        db.session.rollback()
        return False
    reached = _reached(place)
    db.session.execute(delete(Answer).where(Answer.session_id == place.session_id))
    db.session.execute(delete(ResponseSession).where(ResponseSession.id == place.session_id))
    _lower_counts(place)
    if place.completed_stamp is not None:
        count_completion(place.form_id, place.completed_stamp, change=-1)
    count_questions(place.form_id, reached)
    db.session.commit()
    return True


def _clean_name(name: str) -> str | None:
    """The name in one line, without the characters that steer how others are drawn."""
    name = " ".join("".join(c for c in name if c.isprintable() or c.isspace()).split())
    if len(name) > RESPONDER_NAME_MAX_CHARS:
        raise InvalidInput(
            "name_too_long",
            f"The name is longer than {RESPONDER_NAME_MAX_CHARS} characters.",
            "Shorten it or leave it out.",
            field="name",
        )
    return name or None


def _require_answer(answer_text: str) -> None:
    if not answer_text.strip():
        raise InvalidInput(
            "answer_empty",
            "This page is still empty.",
            "Write something, or skip the question.",
            field="answer",
        )
    if len(answer_text) > ANSWER_MAX_CHARS:
        raise InvalidInput(
            "answer_too_long",
            f"The answer is longer than {ANSWER_MAX_CHARS:,} characters.",
            "Shorten it; nothing you wrote is lost.",
            field="answer",
        )


def _stored_answers(session_id: str, answer_key: str) -> Sequence[Row[Any]]:
    """The session's current answers and the one stored under this key, current or not."""
    return rows(_STORED, session=session_id, key=answer_key).all()


def _is_repeat(
    stored: Sequence[Row[Any]], answer_key: str, question_id: str, answer_text: str
) -> bool:
    """True when this key stored this very answer before; other words under it are refused."""
    same = next((row for row in stored if row.answer_key == answer_key), None)
    if same is None:
        return False
    if (same.question_id, same.answer_text) == (question_id, answer_text):
        return True
    raise StateConflict(
        "answer_differs",
        "An earlier version of this answer is saved.",
        "Continue once more to replace it with these words.",
    )


def _supersede(answer_ids: list[str]) -> None:
    if answer_ids:
        db.session.execute(update(Answer).where(Answer.id.in_(answer_ids)).values(superseded=True))


def _touch(place: Any, now: datetime, *, skipped: list[str], answer_count: int) -> None:
    changed = {"new_skipped": skipped, "new_count": answer_count, "now": now}
    rows(_TOUCH, session=place.session_id, **changed)


def _count_skip(place: Any, *, taken_back: bool) -> None:
    """A session more if it begins with this skip, an answered one less if none is left."""
    values: dict[str, Any] = {}
    if is_new(place):
        values["started_count"] = Form.started_count + 1
    if taken_back:
        values["answered_count"] = Form.answered_count - 1
    if values:
        change_form(place.form_id, values)


def _reached(place: Any) -> dict[str, Reached]:
    """What taking the session away changes, by scripted question."""
    query = select(Answer.question_id).where(
        Answer.session_id == place.session_id,
        Answer.superseded.is_(False),
        Answer.question_kind == QuestionKind.SCRIPTED,
    )
    answered = {question_id: Reached(answered=-1) for question_id in db.session.scalars(query)}
    return answered | {question_id: Reached(skipped=-1) for question_id in place.skipped}


def _lower_counts(place: Any) -> None:
    """One session less, with what it counted for; `completed_stamp` is then the newest left."""
    values: dict[str, Any] = {"started_count": Form.started_count - 1}
    completed = place.completed_stamp is not None
    if completed or place.answer_count:
        values["answered_count"] = Form.answered_count - 1
    if completed:
        newest = (
            select(func.max(ResponseSession.completed_stamp))
            .where(ResponseSession.form_id == place.form_id)
            .scalar_subquery()
        )
        values |= {
            "response_count": Form.response_count - 1,
            "completed_stamp": newest,
            "status": case(
                (Form.status == FormStatus.COMPLETED, FormStatus.PUBLISHED.value),
                else_=type_coerce(Form.status, String),
            ),
        }
    change_form(place.form_id, values)

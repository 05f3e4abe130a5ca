"""Where a respondent stands, locked for the write that goes on from there.

Rows are locked in one order: session, then form. A place is a row of the form's and the session's
columns as they were before the write.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, String, bindparam, case, select, type_coerce, update
from sqlalchemy.dialects import postgresql, sqlite

from webapp.database import db, new_id, rows, to_millis
from webapp.domain.content import QuestionRow
from webapp.domain.errors import InvalidInput, Outcome, StateConflict
from webapp.domain.forms import Form, shared_form
from webapp.domain.public_forms import key_hash, no_public_form
from webapp.domain.responses import ResponseSession
from webapp.domain.terms import FormStatus, ResponseLimit, SessionStatus

_PLACE = (
    select(
        Form.id.label("form_id"),
        Form.questions,
        type_coerce(Form.status, String).label("form_status"),
        ResponseSession.id.label("session_id"),
        type_coerce(ResponseSession.status, String).label("status"),
        ResponseSession.skipped,
        ResponseSession.answer_count,
        ResponseSession.completed_stamp,
    )
    .join(ResponseSession, ResponseSession.form_id == Form.id)
    .where(
        shared_form(bindparam("share_token")),
        ResponseSession.key_hash == bindparam("key_hash"),
    )
    .with_for_update(of=ResponseSession)
)
_NOW = bindparam("now", type_=BigInteger)
_STAMP = case((Form.last_stamp < _NOW, _NOW), else_=Form.last_stamp + 1)
_ANSWER_STAMP = (
    update(Form)
    .where(
        Form.id == bindparam("form"),
        Form.status == FormStatus.PUBLISHED,
        Form.deleted_at.is_(None),
    )
    .values(
        last_stamp=_STAMP,
        answered_count=Form.answered_count + bindparam("answered"),
        started_count=Form.started_count + bindparam("started"),
    )
    .returning(Form.last_stamp)
)
_COMPLETION_STAMP = _ANSWER_STAMP.values(
    completed_stamp=_STAMP,
    response_count=Form.response_count + 1,
    status=case(
        (Form.response_limit == ResponseLimit.ONE, FormStatus.COMPLETED.value),
        else_=FormStatus.PUBLISHED.value,
    ),
)


def find_place(share_token: str, session_key: str) -> Any:
    """The session with its form as one row, the session locked; None when it does not exist."""
    keys = {"share_token": share_token, "key_hash": key_hash(session_key)}
    return rows(_PLACE, **keys).one_or_none()


def open_place(share_token: str, session_key: str, now: datetime) -> Any:
    """The respondent's open session, made now if this is its first answer."""
    place = find_place(share_token, session_key)
    if place is None:
        _open_session(share_token, session_key, now)
        place = find_place(share_token, session_key)
    if place is None:
        raise no_public_form()
    if place.status == SessionStatus.COMPLETED:
        raise StateConflict(
            "response_completed",
            "These answers are sent already.",
            "Start another response to say more.",
        )
    return place


def question_at(place: Any, position: int) -> QuestionRow:
    """The scripted question at a 0-based position; raises InvalidInput when there is none."""
    if not 0 <= position < len(place.questions):
        raise InvalidInput(
            "question_unknown",
            "This form has no such question.",
            "Go back to the form and answer its questions.",
            field="position",
        )
    question: QuestionRow = place.questions[position]
    return question


def is_new(place: Any) -> bool:
    """True in the transaction that made the session: it answers or skips a question at once."""
    return place.answer_count == 0 and not place.skipped


def take_stamp(place: Any, now: datetime, *, first: bool = False, completes: bool = False) -> int:
    """The next stamp of the form under its row lock; refuses when it takes no answers."""
    taken: int | None = rows(
        _COMPLETION_STAMP if completes else _ANSWER_STAMP,
        form=place.form_id,
        now=to_millis(now),
        answered=int(first),
        started=int(is_new(place)),
    ).scalar_one_or_none()
    if taken is None:
        raise _refusal(place.form_id)
    return taken


def change_form(form_id: str, values: dict[str, Any]) -> None:
    """Write the new stamp and counters of a form whose row the caller has locked."""
    db.session.execute(
        update(Form)
        .where(Form.id == form_id)
        .values(values)
        .execution_options(synchronize_session=False)
    )


def not_open(status: str | None) -> StateConflict:
    """The refusal of a form in this status; None stands for one that is gone."""
    if status == FormStatus.COMPLETED:
        return StateConflict(
            "form_completed",
            "This form has its answer already.",
            "Copy what you wrote if you want to keep it.",
        )
    return StateConflict(
        "form_closed",
        "This form takes no more answers.",
        "Copy what you wrote if you want to keep it.",
    )


def _open_session(share_token: str, session_key: str, now: datetime) -> None:
    """Insert the session unless a request at the same moment did; the form must take answers."""
    form = db.session.execute(
        select(Form.id, Form.status).where(shared_form(share_token))
    ).one_or_none()
    if form is None:
        return
    if form.status is not FormStatus.PUBLISHED:
        raise not_open(form.status)
    made = {
        "id": new_id("ses"),
        "form_id": form.id,
        "key_hash": key_hash(session_key),
        "status": SessionStatus.IN_PROGRESS,
        "skipped": [],
        "answer_count": 0,
        "created_at": now,
        "last_active_at": now,
    }
    insert_any = sqlite.insert if db.engine.dialect.name == "sqlite" else postgresql.insert
    db.session.execute(insert_any(ResponseSession).values(made).on_conflict_do_nothing())


def _refusal(form_id: str) -> Outcome:
    """Why a form that was there when the transaction began takes no answer now."""
    query = select(Form.status).where(Form.id == form_id, Form.deleted_at.is_(None))
    status = db.session.scalar(query)
    return no_public_form() if status is None else not_open(status)

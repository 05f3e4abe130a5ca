"""The state of a respondent's session, read or locked before a write.

Rows are locked in one order: session, then form. A state holds columns of the form and of the
session as they were before the write.
"""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, String, and_, bindparam, select, type_coerce, update

from webapp.answers.answer_statements import insert_session
from webapp.answers.public_form import has_recordings, no_public_form
from webapp.answers.steps import QuestionNumber, Step, follow_up_step, scripted_step
from webapp.base.database import db, execute, new_id, note_change, read_rows, to_millis
from webapp.base.database.prepared_statements import all_rows, run
from webapp.base.error_codes import ErrorCode, PageCode
from webapp.base.errors import NotFound, Outcome, Phrase, StateConflict
from webapp.base.limits import FORM_BYTES_MAX
from webapp.base.text import token_hash
from webapp.base.vocabulary import FormStatus, ResponseMode, SessionStatus
from webapp.records.content.model import QuestionRow
from webapp.records.follow_ups import find_follow_up
from webapp.records.forms import Form, shared_form
from webapp.records.responses.models import ResponseSession


class SessionState(NamedTuple):
    """Columns of a form and one session; each state of it has its own `last_active_at` (ms).

    follow_ups_given  to one question at most; None: as its mode has it
    follow_up_writer  the model that was named to its creator, "" for the rules
    has_recordings    some were uploaded under its key, claimed by an answer or not
    """

    form_id: str
    share_token: str
    questions: list[QuestionRow]
    form_status: str
    follow_up_mode: str
    follow_ups_given: int | None
    max_total_questions: int | None
    follow_up_writer: str
    records_voice: bool
    has_recordings: bool
    session_id: str
    status: str
    skipped: list[str]
    answered: dict[str, str]
    answer_count: int
    completed_stamp: int | None
    last_active_at: int
    key_hash: str


class _FormState(NamedTuple):
    """What is known of a session that is not stored."""

    id: str
    share_token: str
    questions: list[QuestionRow]
    status: str
    follow_up_mode: str
    follow_ups_given: int | None
    max_total_questions: int | None
    follow_up_writer: str
    records_voice: bool
    has_recordings: bool


_FORM_COLUMNS = (
    Form.id.label("form_id"),
    Form.share_token,
    Form.questions,
    type_coerce(Form.status, String).label("form_status"),
    type_coerce(Form.follow_up_mode, String).label("follow_up_mode"),
    Form.followups_given.label("follow_ups_given"),
    Form.max_total_questions,
    Form.follow_up_writer,
    and_(Form.records_voice, Form.response_mode != ResponseMode.TEXT_ONLY).label("records_voice"),
    has_recordings(),
)
_STATE_COLUMNS = (
    *_FORM_COLUMNS,
    ResponseSession.id.label("session_id"),
    type_coerce(ResponseSession.status, String).label("status"),
    ResponseSession.skipped,
    ResponseSession.answered,
    ResponseSession.answer_count,
    ResponseSession.completed_stamp,
    type_coerce(ResponseSession.last_active_at, BigInteger).label("last_active_at"),
    ResponseSession.key_hash,
)
_LOCKED_STATE = (
    select(*_STATE_COLUMNS)
    .join(ResponseSession, ResponseSession.form_id == Form.id)
    .where(
        shared_form(bindparam("share_token")),
        ResponseSession.key_hash == bindparam("key_hash"),
    )
    .with_for_update(of=ResponseSession)
)
# of no session, and of a key of another form, too: where three statements read that, the form of a
# first answer takes twice the CPU time on PostgreSQL
_STATE = (
    select(*_STATE_COLUMNS, ResponseSession.form_id.label("form_of_key"))
    .outerjoin(ResponseSession, ResponseSession.key_hash == bindparam("key_hash"))
    .where(shared_form(bindparam("share_token")))
)
_INSERTED = ("session_id", "form_id", "key_hash", "skipped", "answered", "answer_count")
_FORM = select(*_FORM_COLUMNS).where(shared_form(bindparam("share_token")))
_STATUS = select(Form.status, Form.answer_bytes).where(
    Form.id == bindparam("form"), Form.deleted_at.is_(None)
)


def lock_session_state(
    connection: Connection, share_token: str, session_key: str
) -> SessionState | None:
    """The session of this key, its row locked; None if nothing is stored under it yet."""
    keys = {"share_token": share_token, "key_hash": token_hash(session_key)}
    found = all_rows(connection, _LOCKED_STATE, keys)
    return SessionState._make(found[0]) if found else None


def read_session_state(share_token: str, session_key: str) -> SessionState:
    """The respondent's open session, not locked; `last_active_at` is 0 if nothing is stored yet.

    raises  NotFound for an unknown form or a key of another form; StateConflict if it is completed
            or the form takes no answers
    """
    keys = {"share_token": share_token, "key_hash": token_hash(session_key)}
    found = read_rows(_STATE, **keys)
    if not found:
        raise no_public_form()
    *state, form_of_key = found[0]
    if form_of_key is None:
        return _unstored(_FormState._make(state[: len(_FORM_COLUMNS)]), keys["key_hash"])
    if form_of_key != state[0]:
        raise no_public_form()
    return _require_unsent(SessionState._make(state))


def lock_or_create_session_state(
    connection: Connection, share_token: str, session_key: str, now: datetime
) -> SessionState:
    """The respondent's open session, its row locked; inserted if this is its first answer."""
    state = lock_session_state(connection, share_token, session_key)
    return _require_unsent(state or _insert_or_lock(connection, share_token, session_key, now))


def next_activity(state: SessionState, now: datetime) -> int:
    """The `last_active_at` of the state that follows this one, in milliseconds."""
    return max(to_millis(now), state.last_active_at + 1)


def _require_unsent(state: SessionState) -> SessionState:
    if state.status == SessionStatus.COMPLETED:
        raise StateConflict(
            PageCode.RESPONSE_COMPLETED,
            Phrase("These answers are sent already."),
            Phrase("Start another response to say more."),
        )
    return state


def step_at(state: SessionState, place: QuestionNumber) -> Step:
    """A question that this respondent is or was asked, dropped or not.

    raises  NotFound for a number without a question, and for a follow-up never asked
    """
    question = question_at(state, place.number - 1)
    if not place.follow_up:
        return scripted_step(place.number, question)
    asked = find_follow_up(state.session_id, question["id"], place.follow_up)
    if asked is None:
        raise NotFound(
            ErrorCode.NOT_FOUND,
            Phrase("This question was not asked."),
            Phrase("Go back to the form and answer its questions."),
        )
    return follow_up_step(place.number, asked)


def question_at(state: SessionState, position: int) -> QuestionRow:
    """The scripted question at a 0-based position; raises NotFound if there is none."""
    if not 0 <= position < len(state.questions):
        raise NotFound(
            PageCode.QUESTION_UNKNOWN,
            Phrase("This form has no such question."),
            Phrase("Go back to the form and answer its questions."),
        )
    question: QuestionRow = state.questions[position]
    return question


def recordings_of(state: SessionState, question_id: str) -> dict[str, str]:
    """The parameters of RECORDINGS_OF_QUESTION."""
    return {"key_hash": state.key_hash, "form_id": state.form_id, "question_id": question_id}


def is_new(state: SessionState) -> bool:
    """True for a session inserted in this transaction, with nothing answered or skipped yet."""
    return state.answer_count == 0 and not state.skipped


def change_form(form_id: str, values: dict[str, object]) -> None:
    """Update the counters of a form whose session the caller has locked."""
    note_change(form_id)
    db.session.execute(
        update(Form)
        .where(Form.id == form_id)
        .values(values)
        .execution_options(synchronize_session=False)
    )


def not_open(status: str | None) -> StateConflict:
    """The refusal of a form with this status."""
    if status == FormStatus.COMPLETED:
        return StateConflict(
            PageCode.FORM_COMPLETED,
            Phrase("This form has already been answered."),
            Phrase("Copy what you wrote if you want to keep it."),
        )
    return StateConflict(
        PageCode.FORM_CLOSED,
        Phrase("This form takes no more answers."),
        Phrase("Copy what you wrote if you want to keep it."),
    )


def _insert_or_lock(
    connection: Connection, share_token: str, session_key: str, now: datetime
) -> SessionState:
    """Insert the session, or lock the one that a concurrent request inserted."""
    key = token_hash(session_key)
    found = execute(_FORM, share_token=share_token, key_hash=key).one_or_none()
    if found is None:
        raise no_public_form()
    made = _unstored(_FormState._make(found), key)._replace(last_active_at=to_millis(now))
    if _insert(connection, made, now):
        return made
    state = lock_session_state(connection, share_token, session_key)
    if state is None:  # the key belongs to another form
        raise no_public_form()
    return state


def _unstored(form: _FormState, key: str) -> SessionState:
    """The state of a session that is not stored. Raises StateConflict if its form is not open."""
    if form.status != FormStatus.PUBLISHED:
        raise not_open(form.status)
    return SessionState(
        *form,
        session_id=new_id("ses"),
        status=SessionStatus.IN_PROGRESS,
        skipped=[],
        answered={},
        answer_count=0,
        completed_stamp=None,
        last_active_at=0,
        key_hash=key,
    )


def _insert(connection: Connection, made: SessionState, now: datetime) -> bool:
    values: dict[str, object] = {name: getattr(made, name) for name in _INSERTED}
    values |= {"suspect": False, "now": to_millis(now), "active": made.last_active_at}
    inserted: int = run(connection, insert_session(), values).rowcount
    return inserted == 1


def refusal(
    form_id: str, *, more_bytes: int = 0, form_bytes_max: int = FORM_BYTES_MAX
) -> Outcome | None:
    """Why a form takes no answer; None if it does.

    more_bytes  size of the answer; all answers of the form take at most `form_bytes_max`
    """
    found = read_rows(_STATUS, form=form_id)
    if not found:
        return no_public_form()
    form = found[0]
    if form.status is not FormStatus.PUBLISHED:
        return not_open(form.status)
    return _form_full() if form.answer_bytes + more_bytes > form_bytes_max else None


def _form_full() -> StateConflict:
    return StateConflict(
        PageCode.FORM_FULL,
        Phrase("This form has no room for more answers."),
        Phrase(
            "Your words are still here: copy them, and tell whoever sent you the link. "
            "Anything you saved before is safe, and you can still send it."
        ),
    )

"""The actions of respondents: answer, skip, complete and withdraw."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, cast

from sqlalchemy import Connection, String, bindparam, select, type_coerce
from sqlalchemy.exc import IntegrityError

from webapp.answers import answer_statements as statements, session as sessions
from webapp.answers.session import LockedSession, QuestionNumber, RespondentSession, Step
from webapp.answers.trash import delete_sessions
from webapp.base import database
from webapp.base.config import settings
from webapp.base.database.prepared_statements import all_rows, run
from webapp.base.errors import InvalidInput, PageCode, Phrase, StateConflict
from webapp.base.text import in_one_line
from webapp.base.vocabulary import FormStatus, QuestionKind, ResponseType
from webapp.events.outbox import queue_deliveries
from webapp.records.forms import Form
from webapp.records.responses import counters, models
from webapp.records.responses.recordings import Recording, claimed_bytes

ANSWER_MIN_SECONDS = 2  # per answer: people do not read, type and continue faster
RESPONDER_NAME_MAX_CHARS = 80


@dataclass(frozen=True, slots=True)
class Signs:
    """Evidence of how a respondent's page was used.

    begun_at         when the first page of this session was rendered; None for an unsigned key
    honeypot_filled  the field that people neither see nor reach has a value
    """

    begun_at: datetime | None
    honeypot_filled: bool = False

    def looks_automated(self, answers: int, now: datetime) -> bool:
        if self.honeypot_filled or self.begun_at is None:
            return True
        return now - self.begun_at < timedelta(seconds=ANSWER_MIN_SECONDS * answers)


def require_answer(answer_text: str, *, spoken: bool) -> None:
    """Raise InvalidInput `answer_empty` or `answer_too_long`; a spoken one may be empty."""
    if not spoken and not answer_text.strip():
        raise InvalidInput(
            PageCode.ANSWER_EMPTY,
            Phrase("There is no answer yet."),
            Phrase("Write one, or skip the question."),
            field="answer",
        )
    most = models.SPOKEN_ANSWER_MAX_CHARS if spoken else models.ANSWER_MAX_CHARS
    if len(answer_text) > most:
        raise InvalidInput(
            PageCode.ANSWER_TOO_LONG,
            Phrase("The answer is longer than %(limit)s characters.", limit=most),
            Phrase("Shorten it; nothing you wrote is lost."),
            field="answer",
        )


def clean_name(name: str) -> str | None:
    """Return the name in one line; None if empty. raises InvalidInput `name_too_long`"""
    name = in_one_line(name)
    if len(name) > RESPONDER_NAME_MAX_CHARS:
        raise InvalidInput(
            PageCode.NAME_TOO_LONG,
            Phrase("The name is longer than %(limit)s characters.", limit=RESPONDER_NAME_MAX_CHARS),
            Phrase("Shorten it or leave it out."),
            field="name",
        )
    return name or None


class Answered(NamedTuple):
    """The session with an answer; `is_new` is False if the answer was stored before."""

    session: RespondentSession
    is_new: bool


def answer_question(  # noqa: PLR0913 - a value of the request each
    share_token: str,
    session_key: str,
    *,
    position: int,
    answer_text: str,
    answer_key: str,
    now: datetime,
    follow_up: int = 0,
    recording_id: str = "",
    blank: bool = False,
    replaces: str | None = None,
    signs: Signs | None = None,
) -> Answered:
    """Store one answer durably; a repeat of `answer_key`, or of the current answer, stores nothing.

    An answer without a recording deletes the question's earlier recording and uploads.

    position      0-based index of the scripted question
    follow_up     number of the follow-up, from 1; 0 for the scripted question itself
    answer_key    generated for each rendered question, so that a retry is stored once
    recording_id  id of an upload to this question or of its answer's recording; "" if typed
    blank         the page showed no words of this recording, so an empty text removes none
    replaces      `version_of` the answer that the page showed; None replaces any
    signs         how the page was used: flags the session if it looks automated
    raises        NotFound; StateConflict `form_closed`, `form_completed`, `response_completed`,
                  `form_full`, `answer_differs` (this key stored another), `answer_newer` (the page
                  showed an older one); InvalidInput as `require_answer`, `recording_unknown`
    """
    require_answer(answer_text, spoken=bool(recording_id))
    while True:
        state = sessions.read_open_session(share_token, session_key)
        step = state.asked_step(QuestionNumber(position + 1, follow_up))
        parent = step.asked.parent_question_id if step.asked else None
        answer = NewAnswer(
            step.question_id, step.text, answer_text, answer_key, recording_id, parent
        )
        if _is_unchanged(state, answer, blank=blank, replaces=replaces):
            return Answered(state, is_new=False)
        reached = len(state.answered.keys() | {step.question_id})
        suspect = signs is not None and signs.looks_automated(reached, now)
        if stored := store_answer(state, answer, now=now, suspect=suspect):
            return Answered(stored, is_new=True)
        if _is_repeat(state, answer):
            return Answered(sessions.read_session(share_token, session_key), is_new=False)


def skip_question(
    share_token: str,
    session_key: str,
    *,
    position: int,
    now: datetime,
    follow_up: int = 0,
    replaces: str | None = None,
) -> RespondentSession:
    """Skip a question and take back its answer and those to its follow-ups; idempotent."""
    while True:
        state = sessions.read_open_session(share_token, session_key)
        if state.form.status is not FormStatus.PUBLISHED:
            raise sessions.not_open(state.form.status)
        step = state.asked_step(QuestionNumber(position + 1, follow_up))
        current = state.answered.get(step.question_id)
        for row in database.read_rows(_CURRENT, answer=current) if current else ():
            _require_version(row.answer_text, row.recording_id, replaces)
        if after := _skip(state, step, now):
            return after


def _skip(state: RespondentSession, step: Step, now: datetime) -> RespondentSession | None:
    taken = {step.question_id, *(each.id for each in state.steps.asked_after(step.question_id))}
    after = state.changed(
        now,
        skipped=[*(each for each in state.skipped if each not in taken), step.question_id],
        answered={key: value for key, value in state.answered.items() if key not in taken},
    )
    with database.write_transaction() as connection:
        opening = statements.TOUCH if state.started else statements.insert_session()
        if not run(connection, opening, _progress(state, after, now, suspect=False)).rowcount:
            return None
        changes = {
            "started_count": int(not state.started),
            "answered_count": -int(bool(state.answered) and not after.answered),
            "answer_bytes": -_take_back(state, taken),
        }
        if any(changes.values()):
            sessions.change_form(
                state.form.id, {k: getattr(Form, k) + n for k, n in changes.items()}
            )
        if not step.asked:  # follow-ups have no counters
            answered, skipped = (
                step.question_id in each for each in (state.answered, state.skipped)
            )
            change = counters.QuestionCounts(-int(answered), int(not skipped))
            counters.count_questions(state.form.id, {step.question_id: change})
    return after


def _take_back(state: RespondentSession, taken: set[str]) -> int:
    freed = 0
    for question_id in sorted(taken):
        if question_id in state.answered:
            database.execute(statements.SUPERSEDE, earlier=state.answered[question_id])
        if state.has_recordings:
            freed += claimed_bytes(
                database.execute(statements.TAKE_BACK, **state.recording_keys(question_id))
            )
    return freed


def complete_response(
    share_token: str,
    session_key: str,
    *,
    responder_name: str,
    now: datetime,
    signs: Signs | None = None,
) -> list[str] | None:
    """Complete the response and queue its event, if this server sends events.

    returns  the ids of the queued deliveries; None if the response is complete already
    raises   NotFound; StateConflict `form_closed`, `form_completed`, `nothing_answered`;
             InvalidInput `name_too_long`
    """
    name = clean_name(responder_name)
    with database.core_transaction() as connection:
        session = sessions.lock_session(connection, share_token, session_key)
        if session is None:
            sessions.read_form(share_token)
        elif session.completed_stamp is not None:
            return None
        if session is None or not session.answered:
            raise StateConflict(
                PageCode.NOTHING_ANSWERED,
                Phrase("Nothing is answered yet."),
                Phrase("Answer at least one question."),
            )
        suspect = signs is not None and signs.looks_automated(len(session.answered), now)
        done = _store_completion(connection, session, now, name=name, suspect=suspect)
        return queue_deliveries(connection, done, now=now) if settings().mcp_events_enabled else []


def withdraw_response(share_token: str, session_key: str, *, now: datetime) -> bool:
    """Delete the session of this key with `delete_sessions`; return False if there is none."""
    with database.write_transaction() as connection:
        session = sessions.lock_session(connection, share_token, session_key)
        if session is None:
            return False
        delete_sessions(session.form_id, [session], now=now)
    return True


class NewAnswer(NamedTuple):
    """An answer as submitted; the parent of a follow-up is its scripted question."""

    question_id: str
    question_text: str
    answer_text: str
    answer_key: str
    recording_id: str = ""
    parent_question_id: str | None = None

    @property
    def response_type(self) -> ResponseType:
        return ResponseType.VOICE if self.recording_id else ResponseType.TEXT


class _Refused(Exception):
    """Raised if a step finds that the state has changed; the transaction is rolled back."""


def store_answer(
    state: RespondentSession, answer: NewAnswer, *, now: datetime, suspect: bool = False
) -> RespondentSession | None:
    """Store an answer, its stamp and its recording; delete the question's other recordings; commit.

    Returns the new session. Returns None and writes nothing if the session has changed, the form
    takes no answers or has no room, `answer_key` is used, or the recording cannot be claimed.
    """
    answer_id = database.new_id("ans")
    after = state.changed(
        now,
        skipped=[each for each in state.skipped if each != answer.question_id],
        answered=state.answered | {answer.question_id: answer_id},
        has_recordings=state.has_recordings or bool(answer.recording_id),
    )
    values = _progress(state, after, now, suspect=suspect) | _values(state, answer)
    values["id"] = answer_id
    begins, recordings = not state.started, after.has_recordings
    database.note_change(state.form.id)
    try:
        if database.on_sqlite():
            with database.sqlite_transaction() as connection:
                _in_several(connection, values, begins=begins, recordings=recordings)
        elif not database.execute_autocommit(
            statements.answer_in_one_statement(begins=begins, recordings=recordings), **values
        ):
            return None
    except _Refused:
        return None
    except IntegrityError:
        if begins:  # the form is closed, full or deleted
            return None
        raise
    return after


def _store_completion(
    connection: Connection, session: LockedSession, now: datetime, **signed: object
) -> models.Completion:
    form_id = session.form_id
    values: dict[str, object] = {"now": database.to_millis(now), "session_id": session.session_id}
    stamped = all_rows(connection, statements.STAMP_COMPLETION, values | {"form_id": form_id})
    if not stamped:
        raise sessions.refusal(form_id) or sessions.not_open(FormStatus.CLOSED)
    stamp = stamped[0].last_stamp
    values |= signed | {"stamp": stamp, "form": form_id}
    ((is_awaited,),) = all_rows(connection, statements.COMPLETE, values)
    counters.count_completion(connection, form_id, stamp)
    database.note_change(form_id)
    return models.Completion(form_id, session.session_id, stamp, len(session.answered), is_awaited)


def _in_several(
    connection: Connection, values: dict[str, object], *, begins: bool, recordings: bool
) -> None:
    opening = statements.insert_session() if begins else statements.TOUCH_BY_NEW_KEY
    if not run(connection, opening, values).rowcount:
        raise _Refused
    if recordings:
        ((recorded,),) = all_rows(connection, statements.RECORDED, values)
        values["bytes"] = cast(int, values["bytes"]) + recorded
    stamps = run(connection, statements.STAMP_ANSWER, values).fetchall()
    if not stamps:
        raise _Refused
    run(connection, statements.ADD_ANSWER, values | {"stamp": stamps[0][0]})
    if values["earlier"]:
        run(connection, statements.SUPERSEDE, values)
    if values["more_answered"] or values["more_skipped"]:
        run(connection, counters.add_question_count(), values)
    if recordings:
        if run(connection, statements.CLAIM_RECORDING, values).rowcount != values["claims"]:
            raise _Refused
        run(connection, statements.DELETE_OTHER_RECORDINGS, values)


def _progress(
    state: RespondentSession, after: RespondentSession, now: datetime, *, suspect: bool
) -> dict[str, object]:
    return {
        "session_id": state.id,
        "form_id": state.form.id,
        "key_hash": state.key_hash,
        "seen": state.last_active_at,
        "active": after.last_active_at,
        "skipped": after.skipped,
        "answered": after.answered,
        "answer_count": len(after.answered),
        "now": database.to_millis(now),
        "suspect": suspect,
    }


def _values(state: RespondentSession, answer: NewAnswer) -> dict[str, object]:
    earlier = state.answered.get(answer.question_id)
    scripted = answer.parent_question_id is None
    return answer._asdict() | {
        "response_type": answer.response_type,
        "question_kind": QuestionKind.SCRIPTED if scripted else QuestionKind.FOLLOW_UP,
        "word_count": models.count_words(answer.answer_text),
        "most_bytes": settings().limit_form_bytes,
        "first": int(not state.answered),
        "started": int(not state.started),
        "bytes": models.count_bytes(answer.question_text, answer.answer_text),
        "earlier": earlier,
        "recording": answer.recording_id,
        "claims": int(bool(answer.recording_id)),
        "more_answered": int(scripted and earlier is None),
        "more_skipped": -int(scripted and answer.question_id in state.skipped),
    }


_STORED = select(
    models.Answer.question_id,
    models.Answer.answer_text,
    type_coerce(models.Answer.response_type, String).label("response_type"),
    Recording.id.label("recording_id"),
    models.Answer.answer_key,
).outerjoin(Recording, Recording.answer_id == models.Answer.id)
_STORED_UNDER_KEY = _STORED.where(
    models.Answer.session_id == bindparam("session"), models.Answer.answer_key == bindparam("key")
)
_CURRENT = _STORED.where(models.Answer.id == bindparam("answer"))
_UPLOADED = select(Recording.id).where(
    *statements.RECORDINGS_OF_QUESTION, Recording.id == bindparam("recording")
)


def _is_unchanged(
    state: RespondentSession, answer: NewAnswer, *, blank: bool, replaces: str | None
) -> bool:
    """Return True if this is the current answer; raises StateConflict `answer_newer`."""
    current = state.answered.get(answer.question_id)
    if current is None or state.form.status is not FormStatus.PUBLISHED:
        return False
    row = next(iter(database.read_rows(_CURRENT, answer=current)), None)
    if row is None:
        return False
    same_recording = (row.recording_id or "") == answer.recording_id
    untouched = blank and answer.recording_id and not answer.answer_text.strip()
    if same_recording and (untouched or row.answer_text == answer.answer_text):
        return True
    written_down = blank and same_recording and answer.recording_id
    if row.answer_key != answer.answer_key and not written_down:
        _require_version(row.answer_text, row.recording_id, replaces)
    return False


def _require_version(text: str, recording_id: str | None, replaces: str | None) -> None:
    if replaces is not None and replaces != sessions.version_of(text, recording_id):
        raise StateConflict(
            PageCode.ANSWER_NEWER,
            Phrase("You changed this answer in another tab or on another device."),
            Phrase("Nothing is lost: the newer answer counts until you choose."),
        )


def _is_repeat(state: RespondentSession, answer: NewAnswer) -> bool:
    """Judge a failed write: return True if this key has stored this answer, False to try again.

    raises  StateConflict, NotFound, InvalidInput if another try would also fail
    """
    if stored := database.read_rows(_STORED_UNDER_KEY, session=state.id, key=answer.answer_key):
        question_id, text, response_type, recording_id, _ = stored[0]
        # the recording is gone if a correction has taken it over
        same = recording_id in {None, answer.recording_id}
        same = same and response_type == answer.response_type
        if same and (question_id, text) == (answer.question_id, answer.answer_text):
            return True
        raise StateConflict(
            PageCode.ANSWER_DIFFERS,
            Phrase("An earlier version of this answer is saved."),
            Phrase("Continue once more to replace it with these words."),
        )
    size = models.count_bytes(answer.question_text, answer.answer_text)
    recording = state.recording_keys(answer.question_id) | {"recording": answer.recording_id}
    if state.has_recordings:
        size += database.read_rows(statements.RECORDED, **recording)[0][0]
    if refused := sessions.refusal(state.form.id, more_bytes=size):
        raise refused
    # the recording may belong to another session or question
    if answer.recording_id and not database.read_rows(_UPLOADED, **recording):
        raise recording_gone()
    return False


def recording_gone() -> InvalidInput:
    """Return the error for a recording that is gone, usually because it was unclaimed too long."""
    return InvalidInput(
        PageCode.RECORDING_UNKNOWN,
        Phrase("We are sorry: your recording is not on the server any more."),
        Phrase(
            "One is kept for an hour until you continue, less while many people record. "
            "Please add or record it once more, or type your answer. Everything you saved is safe."
        ),
        field="recording",
    )

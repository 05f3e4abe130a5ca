"""Writes of answers and completions, and the handling of repeated ones."""

from datetime import datetime
from typing import NamedTuple, cast

from sqlalchemy import Connection, String, bindparam, select, type_coerce
from sqlalchemy.exc import IntegrityError

from webapp.answers import answer_statements as statements
from webapp.answers.answer_statements import RECORDINGS_OF_QUESTION
from webapp.answers.session import LockedSession, RespondentSession, refusal, version_of
from webapp.base import database
from webapp.base.config import settings
from webapp.base.database.prepared_statements import all_rows, run
from webapp.base.errors import InvalidInput, PageCode, Phrase, StateConflict
from webapp.base.vocabulary import FormStatus, QuestionKind, ResponseType
from webapp.records.responses.counters import add_question_count, count_completion
from webapp.records.responses.models import Answer, Completion, count_bytes, count_words
from webapp.records.responses.recordings import Recording


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


def store_completion(
    connection: Connection,
    session: LockedSession,
    *,
    responder_name: str | None,
    suspect: bool,
    now: datetime,
) -> Completion | None:
    """Complete a locked session; return None if the form takes no answers. Does not commit."""
    form_id = session.form_id
    values: dict[str, object] = {"now": database.to_millis(now), "session_id": session.session_id}
    stamped = all_rows(connection, statements.STAMP_COMPLETION, values | {"form_id": form_id})
    if not stamped:
        return None
    stamp = stamped[0].last_stamp
    values |= {"stamp": stamp, "name": responder_name, "suspect": suspect, "form": form_id}
    ((is_awaited,),) = all_rows(connection, statements.COMPLETE, values)
    count_completion(connection, form_id, stamp)
    database.note_change(form_id)
    return Completion(form_id, session.session_id, stamp, len(session.answered), is_awaited)


def write_progress(
    connection: Connection, before: RespondentSession, after: RespondentSession, *, now: datetime
) -> bool:
    """Store a state without a new answer; return False if the session changed. Does not commit."""
    values = _progress(before, after, now, suspect=False)
    opening = statements.TOUCH if before.started else statements.insert_session()
    return bool(run(connection, opening, values).rowcount)


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
        run(connection, add_question_count(), values)
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
        "word_count": count_words(answer.answer_text),
        "most_bytes": settings().limit_form_bytes,
        "first": int(not state.answered),
        "started": int(not state.started),
        "bytes": count_bytes(answer.question_text, answer.answer_text),
        "earlier": earlier,
        "recording": answer.recording_id,
        "claims": int(bool(answer.recording_id)),
        "more_answered": int(scripted and earlier is None),
        "more_skipped": -int(scripted and answer.question_id in state.skipped),
    }


_STORED = select(
    Answer.question_id,
    Answer.answer_text,
    type_coerce(Answer.response_type, String).label("response_type"),
    Recording.id.label("recording_id"),
    Answer.answer_key,
).outerjoin(Recording, Recording.answer_id == Answer.id)
_STORED_UNDER_KEY = _STORED.where(
    Answer.session_id == bindparam("session"), Answer.answer_key == bindparam("key")
)
_CURRENT = _STORED.where(Answer.id == bindparam("answer"))
_UPLOADED = select(Recording.id).where(
    *RECORDINGS_OF_QUESTION, Recording.id == bindparam("recording")
)


def is_unchanged(
    state: RespondentSession, answer: NewAnswer, *, blank: bool, replaces: str | None
) -> bool:
    """Return True if this is the current answer; raises StateConflict `answer_newer`."""
    current = state.answered.get(answer.question_id)
    if current is None or state.form.status is not FormStatus.PUBLISHED:
        return False
    found = database.read_rows(_CURRENT, answer=current)
    if not found:
        return False
    row = found[0]
    same_recording = (row.recording_id or "") == answer.recording_id
    untouched = blank and answer.recording_id and not answer.answer_text.strip()
    if same_recording and (untouched or row.answer_text == answer.answer_text):
        return True
    written_down = blank and same_recording and answer.recording_id
    if row.answer_key != answer.answer_key and not written_down:
        _require_version(row.answer_text, row.recording_id, replaces)
    return False


def require_shown(state: RespondentSession, question_id: str, replaces: str | None) -> None:
    """Raise StateConflict `answer_newer` unless the current answer is the version `replaces`."""
    current = state.answered.get(question_id)
    if current and replaces is not None:
        for row in database.read_rows(_CURRENT, answer=current):
            _require_version(row.answer_text, row.recording_id, replaces)


def _require_version(text: str, recording_id: str | None, replaces: str | None) -> None:
    if replaces is not None and replaces != version_of(text, recording_id):
        raise StateConflict(
            PageCode.ANSWER_NEWER,
            Phrase("You changed this answer in another tab or on another device."),
            Phrase("Nothing is lost: the newer answer counts until you choose."),
        )


def is_repeat(state: RespondentSession, answer: NewAnswer) -> bool:
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
    size = count_bytes(answer.question_text, answer.answer_text)
    recording = state.recording_keys(answer.question_id) | {"recording": answer.recording_id}
    if state.has_recordings:
        size += database.read_rows(statements.RECORDED, **recording)[0][0]
    if refused := refusal(state.form.id, more_bytes=size):
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

"""The writes of an answer and of a completion, with all rows that change with them.

On PostgreSQL an answer is one statement and its own transaction: it locks the row of the form
until the commit, and a round trip in between would make other writers wait. Measured gain: 31 %
more answers per second, 68 % where all answer one form. SQLite runs the same parts one by one: it
has no round trips and one writer at a time. The state of the session was read before; nothing is
written if it has changed since.
"""

from datetime import datetime
from typing import NamedTuple, cast

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from webapp.database import (
    execute,
    execute_autocommit,
    new_id,
    note_change,
    on_sqlite,
    sqlite_transaction,
    to_millis,
)
from webapp.database.prepared_statements import all_rows, run
from webapp.domain.respondents.answer_statements import (
    ADD_ANSWER,
    CLAIM_RECORDING,
    COMPLETE,
    DELETE_OTHER_RECORDINGS,
    RECORDED,
    STAMP_ANSWER,
    STAMP_COMPLETION,
    SUPERSEDE,
    TOUCH,
    TOUCH_BY_NEW_KEY,
    answer_at_once,
    insert_session,
)
from webapp.domain.respondents.session_state import SessionState, next_activity
from webapp.domain.responses.counters import add_question_count, count_completion
from webapp.domain.responses.models import Completion, count_bytes, count_words
from webapp.domain.shared.limits import FORM_BYTES_MAX
from webapp.domain.shared.vocabulary import QuestionKind, ResponseType


class NewAnswer(NamedTuple):
    """An answer as given; the parent of a follow-up is its scripted question.

    answer_key    made for each rendered question; unique in a session
    recording_id  of the recording that it claims, "" for a typed answer
    """

    question_id: str
    question_text: str
    answer_text: str
    answer_key: str
    recording_id: str = ""
    question_kind: QuestionKind = QuestionKind.SCRIPTED
    parent_question_id: str | None = None

    @property
    def response_type(self) -> ResponseType:
        """What agents are told of it."""
        return ResponseType.VOICE if self.recording_id else ResponseType.TEXT


class _Refused(Exception):
    """A step found that the state has changed; nothing is written."""


def store_answer(
    state: SessionState,
    answer: NewAnswer,
    *,
    now: datetime,
    suspect: bool = False,
    form_bytes_max: int = FORM_BYTES_MAX,
) -> SessionState | None:
    """Write an answer with its stamp and its recording, delete others of its question, commit.

    Returns the session as it is now. None, and nothing written, if it has changed since, the form
    takes no answers or has no room for it, the key has stored one, or its recording cannot be
    claimed.
    """
    answer_id = new_id("ans")
    after = _with_answer(state, answer, answer_id, now)
    values = _row(state, answer, answer_id) | _changes(state, answer, after)
    values |= {"now": to_millis(now), "suspect": suspect, "most_bytes": form_bytes_max}
    begins, recordings = state.last_active_at == 0, after.has_recordings
    note_change(state.form_id)
    try:
        if on_sqlite():
            with sqlite_transaction() as connection:
                _in_steps(connection, values, begins=begins, recordings=recordings)
        elif not execute_autocommit(answer_at_once(begins=begins, recordings=recordings), **values):
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
    state: SessionState,
    *,
    responder_name: str | None,
    suspect: bool,
    now: datetime,
) -> Completion | None:
    """Complete a locked session with a stamp; None if the form takes no answers.

    Does not commit.
    """
    values: dict[str, object] = {"now": to_millis(now), "session_id": state.session_id}
    stamped = all_rows(connection, STAMP_COMPLETION, values | {"form_id": state.form_id})
    if not stamped:
        return None
    stamp = stamped[0].last_stamp
    values |= {"stamp": stamp, "name": responder_name, "suspect": suspect}
    ((is_awaited,),) = all_rows(connection, COMPLETE, values | {"form": state.form_id})
    count_completion(connection, state.form_id, stamp)
    note_change(state.form_id)
    return Completion(state.form_id, state.session_id, stamp, state.answer_count, is_awaited)


def touch_session(
    state: SessionState, now: datetime, *, skipped: list[str], answered: dict[str, str]
) -> None:
    """Write the progress of a locked session; `answered` holds answer ids by question id.

    Does not commit.
    """
    execute(
        TOUCH,
        session_id=state.session_id,
        skipped=skipped,
        answered=answered,
        answer_count=len(answered),
        suspect=False,
        seen=state.last_active_at,
        active=next_activity(state, now),
    )


def supersede(answer_id: str | None) -> None:
    """Mark an answer as superseded; does nothing for None. Does not commit."""
    if answer_id:
        execute(SUPERSEDE, earlier=answer_id)


def _in_steps(
    connection: Connection, values: dict[str, object], *, begins: bool, recordings: bool
) -> None:
    opening = insert_session() if begins else TOUCH_BY_NEW_KEY
    if not run(connection, opening, values).rowcount:
        raise _Refused
    if recordings:
        ((recorded,),) = all_rows(connection, RECORDED, values)
        values["bytes"] = cast(int, values["bytes"]) + recorded
    stamps = run(connection, STAMP_ANSWER, values).fetchall()
    if not stamps:
        raise _Refused
    run(connection, ADD_ANSWER, values | {"stamp": stamps[0][0]})
    if values["earlier"]:
        run(connection, SUPERSEDE, values)
    if values["more_answered"] or values["more_skipped"]:
        run(connection, add_question_count(), values)
    if recordings:
        if run(connection, CLAIM_RECORDING, values).rowcount != values["claims"]:
            raise _Refused
        run(connection, DELETE_OTHER_RECORDINGS, values)


def _with_answer(
    state: SessionState, answer: NewAnswer, answer_id: str, now: datetime
) -> SessionState:
    """The state of the session that follows."""
    answered = state.answered | {answer.question_id: answer_id}
    return state._replace(
        has_recordings=state.has_recordings or bool(answer.recording_id),
        skipped=[each for each in state.skipped if each != answer.question_id],
        answered=answered,
        answer_count=len(answered),
        last_active_at=next_activity(state, now),
    )


def _row(state: SessionState, answer: NewAnswer, answer_id: str) -> dict[str, object]:
    """The columns of the new answer without its stamp."""
    return {
        "id": answer_id,
        "form_id": state.form_id,
        "session_id": state.session_id,
        "question_id": answer.question_id,
        "question_text": answer.question_text,
        "answer_text": answer.answer_text,
        "response_type": answer.response_type,
        "question_kind": answer.question_kind,
        "parent_question_id": answer.parent_question_id,
        "answer_key": answer.answer_key,
        "word_count": count_words(answer.answer_text),
    }


def _changes(state: SessionState, answer: NewAnswer, after: SessionState) -> dict[str, object]:
    """The new values of session, form and counters. Only scripted questions have counters."""
    earlier = state.answered.get(answer.question_id)
    scripted = answer.question_kind is QuestionKind.SCRIPTED
    return {
        "key_hash": state.key_hash,
        "seen": state.last_active_at,
        "active": after.last_active_at,
        "first": int(not state.answered),
        "started": int(state.last_active_at == 0),
        "bytes": count_bytes(answer.question_text, answer.answer_text),
        "earlier": earlier,
        "recording": answer.recording_id,
        "claims": int(bool(answer.recording_id)),
        "skipped": after.skipped,
        "answered": after.answered,
        "answer_count": after.answer_count,
        "more_answered": int(scripted and earlier is None),
        "more_skipped": -int(scripted and answer.question_id in state.skipped),
    }

"""The step that follows when the recording of an answer is transcribed, or given up.

If the answer is current and has no words, a new answer with the transcript replaces it. This one
takes the recording and has a new id and stamp, so that polling agents see it. Nothing else of
the response changes, whatever its state and the state of its form, and no second event is sent. The
event of a response that waited for the transcript becomes due.

Rows are locked in the same order as for respondents: session, form.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Row, bindparam, select, type_coerce, update

from webapp.answers.answer_statements import ADD_ANSWER, STAMP_LATE_ANSWER, SUPERSEDE
from webapp.base import database
from webapp.base.config import settings
from webapp.base.vocabulary import TranscriptState
from webapp.events.outbox import release_deliveries
from webapp.records.forms import Form
from webapp.records.responses.models import Answer, ResponseSession, count_bytes, count_words
from webapp.records.responses.recordings import Recording, late_answer_key

_R, _S, _A = Recording, ResponseSession, Answer
_KEPT = ("question_id", "question_text", "response_type", "question_kind", "parent_question_id")


@database.tried_again
def conclude(recording_id: str, *, now: datetime) -> list[str]:
    """Take the step unless it is done; return the ids of deliveries that become due. Commits.

    Does nothing while the form is in the trash, or if no answer has the recording.
    """
    with database.write_transaction():
        session = database.execute(_LOCK_SESSION, recording=recording_id).first()
        if session is None:
            return []
        spoken = database.execute(_SETTLED, recording=recording_id, session=session.id).first()
        if spoken is None:
            return []
        is_current = session.answered.get(spoken.question_id) == spoken.answer_id
        if spoken.transcript and is_current and not spoken.answer_text.strip():
            if database.execute(_LOCK_FORM, form_id=session.form_id).first() is None:
                return []
            _fill(session, spoken, now)
        database.execute(_CONCLUDED, recording=recording_id)
        database.note_change(recording_id)
        return release_deliveries(session.id, now=now)


def _fill(session: Row[*tuple[Any, ...]], spoken: Row[*tuple[Any, ...]], now: datetime) -> None:
    words = spoken.transcript
    values = {name: getattr(spoken, name) for name in _KEPT} | {
        "id": database.new_id("ans"),
        "form_id": session.form_id,
        "session_id": session.id,
        "answer_text": words,
        "answer_key": late_answer_key(spoken.answer_id),
        "word_count": count_words(words),
    }
    stamp = database.execute(
        STAMP_LATE_ANSWER,
        form_id=session.form_id,
        now=database.to_millis(now),
        bytes=count_bytes(spoken.question_text, words),
        most_bytes=settings().limit_form_bytes,
    ).scalar_one_or_none()
    if stamp is None:
        return
    database.execute(ADD_ANSWER, **values, stamp=stamp)
    database.execute(SUPERSEDE, earlier=spoken.answer_id)
    answered = session.answered | {spoken.question_id: values["id"]}
    database.execute(_CHANGE_SESSION, session=session.id, answers=answered)
    database.execute(_MOVE, recording=spoken.id, answer=values["id"])
    database.note_change(session.form_id)


_OF_RECORDING = _R.id == bindparam("recording")
_LOCK_SESSION = (
    select(_S.id, _S.form_id, _S.answered)
    .join(_R, _R.session_id == _S.id)
    .join(Form, Form.id == _S.form_id)
    .where(_OF_RECORDING, Form.deleted_at.is_(None))
    .with_for_update(of=_S, key_share=True)
)
# if the form goes into the trash at this moment, the step waits until it is restored
_LOCK_FORM = (
    select(Form.id)
    .where(Form.id == bindparam("form_id"), Form.deleted_at.is_(None))
    .with_for_update(key_share=True)
)
# read under the lock of the session, which is also held when another answer gets the recording
_SETTLED = (
    select(
        *(_R.id, _R.transcript, _R.answer_id, _A.answer_text),
        *(getattr(_A, name) for name in _KEPT),
    )
    .join(_A, _A.id == _R.answer_id)
    .where(
        _OF_RECORDING,
        _R.session_id == bindparam("session"),
        _R.next_at.is_not(None),
        _R.transcript_state != TranscriptState.WAITING,
    )
)
# each state of a session has its own `last_active_at`, which shows a concurrent answer the change;
# the respondent did nothing, so it moves by one millisecond only
_CHANGE_SESSION = (
    update(_S)
    .where(_S.id == bindparam("session"))
    .values(
        answered=bindparam("answers", type_=_S.answered.type),
        last_active_at=type_coerce(_S.last_active_at, BigInteger) + 1,
    )
)
_MOVE = update(_R).where(_OF_RECORDING).values(answer_id=bindparam("answer"))
# another attempt may have been requested meanwhile
_CONCLUDED = (
    update(_R)
    .where(_OF_RECORDING, _R.transcript_state != TranscriptState.WAITING)
    .values(next_at=None)
)

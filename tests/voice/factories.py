"""Rows of recordings, without their objects. All need an application context."""

import secrets
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import select, update

from tests.factories import make_account, make_answer, make_form
from webapp.answers.session import QuestionNumber, RecordingShown
from webapp.base.database import db, new_id, utc_now
from webapp.base.text import token_hash
from webapp.base.vocabulary import ResponseType, TranscriptState
from webapp.records.forms import Form
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import Recording
from webapp.voice.audio_store import audio_store
from webapp.voice.uploads import Bounds, Upload, add_recording


def make_voice_form(account_id: str = "", *, transcriber: str = "", **fields: Any) -> Any:
    """A published form that takes recordings, as a row of its columns."""
    form = make_form(account_id or make_account().id, **fields)
    told = {"records_voice": True, "transcriber": transcriber}
    db.session.execute(update(Form).where(Form.id == form.id).values(told))
    db.session.commit()
    return form


def make_recording(form: Any, session_key: str, position: int = 0, **changed: Any) -> Recording:
    """A recording for a question of the form, claimed by no answer; the caller commits."""
    values: dict[str, Any] = {
        "id": new_id("att"),
        "form_id": form.id,
        "question_id": form.questions[position]["id"],
        "key_hash": token_hash(session_key),
        "upload_key": secrets.token_urlsafe(16),
        "object_key": f"{form.id}/{secrets.token_hex(8)}.webm",
        "media_type": "audio/webm",
        "size": 4000,
        "duration_ms": 1200,
        "transcriber": "",
        "transcript_state": TranscriptState.NONE,
        "created_at": utc_now(),
    }
    recording = Recording(**values | changed)
    db.session.add(recording)
    db.session.flush()
    return recording


def upload(form: Any, session_key: str, **changed: Any) -> RecordingShown:
    """What `add_recording` returns for an upload to the first question; commits."""
    values: dict[str, Any] = {
        "at": QuestionNumber(1),
        "upload_key": secrets.token_urlsafe(16),
        "object_key": f"{form.id}/{secrets.token_hex(8)}.webm",
        "media_type": "audio/webm",
        "size": 4000,
        "duration_ms": 1200,
        "named_host": form.transcriber,
        "address_hash": None,
        "bounds": Bounds(),
        "now": utc_now(),
    }
    given = values | changed
    made = Upload(**{name: given.pop(name) for name in Upload._fields})
    return add_recording(form.share_token, session_key, upload=made, **given)


def make_spoken_answer(
    form: Any, session_key: str, position: int = 0, text: str = "As heard", **changed: Any
) -> Recording:
    """A committed answer with a recording; `changed` are columns of that."""
    make_answer(form, session_key, position, "typed first")
    session = ResponseSession.key_hash == token_hash(session_key)
    answers = select(Answer).join(ResponseSession, ResponseSession.id == Answer.session_id)
    answer = db.session.scalars(answers.where(session).order_by(Answer.stamp.desc())).first()
    assert answer
    answer.answer_text, answer.response_type = text, ResponseType.VOICE
    claimed = {"session_id": answer.session_id, "answer_id": answer.id}
    recording = make_recording(form, session_key, position, **claimed | changed)
    counted = {"answer_bytes": Form.answer_bytes + recording.size}
    db.session.execute(update(Form).where(Form.id == form.id).values(counted))
    db.session.commit()
    return recording


def make_stored_answer(
    form: Any, session_key: str, position: int = 0, content: bytes = b"sound" * 2000, **changed: Any
) -> Recording:
    """`make_spoken_answer` with this object in the store."""
    recording = make_spoken_answer(form, session_key, position, size=len(content), **changed)
    with TemporaryDirectory() as folder:
        file = Path(folder, "recording")
        file.write_bytes(content)
        audio_store().put(recording.object_key, file)
    db.session.refresh(recording)
    return recording

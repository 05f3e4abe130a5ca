"""Uploads: recordings that hang on a session key and a question until an answer claims them.

An upload makes no session; `respondents/answering.py` claims it. The object is in the audio store
before its row is here.
"""

from datetime import datetime
from typing import NamedTuple, cast

from sqlalchemy import Insert, Integer, String, Table, bindparam, case, func, literal, null, select

from webapp.database import (
    built_once,
    execute,
    insert_into,
    new_id,
    read_rows,
    to_millis,
    write_transaction,
)
from webapp.domain.forms.models import Form, shared_form
from webapp.domain.respondents.answer_statements import RECORDINGS_OF_QUESTION
from webapp.domain.respondents.public_form import SHOWN_COLUMNS, RecordingShown
from webapp.domain.respondents.session_state import (
    not_open,
    read_session_state,
    refusal,
    step_at,
)
from webapp.domain.respondents.steps import Place
from webapp.domain.responses.cursor import NOW
from webapp.domain.responses.recordings import Recording
from webapp.domain.shared.error_codes import PageCode
from webapp.domain.shared.errors import InvalidInput, Phrase
from webapp.domain.shared.secrets import token_hash
from webapp.domain.shared.vocabulary import FormStatus, TranscriptState
from webapp.domain.voice.room import Bounds, Upload, make_room


class UploadPlace(NamedTuple):
    """What an upload belongs to; `key_hash` is that of the session key."""

    form_id: str
    question_id: str
    key_hash: str


_TABLE = cast(Table, Recording.__table__)
_OF_KEY = _TABLE.c.key_hash == bindparam("key_hash")
_SHOWN = select(*SHOWN_COLUMNS)
_BY_UPLOAD_KEY = _SHOWN.where(
    *RECORDINGS_OF_QUESTION, _TABLE.c.upload_key == bindparam("upload_key")
)
_BY_ID = _SHOWN.join(Form, Form.id == _TABLE.c.form_id).where(
    _OF_KEY, _TABLE.c.id == bindparam("recording"), shared_form(bindparam("share_token"))
)
_GIVEN = (
    "id",
    "question_id",
    "key_hash",
    "upload_key",
    "object_key",
    "media_type",
    "size",
    "duration_ms",
    "address_hash",
)


@built_once
def _insert() -> Insert:
    """The row of an upload; none if its form is not open, or the upload key has one.

    Only the host that the page named (`:told`) may write it down.
    """
    told = func.coalesce(bindparam("told", type_=String), Form.transcriber)
    row = select(
        Form.id,
        case((Form.transcriber == told, Form.transcriber), else_=""),
        literal(TranscriptState.WAITING, _TABLE.c.transcript_state.type),
        literal(0, Integer),
        null(),  # due once its page asks for the words, or an answer has it
        NOW,
        *(bindparam(name, type_=_TABLE.c[name].type) for name in _GIVEN),
    ).where(
        Form.id == bindparam("form_id"),
        Form.status == FormStatus.PUBLISHED,
        Form.deleted_at.is_(None),
    )
    ours = ("form_id", "transcriber", "transcript_state", "attempts", "next_at", "created_at")
    return insert_into(_TABLE).from_select([*ours, *_GIVEN], row).on_conflict_do_nothing()


def check_upload(
    share_token: str, session_key: str, position: int, follow_up: int = 0
) -> UploadPlace:
    """Where a recording of this question belongs, before anything of it is read.

    position   0-based place of the scripted question
    follow_up  which follow-up to it, from 1; 0 for itself
    raises     NotFound, also for a question never asked; StateConflict `form_closed`,
               `form_completed`, `response_completed`; InvalidInput `voice_unavailable`
    """
    state = read_session_state(share_token, session_key)
    step = step_at(state, Place(position + 1, follow_up))
    if state.form_status != FormStatus.PUBLISHED:
        raise not_open(state.form_status)
    if not state.records_voice:
        raise InvalidInput(
            PageCode.VOICE_UNAVAILABLE,
            Phrase("This form takes no recordings."),
            Phrase("Type your answer."),
            field="audio",
        )
    return UploadPlace(state.form_id, step.question_id, state.key_hash)


def find_upload(place: UploadPlace, upload_key: str) -> RecordingShown | None:
    """What is stored under this upload key for this question."""
    found = read_rows(_BY_UPLOAD_KEY, upload_key=upload_key, **place._asdict())
    return RecordingShown._make(found[0]) if found else None


def find_recording(share_token: str, session_key: str, recording_id: str) -> RecordingShown | None:
    """A recording under this session key, claimed or not."""
    keys = {"share_token": share_token, "key_hash": token_hash(session_key)}
    found = read_rows(_BY_ID, recording=recording_id, **keys)
    return RecordingShown._make(found[0]) if found else None


def prepare_room(
    place: UploadPlace, size: int, *, address_hash: str | None, bounds: Bounds
) -> None:
    """`make_room` before the object is stored; `add_recording` does it again. Commits."""
    with write_transaction():
        make_room(Upload(place.form_id, place.key_hash, address_hash, size), bounds)


def add_recording(  # noqa: PLR0913 - a value of the row each
    share_token: str,
    session_key: str,
    *,
    position: int,
    upload_key: str,
    object_key: str,
    media_type: str,
    size: int,
    duration_ms: int,
    now: datetime,
    follow_up: int = 0,
    told: str | None = None,
    address_hash: str | None = None,
    bounds: Bounds | None = None,
) -> RecordingShown:
    """Store the row of an object that is in the audio store; its type and measures are ours.

    A repeat of `upload_key` stores nothing and returns the first, with its own object key: the
    object of the repeat is to be erased then, as after a refusal.

    upload_key  made for each recorder, so that a retry is stored once
    told        the host that the page named as writing it down, "" for none; None if it names the
                one of the form. No other host gets the recording
    raises      as `check_upload`; InvalidInput `recordings_full`, `form_unreadable` (the key is
                that of another question)
    """
    with write_transaction():
        place = check_upload(share_token, session_key, position, follow_up)
        if stored := find_upload(place, upload_key):
            return stored
        make_room(Upload(place.form_id, place.key_hash, address_hash, size), bounds or Bounds())
        values = {"upload_key": upload_key, "object_key": object_key, "media_type": media_type}
        measured = {"size": size, "duration_ms": duration_ms}
        keys = {"id": new_id("att"), "told": told, "address_hash": address_hash}
        execute(_insert(), **place._asdict(), **values, **measured, **keys, now=to_millis(now))
        if stored := find_upload(place, upload_key):
            return stored
        raise refusal(place.form_id) or _key_of_another_question()


def _key_of_another_question() -> InvalidInput:
    return InvalidInput(
        PageCode.FORM_UNREADABLE,
        Phrase("This page was not sent as it was made."),
        Phrase("Nothing was stored. Open the link once more and answer there."),
    )

"""Uploads: recordings that hang on a session key and a question until an answer claims them.

An upload makes no session; `respondents/answering.py` claims it. The object is in the audio store
before its row is here.
"""

from datetime import datetime
from typing import NamedTuple, cast

from sqlalchemy import Insert, Integer, String, Table, bindparam, case, func, literal, select

from webapp.database import (
    built_once,
    execute,
    insert_into,
    new_id,
    on_sqlite,
    read_rows,
    to_millis,
    write_transaction,
)
from webapp.domain.forms.models import Form, shared_form
from webapp.domain.respondents.answer_statements import DELETE_RECORDINGS, RECORDINGS_OF_QUESTION
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
from webapp.domain.shared.limits import RECORDINGS_MAX_BYTES
from webapp.domain.shared.secrets import token_hash
from webapp.domain.shared.vocabulary import FormStatus, TranscriptState


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
# of the whole session: it may have no row yet that could be locked
_LOCK_SESSION = select(func.pg_advisory_xact_lock(func.hashtextextended(bindparam("key_hash"), 0)))
_BYTES = select(func.coalesce(func.sum(_TABLE.c.size), 0)).where(_OF_KEY)
_DELETE_UNCLAIMED = DELETE_RECORDINGS.where(_TABLE.c.answer_id.is_(None))


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
        NOW,
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
) -> RecordingShown:
    """Store the row of an object that is in the audio store; its type and measures are ours.

    A repeat of `upload_key` stores nothing and returns the first, with its own object key: the
    object of the repeat is to be erased then, as after a refusal.

    upload_key  made for each recorder, so that a retry is stored once
    told        the host that the page named as writing it down, "" for none; None if it names the
                one of the form. No other host gets the recording
    address_hash  of the network that sent it
    raises      as `check_upload`; InvalidInput `recordings_full`, `form_unreadable` (the key is
                that of another question)
    """
    with write_transaction():
        place = check_upload(share_token, session_key, position, follow_up)
        if stored := find_upload(place, upload_key):
            return stored
        _make_room(place, size)
        values = {"upload_key": upload_key, "object_key": object_key, "media_type": media_type}
        measured = {"size": size, "duration_ms": duration_ms}
        keys = {"id": new_id("att"), "told": told, "now": to_millis(now)}
        keys["address_hash"] = address_hash
        execute(_insert(), **place._asdict(), **values, **measured, **keys)
        if stored := find_upload(place, upload_key):
            return stored
        raise refusal(place.form_id) or _key_of_another_question()


def _make_room(place: UploadPlace, size: int) -> None:
    """Let other uploads of the question go if the session's recordings take too much room.

    Uploads of one session at the same moment wait for each other here: each counts the others.
    """
    if not on_sqlite():  # which has one writer at a time
        execute(_LOCK_SESSION, key_hash=place.key_hash)
    if _fits(place, size):
        return
    execute(_DELETE_UNCLAIMED, **place._asdict())
    if not _fits(place, size):
        raise InvalidInput(
            PageCode.RECORDINGS_FULL,
            Phrase("There is no room for more recordings in this response."),
            Phrase("Type your answer. What you recorded before is safe."),
            field="audio",
        )


def _fits(place: UploadPlace, size: int) -> bool:
    stored: int = execute(_BYTES, key_hash=place.key_hash).scalar_one()
    return stored + size <= RECORDINGS_MAX_BYTES


def _key_of_another_question() -> InvalidInput:
    return InvalidInput(
        PageCode.FORM_UNREADABLE,
        Phrase("This page was not sent as it was made."),
        Phrase("Nothing was stored. Open the link once more and answer there."),
    )

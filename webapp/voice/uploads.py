"""Recordings: their upload, their storage quotas, and their erasure."""

import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

import sqlalchemy as sa

from webapp.answers import answer_statements, session as sessions
from webapp.answers.session import QuestionNumber, RecordingShown
from webapp.base import database, ownership
from webapp.base.errors import InvalidInput, PageCode, Phrase
from webapp.base.vocabulary import FormStatus, TranscriptState
from webapp.records.forms import FORM_BYTES_MAX, Form
from webapp.records.responses.recordings import ObjectDeletion, Recording
from webapp.voice.audio_store import audio_store

RECORDING_MAX_BYTES = 25 * 1024**2  # contract
RECORDINGS_MAX_BYTES = 100 * 1024**2  # of one session
RECORDING_COUNTED_BYTES = 64 * 1024  # minimum that a recording counts; bounds their number
UNCLAIMED_BYTES_MAX = 100 * 1024**2  # recordings of one address; a setting changes it
UNCLAIMED_FORM_PERCENT = 25  # of FORM_BYTES_MAX
FORM_NOTICE_PERCENT = 80  # of FORM_BYTES_MAX; beyond, its creator is warned and people type
UNCLAIMED_KEPT_SECONDS = 3600  # recordings without an answer
TRIES = 20  # while answers lock the recordings that could be deleted
TRY_SECONDS = 0.05
ERASED_AT_ONCE = 500
FULL_FORM = Phrase("This form has no room for more recordings.")
FULL_SESSION = Phrase("There is no room for more recordings in this response.")

_RECORDINGS = cast(sa.Table, Recording.__table__)
_R = _RECORDINGS.c


class Bounds(NamedTuple):
    """Limits in bytes: for all of one form, and for unclaimed recordings of one address."""

    form: int = FORM_BYTES_MAX
    address: int = UNCLAIMED_BYTES_MAX


class UploadPlace(NamedTuple):
    """The form and question of an upload; `key_hash` is the hash of the session key."""

    form_id: str
    question_id: str
    key_hash: str


def check_upload(share_token: str, session_key: str, at: QuestionNumber) -> tuple[UploadPlace, str]:
    """Return where a recording of this question belongs, and the transcriber of its form.

    Called before the upload is read, and again before its row is stored.

    raises  NotFound, also for a question never asked; StateConflict `form_closed`,
            `form_completed`, `response_completed`; InvalidInput `voice_unavailable`
    """
    session = sessions.read_open_session(share_token, session_key)
    step = session.asked_step(at)
    if session.form.status is not FormStatus.PUBLISHED:
        raise sessions.not_open(session.form.status)
    if not session.form.may_record:
        raise InvalidInput(
            PageCode.VOICE_UNAVAILABLE,
            Phrase("This form takes no recordings."),
            Phrase("Type your answer."),
            field="audio",
        )
    place = UploadPlace(session.form.id, step.question_id, session.key_hash)
    return place, session.form.transcriber


def find_upload(place: UploadPlace, upload_key: str) -> RecordingShown | None:
    """Return the recording stored under this upload key for this question."""
    found = database.read_rows(_BY_UPLOAD_KEY, upload_key=upload_key, **place._asdict())
    return RecordingShown._make(found[0]) if found else None


def find_recording(share_token: str, session_key: str, recording_id: str) -> RecordingShown | None:
    """Return a recording of this session, claimed or not."""
    found = sessions.read_session(share_token, session_key).recorded
    return next((each for each in found if each.id == recording_id), None)


class Upload(NamedTuple):
    """An object in the audio store; the server determined its type and measures.

    upload_key  made by each recorder, so that a retry is stored only once
    """

    upload_key: str
    object_key: str
    media_type: str
    size: int
    duration_ms: int
    address_hash: str | None


def add_recording(
    share_token: str,
    session_key: str,
    *,
    at: QuestionNumber,
    upload: Upload,
    named_host: str,
    bounds: Bounds,
    now: datetime,
) -> RecordingShown:
    """Store the row of an upload.

    A repeated upload key stores nothing and returns the first recording with its own object key.
    The caller then erases the repeated object, as after a refusal.

    named_host  the transcriber that the page named, "" for none; no other host gets the recording
    raises      as `check_upload`; InvalidInput `recordings_full`, `form_unreadable` (another
                question has the upload key)
    """
    with database.write_transaction():
        place, transcriber = check_upload(share_token, session_key, at)
        if stored := find_upload(place, upload.upload_key):
            return stored
        _make_room(place, upload.size, upload.address_hash, bounds)
        row = place._asdict() | upload._asdict()
        row |= {"id": database.new_id("att"), "created_at": now, "attempts": 0}
        row["transcriber"] = transcriber if transcriber == named_host else ""
        # due once the page asks for the transcript, or an answer claims it
        row |= {"transcript_state": TranscriptState.WAITING, "next_at": None}
        inserted = database.insert_into(_RECORDINGS).values(row)
        database.execute(inserted.on_conflict_do_nothing())
        if stored := find_upload(place, upload.upload_key):
            return stored
        raise InvalidInput(
            PageCode.FORM_UNREADABLE,
            Phrase("This page was not sent as it was made."),
            Phrase("Nothing was stored. Open the link once more and answer there."),
        )


def _make_room(place: UploadPlace, size: int, address_hash: str | None, bounds: Bounds) -> None:
    """Delete unclaimed recordings until one more fits; the caller commits.

    It deletes those of the session first, then of the address, then of the form, beginning with the
    address that uses most. Concurrent uploads wait for each other.

    raises  InvalidInput `recordings_full`
    """
    named = place._asdict() | {"address_hash": address_hash}
    if not database.on_sqlite():  # SQLite has one writer at a time
        database.execute(_LOCK, **named)
    needed = max(size, RECORDING_COUNTED_BYTES)
    _shrink(_OF_SESSION, RECORDINGS_MAX_BYTES - needed, FULL_SESSION, named)
    _shrink(_OF_ADDRESS, bounds.address - needed, FULL_FORM, named)
    filled: int = database.execute(_FILLED, **named).scalar_one()
    left = bounds.form * FORM_NOTICE_PERCENT // 100 - filled  # answers have the rest
    most = min(left, bounds.form * UNCLAIMED_FORM_PERCENT // 100)
    _shrink(_OF_FORM, most - needed, FULL_FORM, named)


def _shrink(scope: "_Scope", most: int, full: Phrase, named: dict[str, Any]) -> None:
    for _ in range(TRIES):
        taken, unclaimed = database.execute(scope.taken, **named).one()
        excess = taken - most
        if excess <= 0:
            return
        if not unclaimed:
            break
        gone = []
        for row in database.execute(scope.free, **named):
            if excess > 0:
                gone.append(row.id)
                excess -= row.counted
        if gone:
            database.execute(_DELETE, gone=gone)
        else:  # an answer is about to take them
            time.sleep(TRY_SECONDS)
    raise InvalidInput(
        PageCode.RECORDINGS_FULL,
        full,
        Phrase("Type your answer. What you recorded before is safe."),
        field="audio",
    )


class _Scope(NamedTuple):
    """Recordings that share a limit.

    taken  their total bytes, and the number of unclaimed recordings
    free   the unclaimed recordings that are not locked, in the order to delete them
    """

    taken: sa.Select[int, int]
    free: sa.Select[str, int]


_COUNTED = sa.case((_R.size < RECORDING_COUNTED_BYTES, RECORDING_COUNTED_BYTES), else_=_R.size)
_IS_FREE = _R.answer_id.is_(None)


def _scope(name: str, *, claimed: bool = False) -> _Scope:
    """Return the recordings with the same value in this column; `claimed` includes claimed ones."""
    ours = _R[name] == sa.bindparam(name)
    shares = (
        sa.select(_R.id, sa.func.sum(_COUNTED).over(partition_by=_R.address_hash).label("share"))
        .where(ours, _IS_FREE)
        .subquery()
    )
    free = (
        sa.select(_R.id, _COUNTED.label("counted"))
        .join(shares, shares.c.id == _R.id)
        .where(_IS_FREE)
        .order_by(shares.c.share.desc(), _R.created_at, _R.id)
        .limit(RECORDING_MAX_BYTES // RECORDING_COUNTED_BYTES + 1)
        # an answer may be claiming some
        .with_for_update(of=_RECORDINGS, skip_locked=True)
    )
    counted = sa.func.coalesce(sa.func.sum(_COUNTED), 0), sa.func.count().filter(_IS_FREE)
    return _Scope(sa.select(*counted).where(ours if claimed else ours & _IS_FREE), free)


_OF_SESSION = _scope("key_hash", claimed=True)
_OF_ADDRESS = _scope("address_hash")
_OF_FORM = _scope("form_id")
_DELETE = sa.delete(Recording).where(
    database.among(Recording.id, "gone"), Recording.answer_id.is_(None)
)
_FILLED = sa.select(Form.answer_bytes).where(Form.id == sa.bindparam("form_id"))
# always in this order; advisory locks, because a session may have no row yet
_LOCK = sa.select(
    *(
        sa.func.pg_advisory_xact_lock(
            sa.func.hashtextextended(sa.bindparam(name, type_=sa.String), number)
        )
        for number, name in ((2, "address_hash"), (1, "form_id"), (0, "key_hash"))
    )
)
_BY_UPLOAD_KEY = sa.select(*sessions.RECORDING_COLUMNS).where(
    *answer_statements.RECORDINGS_OF_QUESTION, _R.upload_key == sa.bindparam("upload_key")
)


def purge_unclaimed(now: datetime) -> Iterator[int]:
    """Delete recordings that stayed unclaimed for an hour; yields the number of each batch."""
    before = now - timedelta(seconds=UNCLAIMED_KEPT_SECONDS)
    return ownership.delete_in_batches(_RECORDINGS, sa.and_(_IS_FREE, _R.created_at < before))


def noted_objects() -> list[str]:
    """Return the keys of objects whose row is gone, oldest first, ERASED_AT_ONCE at most."""
    return [row.object_key for row in database.read_rows(_NOTED)]


def erase_noted_objects() -> int:
    """Erase up to ERASED_AT_ONCE objects whose row is gone; returns their number.

    A key is deleted after its object: if the process dies in between, the next call erases again.
    Raises AudioStoreUnavailable.
    """
    if keys := noted_objects():
        database.release_connections()
        audio_store().delete(keys)
        with database.write_transaction():
            database.execute(_FORGET, keys=keys)
    return len(keys)


def without_row(keys: Iterable[str]) -> set[str]:
    """Return the keys that no recording has."""
    wanted = set(keys)
    return wanted - {row.object_key for row in database.read_rows(_WITH_ROW, keys=sorted(wanted))}


def object_keys() -> set[str]:
    """Return the key of every recording, including unclaimed ones."""
    return {row.object_key for row in database.read_rows(sa.select(Recording.object_key))}


def read_backlog() -> tuple[int, datetime | None]:
    """Return the number of objects that wait for erasure, and the time of the oldest."""
    ((objects, oldest),) = database.read_rows(_BACKLOG)
    return objects, None if oldest is None else database.from_millis(oldest)


_NOTED = (
    sa.select(ObjectDeletion.object_key)
    .order_by(ObjectDeletion.noted_at, ObjectDeletion.object_key)
    .limit(ERASED_AT_ONCE)
)
_FORGET = sa.delete(ObjectDeletion).where(database.among(ObjectDeletion.object_key, "keys"))
_WITH_ROW = sa.select(Recording.object_key).where(database.among(Recording.object_key, "keys"))
_BACKLOG = sa.select(sa.func.count(), sa.func.min(ObjectDeletion.noted_at))

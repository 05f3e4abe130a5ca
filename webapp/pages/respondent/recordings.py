"""Taking an uploaded recording: its bounds, its type, its length, room for it; object, then row."""

import secrets
from contextlib import suppress
from pathlib import Path
from shutil import copyfile
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from werkzeug.datastructures import FileStorage

from webapp.answers.steps import QuestionNumber
from webapp.base.config import settings
from webapp.base.database import release_connections, utc_now
from webapp.base.error_codes import PageCode
from webapp.base.errors import InvalidInput, Outcome, Phrase
from webapp.base.limits import RECORDING_MAX_BYTES, RECORDING_MAX_SECONDS
from webapp.base.sealing import address_hash
from webapp.pages.respondent.form_data import FormData
from webapp.pages.respondent.session_view import SessionView
from webapp.voice.audio_inspection import (
    WAV,
    AudioFormat,
    NotAudio,
    NotPlain,
    inspect,
    sniff_file,
    to_pcm,
)
from webapp.voice.audio_store import AudioStoreUnavailable, audio_store, says_full
from webapp.voice.child_process import Clients
from webapp.voice.uploads import (
    Bounds,
    UploadPlace,
    add_recording,
    check_upload,
    erase_noted_objects,
    find_upload,
    prepare_room,
)
from webapp.web.form_body_limits import UploadedFile
from webapp.web.limiter import client_network

KEPT_WORDS = Phrase("Nothing you typed is lost. Choose another recording, or type your answer.")
TOO_LARGE = Phrase(
    "The recording is larger than %(limit)s MiB.", limit=RECORDING_MAX_BYTES // 1024**2
)
NO_ROOM = Phrase("This server has no room for recordings just now.")
NOT_READ = Phrase("We can’t reach the recordings right now.")
# One upload at a time of each network address: it delays others by one look, and stores one
# recording beyond its bounds at most.
_AT_ONCE = Clients()
# of what the server does not even read
WORDS_IN_BROWSER = Phrase(
    "Nothing was saved. Press Back in your browser: your words are still there. Choose another "
    "recording, or type your answer."
)


class _Measured(NamedTuple):
    """What we found out of a file ourselves; no client is believed."""

    path: Path
    audio: AudioFormat
    size: int
    duration_ms: int


def store_recording(
    view: SessionView, posted: FormData, *, at: QuestionNumber, file: FileStorage | None
) -> None:
    """Store the file for the question, unless there is one under its key.

    raises  as `check_upload` and `add_recording`; InvalidInput `recording_missing`,
              `recording_too_large`, `recording_too_long`, `recording_not_audio`,
              `recording_no_room`; AudioBusy, AudioStoreUnavailable, OSError; nothing is stored then
    """
    place = check_upload(view.form.share_token, posted.session_key, at.number - 1, at.follow_up)
    release_connections()  # for as long as it waits
    with _AT_ONCE.turn(client_network()):
        if not find_upload(place, posted.recording_key):
            release_connections()  # for as long as the child looks and the store takes
            _store(view, posted, place, at, _measure(file))


def _store(
    view: SessionView, posted: FormData, place: UploadPlace, at: QuestionNumber, file: _Measured
) -> None:
    """The object is erased if the row is not stored; where that is unknown, it is left."""
    store = audio_store()
    if not store.has_room(file.size):
        raise no_room()
    source = address_hash(client_network())
    prepare_room(place, file.size, address_hash=source, bounds=upload_bounds())
    _erase()
    release_connections()
    key = f"{place.form_id}/{secrets.token_hex(16)}.{file.audio.extension}"
    store.put(key, file.path)
    try:
        stored = add_recording(
            view.form.share_token,
            posted.session_key,
            position=at.number - 1,
            follow_up=at.follow_up,
            upload_key=posted.recording_key,
            object_key=key,
            media_type=file.audio.media_type,
            size=file.size,
            duration_ms=file.duration_ms,
            now=utc_now(),
            named_host=posted.transcriber,
            address_hash=source,
            bounds=upload_bounds(),
        )
    except Outcome:
        _erase(key)
        raise
    _erase(*({key} - {stored.object_key}))


def upload_bounds() -> Bounds:
    """The bounds of the settings."""
    return Bounds(settings().limit_form_bytes, settings().audio_unclaimed_bytes)


def _erase(*keys: str) -> None:
    """Erase objects without a row, and those of the rows that made room."""
    with suppress(AudioStoreUnavailable):  # they are erased later then
        if keys:
            audio_store().delete(keys)
        erase_noted_objects()


def _measure(file: FileStorage | None) -> _Measured:
    uploaded: object = file.stream if file else None
    if not isinstance(uploaded, UploadedFile) or not uploaded.size:
        raise _refused(PageCode.RECORDING_MISSING, Phrase("There is no recording yet."))
    if uploaded.size > RECORDING_MAX_BYTES:
        raise _refused(PageCode.RECORDING_TOO_LARGE, TOO_LARGE)
    audio, duration_ms = _inspect(uploaded.path)
    if duration_ms > RECORDING_MAX_SECONDS * 1000:
        raise _refused(
            PageCode.RECORDING_TOO_LONG,
            Phrase(
                "The recording is longer than %(limit)s minutes.", limit=RECORDING_MAX_SECONDS // 60
            ),
        )
    return _Measured(uploaded.path, audio, uploaded.path.stat().st_size, duration_ms)


def _inspect(path: Path) -> tuple[AudioFormat, int]:
    """The format and length of the file, which becomes WAV if not every browser plays it."""
    try:
        audio = sniff_file(path)
        try:
            return audio, inspect(path, audio)
        except NotPlain:
            with NamedTemporaryFile(dir=path.parent) as samples:
                to_pcm(path, audio, samples)
                copyfile(samples.name, path)
            return WAV, inspect(path, WAV)
    except NotAudio as error:
        if says_full(error):  # where it was to be written as WAV
            raise OSError(str(error)) from error
        raise _refused(
            PageCode.RECORDING_NOT_AUDIO,
            Phrase("This file is no recording that can be used here."),
            Phrase(
                "Nothing you typed is lost. Choose a recording in one of these formats (M4A, MP4, "
                "3GP, AAC, MP3, WAV, OGG, WebM, CAF, AMR, FLAC, AIFF), or type your answer."
            ),
        ) from error


def no_room() -> InvalidInput:
    """The refusal while there is no room for any recording."""
    return _refused(
        PageCode.RECORDING_NO_ROOM,
        NO_ROOM,
        Phrase("Nothing you typed is lost. Type your answer instead."),
    )


def not_kept() -> InvalidInput:
    """The refusal of this recording, for a reason that may pass."""
    return _refused(
        PageCode.RECORDING_NO_ROOM,
        Phrase("Your recording could not be kept here just now."),
        Phrase("Nothing you typed is lost. Type your answer, or choose the recording once more."),
    )


def _refused(code: PageCode, message: Phrase, resolution: Phrase = KEPT_WORDS) -> InvalidInput:
    return InvalidInput(code, message, resolution, field="audio")

"""Spoken answers: upload and playback of recordings, and their transcripts.

An upload is a POST of the form that also carries the typed text, so it works without scripts and
loses nothing. Scripts get only the region `recorder`, unless another page replaces the question.
"""

import logging
import secrets
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from shutil import copyfile
from tempfile import NamedTemporaryFile

from flask import Blueprint, Response, abort, g, request
from werkzeug.datastructures import FileStorage
from werkzeug.exceptions import RequestEntityTooLarge

from jobs.queue import BEGUN, hand_over_recordings
from webapp.answers.answering import recording_gone
from webapp.answers.session import QuestionNumber
from webapp.base import sealing, vocabulary
from webapp.base.config import settings
from webapp.base.database import release_connections, utc_now
from webapp.base.errors import Outcome, PageCode, Phrase
from webapp.pages.errors import PROBLEMS, Problem, problem
from webapp.pages.filters import translated
from webapp.pages.fragments import nothing_new, wants_fragment
from webapp.pages.respondent import error_handling, form_data, rendering
from webapp.pages.respondent.session_view import find_form, posted_view
from webapp.records.responses.models import RECORDING_MAX_SECONDS
from webapp.voice import audio_inspection, uploads
from webapp.voice.audio_store import AudioStoreUnavailable, audio_store, says_full
from webapp.voice.child_process import ChildBusy, Clients
from webapp.voice.transcripts import ask_for_words
from webapp.web.byte_ranges import recording_response
from webapp.web.form_body_limits import UploadedFile
from webapp.web.limiter import client_network, limiter
from webapp.web.request_kind import says_in_iframe

NOT_READ = Phrase("We can’t reach the recordings right now.")
# for a body that the server does not even read
WORDS_IN_BROWSER = Phrase(
    "Nothing was saved. Press Back in your browser: your words are still there. Choose another "
    "recording, or type your answer."
)
# how often one respondent may ask for a transcript; a page asks every second at first
TRANSCRIPT_RATE = "120/minute"
# answers to an upload that replace the page
SWAPPED = {HTTPStatus.OK, HTTPStatus.CONFLICT, HTTPStatus.GONE, HTTPStatus.UNPROCESSABLE_ENTITY}
# One upload at a time per network address: an address delays others by one inspection, and exceeds
# its bounds by one recording at most.
_AT_ONCE = Clients()

log = logging.getLogger("askback.pages")
bp = Blueprint("voice", __name__, url_prefix="/r/<share_token>")
error_handling.init_blueprint(bp, limit_sessions=False)
_limit_looks = limiter.shared_limit(
    lambda: TRANSCRIPT_RATE,
    "transcripts",
    key_func=error_handling.session_or_network,
)


@bp.post("/q/<question:place>/recording")
@limiter.limit(lambda: settings().limit_upload_session, key_func=error_handling.session_or_network)
def upload(share_token: str, place: QuestionNumber) -> Response:
    """Store a recording for the question, unless its `recording_key` has stored one."""
    posted = form_data.read_form_data(share_token, "recording_key")
    view = posted_view(share_token, posted)
    where, _ = uploads.check_upload(share_token, posted.session_key, place)
    release_connections()  # while it waits
    with _AT_ONCE.turn(client_network()):
        if not uploads.find_upload(where, form_data.posted_field("recording_key")):
            release_connections()  # while the child inspects and the store writes
            _store(share_token, posted, where, place)
    view = posted_view(share_token, posted)
    return rendering.recorded(view, place, text=posted.answer)


@bp.post("/begin-recording")
@limiter.limit(lambda: settings().limit_upload_session, key_func=error_handling.session_or_network)
def begin(share_token: str) -> Response:
    """Prepare the transcription engine of this server when Record is pressed; store nothing."""
    view = posted_view(share_token, form_data.read_form_data(share_token))
    if view.may_answer and view.form.may_record and view.transcriber == vocabulary.ON_THIS_SERVER:
        hand_over_recordings([BEGUN])
    return nothing_new()


@bp.post("/q/<question:place>/transcript")
@_limit_looks
def look(share_token: str, place: QuestionNumber) -> Response:
    """Return the transcript of the posted recording; 204 if a script has to ask again.

    Until an answer claims it, a recording is transcribed only while its page asks.
    """
    posted = form_data.read_form_data(share_token)
    view = posted_view(share_token, posted)
    recording = view.recording(place)
    if recording and not recording.claimed and ask_for_words(recording.id, now=utc_now()):
        hand_over_recordings([recording.id])
    if not wants_fragment():
        if posted.recording and recording is None:
            raise recording_gone()
        return rendering.open_step(view, place, text=posted.answer)
    if recording is None or recording.id != posted.recording:
        abort(HTTPStatus.NOT_FOUND)
    if recording.transcript_state is vocabulary.TranscriptState.WAITING:
        return nothing_new()
    g.is_part = True
    return rendering.page("_heard", view, place=place)


@bp.get("/recordings/<recording_id>")
def play(share_token: str, recording_id: str) -> Response:
    """Return a recording of the session in the cookie."""
    key = None if says_in_iframe() else form_data.remembered_key(share_token)
    return _audio(share_token, key or "", recording_id)


@bp.post("/recordings/<recording_id>")
@_limit_looks
def hand_back(share_token: str, recording_id: str) -> Response:
    """Return a recording of the posted session, as a download."""
    return _audio(share_token, form_data.read_form_data(share_token).session_key, recording_id)


@bp.errorhandler(AudioStoreUnavailable)
@bp.errorhandler(ChildBusy)
@bp.errorhandler(OSError)
def away(error: Exception) -> Response:
    """Report that the store is unavailable or full, or the inspection of recordings overloaded.

    Typed answers still work. Scripts keep the recording and try again, unless there is no room.
    """
    log.error("a recording was not kept or read: %s", error, exc_info=error)
    uploaded = request.endpoint == "voice.upload"
    if uploaded and says_full(error):
        return error_handling.outcome_page(form_data.refusal(PageCode.RECORDING_NO_ROOM))
    if not uploaded or wants_fragment():
        lead = PROBLEMS[HTTPStatus.SERVICE_UNAVAILABLE].lead
        response = problem(Problem(translated(NOT_READ), lead), HTTPStatus.SERVICE_UNAVAILABLE)
    else:
        response = error_handling.outcome_page(form_data.refusal(PageCode.RECORDING_NOT_KEPT))
        if response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
            response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    response.headers["Retry-After"] = str(error_handling.STORAGE_RETRY_SECONDS)
    return response


@bp.errorhandler(RequestEntityTooLarge)
def too_large(_error: RequestEntityTooLarge) -> Response:
    """Report a body larger than the server or its disk takes; nothing is stored."""
    has_room = audio_store().has_room(0)
    code = PageCode.RECORDING_TOO_LARGE if has_room else PageCode.RECORDING_NO_ROOM
    what = Problem(translated(form_data.REFUSALS[code][0]), translated(WORDS_IN_BROWSER))
    return problem(what, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)


@bp.after_request
def replace_page(response: Response) -> Response:
    """Make scripts replace the whole page with a page that answers an upload."""
    if wants_fragment() and not g.get("is_part") and response.status_code in SWAPPED:
        response.headers["HX-Retarget"] = "#main"
        response.headers["HX-Reswap"] = "innerHTML show:window:top"
    return response


def _audio(share_token: str, session_key: str, recording_id: str) -> Response:
    find_form(share_token)  # lets the form's websites show an error page in a frame
    is_id = session_key and form_data.RECORDING_ID.fullmatch(recording_id)
    recording = uploads.find_recording(share_token, session_key, recording_id) if is_id else None
    if recording is None:
        abort(HTTPStatus.NOT_FOUND)
    return recording_response(recording, audio_store().read)


def _store(
    share_token: str,
    posted: form_data.FormData,
    where: uploads.UploadPlace,
    place: QuestionNumber,
) -> None:
    """Store the posted file, then its row; erase the file if the row is refused.

    raises  as `add_recording` and `_measure`; InvalidInput `recording_no_room`;
            AudioStoreUnavailable
    """
    path, audio, duration_ms = _measure(form_data.posted_file())
    store, size, source = audio_store(), path.stat().st_size, sealing.address_hash(client_network())
    if not store.has_room(size):
        raise form_data.refusal(PageCode.RECORDING_NO_ROOM)
    bounds = uploads.Bounds(settings().limit_form_bytes, settings().audio_unclaimed_bytes)
    key = f"{where.form_id}/{secrets.token_hex(16)}.{audio.extension}"
    store.put(key, path)
    recording_key = form_data.posted_field("recording_key")
    upload = uploads.Upload(recording_key, key, audio.media_type, size, duration_ms, source)
    try:
        stored = uploads.add_recording(
            share_token,
            posted.session_key,
            at=place,
            upload=upload,
            named_host=form_data.posted_field("transcriber"),
            bounds=bounds,
            now=utc_now(),
        )
    except Outcome:
        _erase(key)
        raise
    _erase(*({key} - {stored.object_key}))


def _erase(*keys: str) -> None:
    """Erase objects without a row, and the objects of rows deleted to make room."""
    with suppress(AudioStoreUnavailable):  # a later call erases them
        if keys:
            audio_store().delete(keys)
        uploads.erase_noted_objects()


def _measure(file: FileStorage | None) -> tuple[Path, audio_inspection.AudioFormat, int]:
    """Return path, format and milliseconds of a file; values from the client are not trusted.

    raises  InvalidInput `recording_missing`, `recording_too_large`, `recording_too_long`,
            `recording_not_audio`; ChildBusy, OSError
    """
    uploaded: object = file.stream if file else None
    if not isinstance(uploaded, UploadedFile) or not uploaded.size:
        raise form_data.refusal(PageCode.RECORDING_MISSING)
    if uploaded.size > uploads.RECORDING_MAX_BYTES:
        raise form_data.refusal(PageCode.RECORDING_TOO_LARGE)
    try:
        audio, duration_ms = _inspect(uploaded.path)
    except audio_inspection.NotAudio as error:
        if says_full(error):  # during the conversion to WAV
            raise OSError(str(error)) from error
        raise form_data.refusal(PageCode.RECORDING_NOT_AUDIO) from error
    if duration_ms > RECORDING_MAX_SECONDS * 1000:
        raise form_data.refusal(PageCode.RECORDING_TOO_LONG)
    return uploaded.path, audio, duration_ms


def _inspect(path: Path) -> tuple[audio_inspection.AudioFormat, int]:
    """Return format and length of the file; convert it to WAV if not every browser plays it."""
    audio = audio_inspection.sniff_file(path)
    try:
        return audio, audio_inspection.inspect(path, audio)
    except audio_inspection.NotPlain:
        with NamedTemporaryFile(dir=path.parent) as samples:
            audio_inspection.to_pcm(path, audio, samples)
            copyfile(samples.name, path)
        return audio_inspection.WAV, audio_inspection.inspect(path, audio_inspection.WAV)

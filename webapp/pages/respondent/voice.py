"""Spoken answers: uploading a recording, hearing it again, and what became of its words.

An upload is a POST of the form that also carries the typed text, so it works without scripts and
loses nothing. Scripts get the region `recorder` alone, unless another page takes its place.
"""

import logging
from http import HTTPStatus
from typing import Any

from flask import Blueprint, Response, abort, g, request
from werkzeug.exceptions import RequestEntityTooLarge

from jobs.queue import hand_over_recordings, tell_of_recording
from webapp.answers.answer_writes import recording_gone
from webapp.answers.steps import QuestionNumber
from webapp.base.config import settings
from webapp.base.database import utc_now
from webapp.base.limits import ANSWER_BODY_MAX_BYTES
from webapp.base.vocabulary import ON_THIS_SERVER, TranscriptState
from webapp.pages.errors import PROBLEMS, Problem, problem
from webapp.pages.filters import translated
from webapp.pages.fragments import nothing_new, wants_fragment
from webapp.pages.respondent import error_handling, rendering
from webapp.pages.respondent.form_data import (
    RECORDING_ID,
    posted_file,
    read_form_data,
    remembered_key,
)
from webapp.pages.respondent.recordings import (
    NO_ROOM,
    NOT_READ,
    TOO_LARGE,
    WORDS_IN_BROWSER,
    no_room,
    not_kept,
    store_recording,
    upload_bounds,
)
from webapp.pages.respondent.session_view import find_form, posted_view
from webapp.voice.audio_inspection import AudioBusy
from webapp.voice.audio_store import AudioStoreUnavailable, audio_store, says_full
from webapp.voice.child_process import ChildBusy
from webapp.voice.transcripts import ask_for_words
from webapp.voice.uploads import FULL_FORM, find_recording, may_have_room
from webapp.web.byte_ranges import recording_response
from webapp.web.limiter import limiter
from webapp.web.request_kind import says_in_iframe

# looks of one respondent for a transcript; a page looks each second at first
TRANSCRIPT_RATE = "120/minute"

log = logging.getLogger("askback.pages")
bp = Blueprint("voice", __name__, url_prefix="/r/<share_token>")
error_handling.init_blueprint(bp, limit_sessions=False)
_limit_looks = limiter.shared_limit(
    lambda: TRANSCRIPT_RATE,
    "transcripts",
    key_func=error_handling.session_or_network,
)


@bp.url_value_preprocessor
def require_room(endpoint: str | None, values: dict[str, Any] | None) -> None:
    """Refuse a recording that the form has no room for before its body is read."""
    if endpoint != "voice.upload" or not values:
        return
    size = (request.content_length or 0) - ANSWER_BODY_MAX_BYTES
    if size > 0 and not may_have_room(values["share_token"], size, upload_bounds()):
        raise RequestEntityTooLarge(FULL_FORM)


@bp.post("/q/<int:number>/recording", defaults={"follow_up": 0})
@bp.post("/q/<int:number>/f/<int:follow_up>/recording")
@limiter.limit(lambda: settings().limit_upload_session, key_func=error_handling.session_or_network)
def upload(share_token: str, number: int, follow_up: int) -> Response:
    """Store a recording for the question; the first one under its key stays."""
    posted = read_form_data(share_token, "recording_key")
    view = posted_view(share_token, posted)
    place = QuestionNumber(number, follow_up)
    store_recording(view, posted, at=place, file=posted_file())
    return rendering.recorded(posted_view(share_token, posted), place, text=posted.answer)


@bp.post("/begin-recording")
@limiter.limit(lambda: settings().limit_upload_session, key_func=error_handling.session_or_network)
def begin(share_token: str) -> Response:
    """Record was pressed: an engine of this server gets ready. Nothing is stored."""
    view = posted_view(share_token, read_form_data(share_token))
    if view.may_answer and view.records and view.transcriber == ON_THIS_SERVER:
        tell_of_recording()
    return nothing_new()


@bp.post("/q/<int:number>/transcript", defaults={"follow_up": 0})
@bp.post("/q/<int:number>/f/<int:follow_up>/transcript")
@_limit_looks
def look(share_token: str, number: int, follow_up: int) -> Response:
    """What became of the words of the posted recording; 204 for scripts that have to ask again.

    It is written down only while somebody asks, until an answer has it.
    """
    posted = read_form_data(share_token)
    view = posted_view(share_token, posted)
    place = QuestionNumber(number, follow_up)
    recording = view.recording(place)
    if recording and not recording.claimed and ask_for_words(recording.id, now=utc_now()):
        hand_over_recordings([recording.id])
    if not wants_fragment():
        if posted.recording and recording is None:
            raise recording_gone()
        return rendering.open_step(view, place, text=posted.answer)
    if recording is None or recording.id != posted.recording:
        abort(HTTPStatus.NOT_FOUND)
    if recording.transcript_state is TranscriptState.WAITING:
        return nothing_new()
    g.is_part = True
    return rendering.page("_heard", view, place=place)


@bp.get("/recordings/<recording_id>")
def play(share_token: str, recording_id: str) -> Response:
    """A recording of the respondent whom the cookie names."""
    key = None if says_in_iframe() else remembered_key(share_token)
    return _audio(share_token, key, recording_id)


@bp.post("/recordings/<recording_id>")
@_limit_looks
def hand_back(share_token: str, recording_id: str) -> Response:
    """The same for the posted session, as a file to keep."""
    return _audio(share_token, read_form_data(share_token).session_key, recording_id)


@bp.errorhandler(AudioStoreUnavailable)
@bp.errorhandler(AudioBusy)
@bp.errorhandler(ChildBusy)
@bp.errorhandler(OSError)
def away(error: Exception) -> Response:
    """The store is away or full, or the program that looks at recordings has too much to do.

    Typing goes on. Scripts keep what was recorded and try again, unless there is no room for it.
    """
    log.error("a recording was not kept or read: %s", error, exc_info=error)
    uploaded = request.endpoint == "voice.upload"
    if uploaded and says_full(error):
        return error_handling.outcome_page(no_room())
    if not uploaded or wants_fragment():
        lead = PROBLEMS[HTTPStatus.SERVICE_UNAVAILABLE].lead
        response = problem(Problem(translated(NOT_READ), lead), HTTPStatus.SERVICE_UNAVAILABLE)
    else:
        response = error_handling.outcome_page(not_kept())
        if response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
            response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    response.headers["Retry-After"] = str(error_handling.STORAGE_RETRY_SECONDS)
    return response


@bp.errorhandler(RequestEntityTooLarge)
def too_large(error: RequestEntityTooLarge) -> Response:
    """More than the server reads of a request, or than its disk or the form takes: all is lost."""
    reason = TOO_LARGE if audio_store().has_room(0) else NO_ROOM
    if error.description == FULL_FORM:
        reason = FULL_FORM
    what = Problem(translated(reason), translated(WORDS_IN_BROWSER))
    return problem(what, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)


@bp.after_request
def replace_page(response: Response) -> Response:
    """Let scripts put a page that answers an upload in place of the whole page."""
    if wants_fragment() and not g.get("is_part") and response.status_code in SWAPPED:
        response.headers["HX-Retarget"] = "#main"
        response.headers["HX-Reswap"] = "innerHTML show:window:top"
    return response


SWAPPED = {HTTPStatus.OK, HTTPStatus.CONFLICT, HTTPStatus.GONE, HTTPStatus.UNPROCESSABLE_ENTITY}


def _audio(share_token: str, session_key: str | None, recording_id: str) -> Response:
    find_form(share_token)  # whose websites may show the refusal in a frame
    known = session_key and RECORDING_ID.fullmatch(recording_id)
    recording = find_recording(share_token, session_key or "", recording_id) if known else None
    if recording is None:
        abort(HTTPStatus.NOT_FOUND)
    return recording_response(recording, audio_store().read, download=request.method == "POST")

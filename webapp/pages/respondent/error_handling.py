"""What a respondent's POST may run into: bounds, rates, refusals. The typed text is always kept."""

from contextlib import suppress
from http import HTTPStatus

from flask import Blueprint, Response, g, request
from flask_limiter import RateLimitExceeded
from werkzeug.exceptions import HTTPException

from webapp.config import settings
from webapp.database import db
from webapp.database.failures import STORAGE_FAILURES, may_have_stored
from webapp.domain.forms.embedding import find_frame_origins
from webapp.domain.respondents.public_form import key_hash
from webapp.domain.shared.errors import Outcome
from webapp.pages import errors
from webapp.pages.fragments import wants_fragment
from webapp.pages.respondent import rendering
from webapp.pages.respondent.form_data import read_posted, typed
from webapp.pages.respondent.session_cookie import SESSION_KEY
from webapp.pages.respondent.visit import (
    LAST_KNOWN_FRAMES,
    Visit,
    find_form,
    new_visit,
    posted_visit,
)
from webapp.web.extensions import client_network, limiter, seconds_to_wait
from webapp.web.security_headers import allow_frames

STORAGE_RETRY_SECONDS = 5


def guard(bp: Blueprint) -> None:
    """Bound the rate of all POSTs of `bp`, and answer what goes wrong in them."""
    _limit_addresses(bp)
    _limit_sessions(bp)
    bp.register_error_handler(RateLimitExceeded, _too_fast)
    bp.register_error_handler(Outcome, _outcome)
    for failure in STORAGE_FAILURES:
        bp.register_error_handler(failure, _storage_failed)
    bp.after_request(_name_frames)


def _name_frames(response: Response) -> Response:
    """A refusal that came before its form was found has to be seen in a frame, too."""
    refused = response.status_code >= 400 and response.status_code != HTTPStatus.NOT_FOUND
    if refused and "frame_origins" not in g and not wants_fragment():
        token = (request.view_args or {})["share_token"]
        allow_frames(_frames(token))
    return response


def _frames(share_token: str) -> str:
    """Who may frame the form; what was known last when the storage has just failed."""
    if "storage_failed" not in g:
        with suppress(*STORAGE_FAILURES, UnicodeError):
            return find_frame_origins(share_token)
    return LAST_KNOWN_FRAMES.get(share_token, "")


def _session() -> str:
    """The posted session, or the network of a client that posts none we would take."""
    key = request.form.get("session", "")
    return key_hash(key) if SESSION_KEY.fullmatch(key) else client_network()


_limit_addresses = limiter.shared_limit(
    lambda: settings().limit_answer_address,
    "respondents by address",
    key_func=client_network,
    methods=["POST"],
)
_limit_sessions = limiter.shared_limit(
    lambda: settings().limit_answer_session,
    "respondents",
    key_func=_session,
    methods=["POST"],
)


def _too_fast(error: RateLimitExceeded) -> Response:
    return rendering.held(
        typed("answer"),
        status=HTTPStatus.TOO_MANY_REQUESTS,
        retry_after=seconds_to_wait(error),
        limit=errors.limit_told(error.limit.limit),
    )


def _storage_failed(error: Exception) -> Response:
    """The database is locked, full or away."""
    told = errors.storage_failed(error)
    if request.method != "POST":
        return told
    return rendering.held(
        typed("answer"),
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        retry_after=STORAGE_RETRY_SECONDS,
        uncertain=may_have_stored(),
    )


def _outcome(error: Outcome) -> Response:
    """A refusal, on the page it belongs to; drawing that page may meet a refusal of its own."""
    db.session.rollback()
    draw = PAGES.get(error.code)
    if draw is None:
        return errors.outcome(error)
    try:
        return draw(error, *_visit(error))
    except Outcome as worse:
        return errors.outcome(worse)
    except HTTPException as worse:
        return errors.http_problem(worse)
    except STORAGE_FAILURES as worse:
        return _storage_failed(worse)


def _visit(error: Outcome) -> tuple[Visit, int]:
    """The visit and the 0-based position of its question; a new one for a session unknown to us."""
    values = request.view_args or {}
    token = values["share_token"]
    if error.code == "session_unknown":
        return new_visit(find_form(token)), (values.get("number") or 1) - 1
    sent = read_posted(token)
    return posted_visit(token, sent), (sent.left or values.get("number") or 1) - 1


def _question_again(error: Outcome, at: Visit, position: int) -> Response:
    text = typed("answer")
    return rendering.instead(at, left_over=text) or rendering.question(
        at, position, error=error, text=text
    )


def _no_room(error: Outcome, at: Visit, position: int) -> Response:
    """The words stay in their box, also those of somebody who had just begun."""
    return rendering.question(at, position, error=error, text=typed("answer"))


def _check_again(error: Outcome, at: Visit, _position: int) -> Response:
    return rendering.instead(at) or rendering.check(at, error=error, name=typed("name"))


def _not_open(_error: Outcome, at: Visit, _position: int) -> Response:
    return rendering.closed(at, left_over=typed("answer"))


def _already_sent(_error: Outcome, at: Visit, _position: int) -> Response:
    text = typed("answer")
    return rendering.thanks(at, left_over="" if text in at.progress.texts.values() else text)


PAGES = {
    "answer_empty": _question_again,
    "answer_too_long": _question_again,
    "answer_unsent": _question_again,
    "words_left": _question_again,
    "answer_differs": _question_again,
    "form_full": _no_room,
    "session_unknown": _question_again,
    "nothing_answered": _check_again,
    "name_too_long": _check_again,
    "form_closed": _not_open,
    "form_completed": _not_open,
    "response_completed": _already_sent,
}

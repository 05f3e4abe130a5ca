"""Limits and errors of respondents' POSTs; every error page keeps the typed text."""

from contextlib import suppress
from http import HTTPStatus

from flask import Blueprint, Flask, Response, g, request
from flask_limiter import RateLimitExceeded
from werkzeug.exceptions import HTTPException

from webapp.answers.session import QuestionNumber
from webapp.base.config import settings
from webapp.base.database.failures import STORAGE_FAILURES, may_have_stored
from webapp.base.errors import Outcome, PageCode
from webapp.base.text import token_hash
from webapp.drafts.form_settings import find_frame_origins
from webapp.pages import errors, fragments
from webapp.pages.respondent import form_data, rendering, session_view
from webapp.records.responses.models import ANSWER_MAX_CHARS
from webapp.web import extensions, security_headers
from webapp.web.limiter import client_network, limiter, seconds_to_wait
from webapp.web.request_kind import RequestKind, is_from_another_site, request_kind

STORAGE_RETRY_SECONDS = 5


def init_blueprint(bp: Blueprint, *, limit_sessions: bool = True) -> None:
    """Limit the rate of all POSTs of `bp`, and handle their errors.

    They need no CSRF token: each carries a session key or a secret that no other site can know.
    limit_sessions  False if the routes limit sessions themselves
    """
    extensions.csrf.exempt(bp)
    if limit_sessions:
        _limit_sessions(bp)
    _limit_addresses(bp)
    bp.register_error_handler(RateLimitExceeded, _too_fast)
    bp.register_error_handler(Outcome, outcome_page)
    for failure in STORAGE_FAILURES:
        bp.register_error_handler(failure, _storage_failed)
    bp.after_request(_allow_frames)


def init_app(app: Flask) -> None:
    """Refuse cross-site POSTs to respondent pages before anything else reads them.

    Respondents' POSTs carry the session in their body, so SameSite cookies do not protect them:
    another site could make the browser continue with a foreign session, or end the current one.
    Call this before the rate limits, whose page would offer to send the same form again.
    """
    app.before_request(_refuse_cross_site_post)
    app.after_request(_set_no_cookie)


def _refuse_cross_site_post() -> Response | None:
    # an address without a route gets the usual 404
    if request.url_rule is None or not _is_cross_site_post():
        return None
    share_token = (request.view_args or {})["share_token"]
    return rendering.render_cross_site_post(
        share_token, form_data.typed_anywhere()[:ANSWER_MAX_CHARS]
    )


def _set_no_cookie(response: Response) -> Response:
    """Remove the cookies that any handler has set, including language and theme."""
    if _is_cross_site_post():
        del response.headers["Set-Cookie"]
    return response


def _is_cross_site_post() -> bool:
    posted = request.method == "POST" and request_kind() is RequestKind.RESPONDENT_PAGE
    return posted and is_from_another_site()


def _allow_frames(response: Response) -> Response:
    """Let iframes show an error page that was rendered before the form was loaded."""
    refused = response.status_code >= 400 and response.status_code != HTTPStatus.NOT_FOUND
    if refused and "frame_origins" not in g and not fragments.wants_fragment():
        token = (request.view_args or {})["share_token"]
        # for a storage that failed
        security_headers.allow_frames(session_view.LAST_KNOWN_FRAMES.get(token, ""))
        if "storage_failed" not in g:
            with suppress(*STORAGE_FAILURES, UnicodeError):
                security_headers.allow_frames(find_frame_origins(token))
    return response


def session_or_network() -> str:
    """Return the hash of the posted session key, or the client's network if it is malformed."""
    key = form_data.posted_field("session")
    return token_hash(key) if form_data.SESSION_KEY.fullmatch(key) else client_network()


_limit_addresses = limiter.shared_limit(
    lambda: settings().limit_answer_address,
    "respondents by address",
    key_func=client_network,
    methods=["POST"],
)
_limit_sessions = limiter.shared_limit(
    lambda: settings().limit_answer_session,
    "respondents",
    key_func=session_or_network,
    methods=["POST"],
)


def _too_fast(error: RateLimitExceeded) -> Response:
    return rendering.render_not_saved(
        status=HTTPStatus.TOO_MANY_REQUESTS,
        retry_after=seconds_to_wait(error),
        limit=errors.limit_sentence(error.limit.limit),
    )


def _storage_failed(error: Exception) -> Response:
    """Report a database that is locked, full or unavailable."""
    response = errors.storage_failed(error)
    if request.method != "POST":
        return response
    return rendering.render_not_saved(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        retry_after=STORAGE_RETRY_SECONDS,
        uncertain=may_have_stored(),
    )


def outcome_page(error: Outcome) -> Response:
    """Return the page of an expected failure, or of a second failure while rendering it."""
    # all other codes have a page, usually the question
    if not isinstance(error.code, PageCode) or error.code is PageCode.FORM_UNREADABLE:
        return errors.outcome(error)
    try:
        return _page_of(error)
    except Outcome as worse:
        return errors.outcome(worse)
    except HTTPException as worse:
        return errors.http_problem(worse)
    except STORAGE_FAILURES as worse:
        return _storage_failed(worse)


def _page_of(error: Outcome) -> Response:
    """Return the page that was posted, with the error and the typed text, or its replacement."""
    view, place = _posted_from(error)
    text = form_data.typed("answer")
    if error.code in {PageCode.NAME_TOO_LONG, PageCode.NOTHING_ANSWERED}:
        return rendering.open_step(view, None, error=error, name=form_data.typed("name"))
    if error.code == PageCode.RESPONSE_COMPLETED:
        return rendering.thanks(
            view,
            unsent_text="" if text in view.session.texts.values() else text,
            unsent_recording=request.endpoint == "voice.upload",
        )
    if error.code in {PageCode.FORM_CLOSED, PageCode.FORM_COMPLETED}:
        return rendering.closed(view, unsent_text=text)
    if error.code == PageCode.FORM_FULL:  # keeps the text field, even for a new respondent
        return rendering.question(view, place, error=error, text=text)
    if request.endpoint == "voice.upload" and error.field == "audio":
        instead = rendering.render_instead(view, unsent_text=text)
        return instead or rendering.recorded(view, place, text=text, error=error)
    newer_alone = error.code == PageCode.ANSWER_NEWER and not text.strip()
    return rendering.open_step(view, place, error=error, text=None if newer_alone else text)


def _posted_from(error: Outcome) -> tuple[session_view.SessionView, QuestionNumber]:
    """Return the view that was posted, a new one for an unknown session, and its place."""
    values = request.view_args or {}
    token, place = values["share_token"], values.get("place") or QuestionNumber(1)
    if error.code == PageCode.SESSION_UNKNOWN:
        return session_view.new_view(session_view.find_form(token)), place
    posted = form_data.read_form_data(token)
    return session_view.posted_view(token, posted), posted.left or place

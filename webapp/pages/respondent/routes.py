"""Public pages to answer a form, one question each, with and without scripts and cookies.

A link with trailing text from a message (a full stop, a bracket, a space) is redirected. The keys
in links have a fixed length, so that no character of a key is taken for trailing text.
"""

import re
from collections.abc import Callable
from http import HTTPStatus

from flask import Blueprint, Flask, Response, request

from jobs.queue import hand_over
from webapp.answers import answering
from webapp.answers.session import QuestionNumber
from webapp.base.database import utc_now
from webapp.base.errors import PageCode
from webapp.drafts.form_settings import read_shared_picture
from webapp.pages.fragments import as_picture, wants_fragment
from webapp.pages.respondent import error_handling, follow_ups, form_data, rendering, session_view
from webapp.pages.respondent.rendering import by_get, next_question
from webapp.voice.transcripts import note_shown
from webapp.web.deferred_writes import count_link_view
from webapp.web.request_kind import says_in_iframe
from webapp.web.url_converters import quoted_query

FIRST = QuestionNumber(1)
LINK = re.compile(
    r"(?P<link>/join/[\w-]{43}"
    r"|/r/(?P<share_token>[\w-]{22})(?:/|/q/\d+(?:/f/\d+)?|/check|/done|/sent|/continue/[\w-]{32})?)"
    r"(?!\.\d)[^0-9A-Za-z/].*",  # 1.5 is not a question number
    re.ASCII | re.DOTALL,
)

bp = Blueprint("respond", __name__, url_prefix="/r/<share_token>")
error_handling.init_blueprint(bp)


def init_app(app: Flask) -> None:
    """Redirect addresses with trailing text to the link; an unknown form still gives 404."""
    app.before_request(_open_pasted_link)


def _open_pasted_link() -> Response | None:
    found = LINK.fullmatch(request.path) if request.method in {"GET", "HEAD"} else None
    if not found:
        return None
    if found["share_token"]:
        session_view.find_form(found["share_token"])
    query = quoted_query(request.query_string)
    address = found["link"] + (f"?{query}" if query else "")
    return Response(status=HTTPStatus.SEE_OTHER, headers={"Location": address})


@bp.get("")
def start(share_token: str) -> Response:
    """Show the first question; redirect a returning respondent to where they stopped."""
    view = session_view.view_by_cookie(share_token)
    if not view.session.started:
        count_link_view(share_token)
        return rendering.open_step(view, FIRST)
    if view.session.completed_at:
        return rendering.redirect_to("respond.done", share_token)
    return rendering.redirect_to_step(share_token, view.steps.next_place())


@bp.get("/")
def slash(share_token: str) -> Response:
    """Redirect from the link with a trailing slash, which some programs add."""
    return rendering.redirect_to("respond.start", share_token)


@bp.get("/q/<question:place>")
def ask(share_token: str, place: QuestionNumber) -> Response:
    """Show a question with its answer."""
    return rendering.open_step(session_view.view_by_cookie(share_token), place)


@bp.get("/picture/<digest>")
def show_picture(share_token: str, digest: str) -> Response:
    """Return the asker's picture, if it is the one of this form."""
    session_view.find_form(share_token)  # lets the form's origins embed it
    return as_picture(read_shared_picture(share_token, digest))


@bp.post("/resume")
def resume(share_token: str) -> Response:
    """Show where the posted session stopped, after a reload in a browser without cookies."""
    view = session_view.posted_view(share_token, form_data.read_form_data(share_token))
    return rendering.open_step(view, view.steps.next_place())


@bp.post("/q/<question:place>")
def answer(share_token: str, place: QuestionNumber) -> Response:
    """Store the answer, then ask the next open question."""
    posted = form_data.read_form_data(share_token, "answer_key")
    if form_data.posted_field("audio") or form_data.posted_file():
        raise form_data.refusal(PageCode.RECORDING_UNSENT)
    shown = form_data.posted_field("shown")  # the transcript of the recording
    if shown and posted.recording and not posted.answer.strip():
        note_shown(posted.session_key, posted.recording)
    answered = answering.answer_question(
        share_token,
        posted.session_key,
        position=place.number - 1,
        follow_up=place.follow_up,
        answer_text=posted.answer,
        answer_key=form_data.posted_field("answer_key"),
        recording_id=posted.recording,
        blank=bool(form_data.posted_field("blank")),
        replaces=posted.replaces,
        now=utc_now(),
        signs=posted.signs,
    )
    view = session_view.view_of(answered.session, posted.session_key, remembered=posted.remembered)
    if view.form.asks_follow_ups:
        return follow_ups.after_answer(view, posted, place, is_new=answered.is_new)
    return next_question(view, posted, view.steps.next_place(place), answered=place)


@bp.post("/q/<question:place>/skip")
def skip(share_token: str, place: QuestionNumber) -> Response:
    """Skip the question and supersede its answer."""
    posted = form_data.read_form_data(share_token)
    _require_nothing_to_lose(share_token, posted, place)
    session = answering.skip_question(
        share_token,
        posted.session_key,
        position=place.number - 1,
        follow_up=place.follow_up,
        replaces=posted.replaces,
        now=utc_now(),
    )
    view = session_view.view_of(session, posted.session_key, remembered=posted.remembered)
    return next_question(view, posted, view.steps.next_place(place))


@bp.post("/q/<question:place>/open")
def open_question(share_token: str, place: QuestionNumber) -> Response:
    """Show a question and its answer for Back and Change, by the posted session."""
    posted = form_data.read_form_data(share_token)
    _require_nothing_unsent(share_token, posted)
    words = form_data.typed_along("answer")
    if words is None and by_get(posted):
        return rendering.redirect_to_step(share_token, place)
    return rendering.open_step(session_view.posted_view(share_token, posted), place, text=words)


@bp.get("/check")
def check(share_token: str) -> Response:
    """Show all answers for review."""
    view = session_view.view_by_cookie(share_token)
    if not view.session.started:
        return rendering.redirect_to("respond.start", share_token)
    return rendering.open_step(view, None)


@bp.post("/check/open")
def open_check(share_token: str) -> Response:
    """Show the review page again, by the posted session."""
    posted = form_data.read_form_data(share_token)
    _require_nothing_unsent(share_token, posted)
    name = form_data.typed_along("name")
    if name is None and by_get(posted):
        return rendering.redirect_to_step(share_token, None)
    return rendering.open_step(session_view.posted_view(share_token, posted), None, name=name or "")


@bp.post("/check")
def send(share_token: str) -> Response:
    """Complete the response; sending twice sends once."""
    posted = form_data.read_form_data(share_token)
    queued = answering.complete_response(
        share_token,
        posted.session_key,
        responder_name=form_data.typed("name"),
        now=utc_now(),
        signs=posted.signs,
    )
    hand_over(queued or [])
    return _if_sent(share_token, rendering.thanks, "respond.done")


@bp.get("/done")
@bp.post("/done/open", endpoint="open_done")
def done(share_token: str) -> Response:
    """Show the thank-you page, with a button to delete the response."""
    return _if_sent(share_token, rendering.thanks, "respond.done")


@bp.get("/sent")
@bp.post("/sent", endpoint="open_sent")
def show_sent(share_token: str) -> Response:
    """Show the sent answers."""
    return _if_sent(share_token, rendering.sent, "respond.show_sent")


@bp.post("/withdraw")
def withdraw(share_token: str) -> Response:
    """Ask for confirmation before deleting."""
    view = session_view.posted_view(share_token, form_data.read_form_data(share_token))
    return rendering.page("withdrawal", view)


@bp.post("/withdraw/now")
def withdraw_now(share_token: str) -> Response:
    """Delete the session with all its answers."""
    session_key = form_data.read_form_data(share_token).session_key
    answering.withdraw_response(share_token, session_key, now=utc_now())
    view = session_view.new_view(session_view.find_form(share_token))
    response = rendering.page("withdrawn", view, push="respond.start")
    form_data.forget(response, share_token)
    return response


@bp.post("/another")
def another(share_token: str) -> Response:
    """Begin another response; the completed one stays as it is."""
    if form_data.remembered_key(share_token) and not (wants_fragment() or says_in_iframe()):
        response = rendering.redirect_to("respond.start", share_token)
    else:
        view = session_view.new_view(session_view.find_form(share_token))
        response = rendering.open_step(view, FIRST)
    form_data.forget(response, share_token)
    return response


def _require_nothing_to_lose(
    share_token: str, posted: form_data.FormData, place: QuestionNumber
) -> None:
    """Raise InvalidInput `answer_unsent` or `recording_unclaimed` if skipping would lose input."""
    if wants_fragment() or not (posted.answer.strip() or posted.recording):
        return
    view = session_view.posted_view(share_token, posted)
    if posted.answer.strip() and not view.text(place):
        raise form_data.refusal(PageCode.ANSWER_UNSENT)
    if posted.recording in {each.id for each in view.session.uploads.values()}:
        raise form_data.refusal(PageCode.RECORDING_UNCLAIMED)


def _require_nothing_unsent(share_token: str, posted: form_data.FormData) -> None:
    """Raise InvalidInput `unsaved_text` if leaving the question would lose newly typed text."""
    if not posted.left or not posted.answer.strip() or wants_fragment():
        return
    if session_view.posted_view(share_token, posted).text(posted.left) != posted.answer:
        raise form_data.refusal(PageCode.UNSAVED_TEXT)


def _if_sent(
    share_token: str, draw: Callable[[session_view.SessionView], Response], endpoint: str
) -> Response:
    """Show a page of a completed response; show the check page or the start if it is not sent.

    endpoint  the page's address for a GET, which finds the session by the cookie
    """
    posted = form_data.read_form_data(share_token) if request.method == "POST" else None
    if posted and by_get(posted):
        return rendering.redirect_to(endpoint, share_token)
    if posted:
        view = session_view.posted_view(share_token, posted)
    else:
        view = session_view.view_by_cookie(share_token)
    if view.session.completed_at:
        return draw(view)
    return rendering.check(view) if posted else rendering.redirect_to("respond.start", share_token)

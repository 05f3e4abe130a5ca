"""Answering a form in public, one question per page, with and without scripts and cookies."""

from collections.abc import Callable

from flask import Blueprint, Response

from jobs.queue import hand_over
from webapp.answers import answering
from webapp.answers.steps import QuestionNumber
from webapp.base.config import settings
from webapp.base.database import utc_now
from webapp.base.error_codes import PageCode
from webapp.drafts.form_settings import read_shared_picture
from webapp.pages.fragments import wants_fragment
from webapp.pages.pictures import as_picture
from webapp.pages.respondent import error_handling, follow_ups, rendering
from webapp.pages.respondent.form_data import (
    GOING_BACK,
    SKIPPING,
    FormData,
    forget,
    read_form_data,
    recording_unclaimed,
    recording_unsent,
    remembered_key,
    typed_along,
    unsent,
)
from webapp.pages.respondent.rendering import by_get, next_question, scripted_number
from webapp.pages.respondent.session_view import (
    SessionView,
    find_form,
    new_view,
    posted_view,
    view_by_cookie,
    view_of,
)
from webapp.voice.transcripts import note_shown
from webapp.web.deferred_writes import count_link_view
from webapp.web.extensions import csrf
from webapp.web.request_kind import says_in_iframe

FIRST = QuestionNumber(1)

Draw = Callable[[SessionView], Response]

bp = Blueprint("respond", __name__, url_prefix="/r/<share_token>")
# The session key in the body, which no other site can know, is the proof of intent
csrf.exempt(bp)
error_handling.add_limits_and_error_handlers(bp)


@bp.get("")
def start(share_token: str) -> Response:
    """The first question; for a returning respondent, a redirect to where they stopped."""
    view = view_by_cookie(share_token)
    if not view.session.started:
        count_link_view(share_token)
        return rendering.render_instead(view) or rendering.question(view, FIRST)
    return _redirect_to_next(view)


@bp.get("/")
def slash(share_token: str) -> Response:
    """The link with a trailing slash, as some programs write it."""
    return rendering.redirect_to("respond.start", share_token)


@bp.get("/q/<int:number>", defaults={"follow_up": 0})
@bp.get("/q/<int:number>/f/<int:follow_up>")
def ask(share_token: str, number: int, follow_up: int) -> Response:
    """A question, with the answer it has."""
    view = view_by_cookie(share_token)
    return rendering.render_instead(view) or rendering.question(
        view, QuestionNumber(number, follow_up)
    )


@bp.get("/picture/<digest>")
def show_picture(share_token: str, digest: str) -> Response:
    """The picture of who asks, of this form alone."""
    find_form(share_token)  # whose origins may embed it
    return as_picture(read_shared_picture(share_token, digest))


@bp.post("/resume")
def resume(share_token: str) -> Response:
    """Where the posted session stopped, for a reload in a browser without cookies."""
    posted = read_form_data(share_token)
    view = posted_view(share_token, posted)
    return rendering.render_instead(view) or rendering.question_or_check(
        view, view.steps.next_place()
    )


@bp.post("/q/<int:number>", defaults={"follow_up": 0})
@bp.post("/q/<int:number>/f/<int:follow_up>")
def answer(share_token: str, number: int, follow_up: int) -> Response:
    """Store the answer, then ask the next open question."""
    posted = read_form_data(share_token, "answer_key")
    if posted.chosen_file:
        raise recording_unsent()
    if posted.shown and posted.recording and not posted.answer.strip():
        note_shown(posted.session_key, posted.recording)
    answered = answering.answer_question(
        share_token,
        posted.session_key,
        position=number - 1,
        follow_up=follow_up,
        answer_text=posted.answer,
        answer_key=posted.answer_key,
        recording_id=posted.recording,
        blank=posted.blank,
        replaces=posted.replaces,
        now=utc_now(),
        signs=posted.signs,
        form_bytes_max=settings().limit_form_bytes,
    )
    place = QuestionNumber(number, follow_up)
    view = view_of(answered.session, posted.session_key, remembered=posted.remembered)
    if view.form.asks_follow_ups:
        return follow_ups.after_answer(view, posted, place, is_new=answered.is_new)
    following = view.steps.next_place(place)
    return next_question(view, posted, following, just_answered=scripted_number(place))


@bp.post("/q/<int:number>/skip", defaults={"follow_up": 0})
@bp.post("/q/<int:number>/f/<int:follow_up>/skip")
def skip(share_token: str, number: int, follow_up: int) -> Response:
    """Skip the question; an answer it had is superseded."""
    posted = read_form_data(share_token)
    place = QuestionNumber(number, follow_up)
    _require_nothing_to_lose(share_token, posted, place)
    session = answering.skip_question(
        share_token,
        posted.session_key,
        position=number - 1,
        follow_up=follow_up,
        replaces=posted.replaces,
        now=utc_now(),
    )
    view = view_of(session, posted.session_key, remembered=posted.remembered)
    return next_question(view, posted, view.steps.next_place(place))


@bp.post("/q/<int:number>/open", defaults={"follow_up": 0})
@bp.post("/q/<int:number>/f/<int:follow_up>/open")
def open_question(share_token: str, number: int, follow_up: int) -> Response:
    """Back and Change: the question with its answer, found by the posted session."""
    _require_nothing_unsent(share_token)
    words = typed_along("answer")
    place = QuestionNumber(number, follow_up)
    return _page_by_post(
        share_token,
        lambda view: (
            rendering.render_instead(view, unsent_text=words or "")
            or rendering.question(view, place, text=words)
        ),
        "respond.ask",
        place,
        by_post=words is not None,
    )


@bp.get("/check")
def check(share_token: str) -> Response:
    """All answers for review."""
    view = view_by_cookie(share_token)
    if not view.session.started:
        return rendering.redirect_to("respond.start", share_token)
    return rendering.render_instead(view) or rendering.check(view)


@bp.post("/check/open")
def open_check(share_token: str) -> Response:
    """Back to the review page, found by the posted session."""
    _require_nothing_unsent(share_token)
    name = typed_along("name")
    return _page_by_post(
        share_token,
        lambda view: rendering.render_instead(view) or rendering.check(view, name=name or ""),
        "respond.check",
        by_post=name is not None,
    )


@bp.post("/check")
def send(share_token: str) -> Response:
    """Complete the response; sending twice sends once."""
    posted = read_form_data(share_token)
    queued = answering.complete_response(
        share_token,
        posted.session_key,
        responder_name=posted.name,
        now=utc_now(),
        signs=posted.signs,
        events=settings().mcp_events_enabled,
    )
    hand_over(queued or [])
    if by_get(posted):
        return rendering.redirect_to("respond.done", share_token)
    return rendering.thanks(posted_view(share_token, posted))


@bp.get("/done")
def done(share_token: str) -> Response:
    """The thank-you page, with a button to delete the response."""
    return _get_if_sent(share_token, rendering.thanks)


@bp.post("/done/open")
def open_done(share_token: str) -> Response:
    """Back to the thank-you page, found by the posted session."""
    return _page_by_post(share_token, _if_sent(rendering.thanks), "respond.done")


@bp.get("/sent")
def show_sent(share_token: str) -> Response:
    """What was sent."""
    return _get_if_sent(share_token, rendering.sent)


@bp.post("/sent")
def open_sent(share_token: str) -> Response:
    """What was sent, found by the posted session."""
    return _page_by_post(share_token, _if_sent(rendering.sent), "respond.show_sent")


@bp.post("/withdraw")
def withdraw(share_token: str) -> Response:
    """Ask for confirmation before deleting."""
    return rendering.withdrawal(posted_view(share_token, read_form_data(share_token)))


@bp.post("/withdraw/now")
def withdraw_now(share_token: str) -> Response:
    """Delete the session with all its answers."""
    session_key = read_form_data(share_token).session_key
    answering.withdraw_response(share_token, session_key, now=utc_now())
    return rendering.withdrawn(find_form(share_token))


@bp.post("/another")
def another(share_token: str) -> Response:
    """Begin another response; the completed one stays as it is."""
    if remembered_key(share_token) and not (wants_fragment() or says_in_iframe()):
        response = rendering.redirect_to("respond.start", share_token)
    else:
        view = new_view(find_form(share_token))
        response = rendering.render_instead(view) or rendering.question(view, FIRST)
    forget(response, share_token)
    return response


def _view_with_unsent_text(share_token: str, posted: FormData) -> SessionView | None:
    """The visit if its question is left with typed text and no script to keep it, else None."""
    if not posted.answer.strip() or wants_fragment():
        return None
    return posted_view(share_token, posted)


def _require_nothing_to_lose(share_token: str, posted: FormData, place: QuestionNumber) -> None:
    """Raise InvalidInput `answer_unsent` or `recording_unsent` for what only this page has."""
    view = _view_with_unsent_text(share_token, posted)
    if view and not view.text(place):
        raise unsent(PageCode.ANSWER_UNSENT, SKIPPING)
    if not posted.recording or wants_fragment():
        return
    recording = posted_view(share_token, posted).recording_by_id(posted.recording)
    if recording and not recording.claimed:
        raise recording_unclaimed()


def _require_nothing_unsent(share_token: str) -> None:
    """Raise InvalidInput `unsaved_text` if leaving the question would lose newly typed text."""
    posted = read_form_data(share_token)
    view = _view_with_unsent_text(share_token, posted) if posted.left else None
    if view and posted.left and view.text(posted.left) != posted.answer:
        raise unsent(PageCode.UNSAVED_TEXT, GOING_BACK)


def _page_by_post(
    share_token: str,
    draw: Draw,
    endpoint: str,
    place: QuestionNumber | None = None,
    *,
    by_post: bool = False,
) -> Response:
    """A page asked for by POST: a redirect if the cookie names the session, else the page."""
    posted = read_form_data(share_token)
    if by_get(posted) and not by_post:
        return rendering.redirect_to(endpoint, share_token, place)
    return draw(posted_view(share_token, posted))


def _if_sent(draw: Draw) -> Draw:
    return lambda view: draw(view) if view.session.completed_at else rendering.check(view)


def _get_if_sent(share_token: str, draw: Draw) -> Response:
    """A page that only a completed response has, asked for by GET."""
    view = view_by_cookie(share_token)
    if not view.session.completed_at:
        return rendering.redirect_to("respond.start", share_token)
    return draw(view)


def _redirect_to_next(view: SessionView) -> Response:
    token = view.form.share_token
    if view.session.completed_at:
        return rendering.redirect_to("respond.done", token)
    place = view.steps.next_place()
    return rendering.redirect_to("respond.ask" if place else "respond.check", token, place)

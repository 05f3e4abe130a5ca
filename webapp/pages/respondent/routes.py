"""Answering a form in public, one question per page, with and without scripts and cookies."""

from collections.abc import Callable

from flask import Blueprint, Response

from webapp.config import settings
from webapp.database import utc_now
from webapp.domain.respondents import answering
from webapp.pages.fragments import wants_fragment
from webapp.pages.respondent import error_handling, rendering
from webapp.pages.respondent.form_data import (
    GOING_BACK,
    SKIPPING,
    Posted,
    read_posted,
    typed_along,
    unsent,
)
from webapp.pages.respondent.session_cookie import forget, remembered_key
from webapp.pages.respondent.visit import Visit, find_form, new_visit, posted_visit, visit
from webapp.web.extensions import csrf
from webapp.web.iframes import says_framed
from webapp.web.link_view_counter import count_link_view

Draw = Callable[[Visit], Response]

bp = Blueprint("respond", __name__, url_prefix="/r/<share_token>")
# The session key in the body, which no other site can know, is the proof of intent
csrf.exempt(bp)
error_handling.guard(bp)


@bp.get("")
def start(share_token: str) -> Response:
    """The first question at once; for somebody who comes back, where they stopped."""
    at = visit(share_token)
    if not at.progress.started:
        count_link_view(share_token)
        return rendering.instead(at) or rendering.question(at, 0)
    return _next(at)


@bp.get("/")
def slash(share_token: str) -> Response:
    """The link with a slash behind it, as some programs write it."""
    return rendering.see("respond.start", share_token)


@bp.get("/q/<int:number>")
def ask(share_token: str, number: int) -> Response:
    """Question `number`, from 1, with the answer it has."""
    at = visit(share_token)
    return rendering.instead(at) or rendering.question(at, number - 1)


@bp.post("/resume")
def resume(share_token: str) -> Response:
    """Where the session in the body stopped: for a reload in a browser without cookies."""
    sent = read_posted(share_token)
    at = posted_visit(share_token, sent)
    return rendering.instead(at) or rendering.open_slip(at, at.next_open)


@bp.post("/q/<int:number>")
def answer(share_token: str, number: int) -> Response:
    """Store the answer, then ask the next open question."""
    sent = read_posted(share_token, "answer_key")
    following = answering.answer_question(
        share_token,
        sent.session_key,
        position=number - 1,
        answer_text=sent.answer,
        answer_key=sent.answer_key,
        now=utc_now(),
        signs=sent.signs,
        form_bytes_max=settings().limit_form_bytes,
    )
    return _go_on(share_token, sent, following)


@bp.post("/q/<int:number>/skip")
def skip(share_token: str, number: int) -> Response:
    """Pass over the question; an answer it had is taken back."""
    sent = read_posted(share_token)
    at = _leaving_words(share_token, sent)
    if at and not at.text(number):
        raise unsent("answer_unsent", SKIPPING)
    following = answering.skip_question(
        share_token, sent.session_key, position=number - 1, now=utc_now()
    )
    return _go_on(share_token, sent, following)


@bp.post("/q/<int:number>/open")
def open_question(share_token: str, number: int) -> Response:
    """Back and Change: the question with its answer, found without a cookie."""
    _require_words_sent(share_token)
    words = typed_along("answer")
    return _found(
        share_token,
        lambda at: (
            rendering.instead(at, left_over=words or "")
            or rendering.question(at, number - 1, text=words)
        ),
        "respond.ask",
        number=number,
        by_post=words is not None,
    )


@bp.get("/check")
def check(share_token: str) -> Response:
    """All answers to read over."""
    at = visit(share_token)
    if not at.progress.started:
        return rendering.see("respond.start", share_token)
    return rendering.instead(at) or rendering.check(at)


@bp.post("/check/open")
def open_check(share_token: str) -> Response:
    """Back to the answers, found without a cookie."""
    _require_words_sent(share_token)
    name = typed_along("name")
    return _found(
        share_token,
        lambda at: rendering.instead(at) or rendering.check(at, name=name or ""),
        "respond.check",
        by_post=name is not None,
    )


@bp.post("/check")
def send(share_token: str) -> Response:
    """Complete the response; sending twice sends once."""
    sent = read_posted(share_token)
    answering.complete_response(
        share_token,
        sent.session_key,
        responder_name=sent.name,
        now=utc_now(),
        signs=sent.signs,
    )
    if _by_get(sent):
        return rendering.see("respond.done", share_token)
    return rendering.thanks(posted_visit(share_token, sent))


@bp.get("/done")
def done(share_token: str) -> Response:
    """Thank you, with the way to delete."""
    return _when_sent(share_token, rendering.thanks)


@bp.post("/done/open")
def open_done(share_token: str) -> Response:
    """Back to the thank-you page, found without a cookie."""
    return _found(share_token, _once_sent(rendering.thanks), "respond.done")


@bp.get("/sent")
def show_sent(share_token: str) -> Response:
    """What was sent."""
    return _when_sent(share_token, rendering.sent)


@bp.post("/sent")
def open_sent(share_token: str) -> Response:
    """What was sent, found without a cookie."""
    return _found(share_token, _once_sent(rendering.sent), "respond.show_sent")


@bp.post("/withdraw")
def withdraw(share_token: str) -> Response:
    """Ask once more before deleting."""
    return rendering.withdrawal(posted_visit(share_token, read_posted(share_token)))


@bp.post("/withdraw/now")
def withdraw_now(share_token: str) -> Response:
    """Delete the session with all its answers."""
    answering.withdraw_response(share_token, read_posted(share_token).session_key)
    return rendering.withdrawn(find_form(share_token))


@bp.post("/another")
def another(share_token: str) -> Response:
    """Begin another response; the one before stays as it is."""
    if remembered_key(share_token) and not (wants_fragment() or says_framed()):
        response = rendering.see("respond.start", share_token)
    else:
        at = new_visit(find_form(share_token))
        response = rendering.instead(at) or rendering.question(at, 0)
    forget(response, share_token)
    return response


def _go_on(share_token: str, sent: Posted, following: int | None) -> Response:
    if _by_get(sent):
        if following is None:
            return rendering.see("respond.check", share_token)
        return rendering.see("respond.ask", share_token, number=following + 1)
    return rendering.open_slip(posted_visit(share_token, sent), following)


def _leaving_words(share_token: str, sent: Posted) -> Visit | None:
    """The visit of somebody who leaves words in a box, which no script has kept there."""
    if not sent.answer.strip() or wants_fragment():
        return None
    return posted_visit(share_token, sent)


def _require_words_sent(share_token: str) -> None:
    """Raise InvalidInput rather than drop new words in the box of the question that is left."""
    sent = read_posted(share_token)
    at = _leaving_words(share_token, sent) if sent.left else None
    if at and at.text(sent.left) != sent.answer:
        raise unsent("words_left", GOING_BACK)


def _found(
    share_token: str,
    draw: Draw,
    endpoint: str,
    number: int | None = None,
    *,
    by_post: bool = False,
) -> Response:
    """A page asked for by POST: by its address where the cookie suffices, else drawn at once."""
    sent = read_posted(share_token)
    if _by_get(sent) and not by_post:
        return rendering.see(endpoint, share_token, number=number)
    return draw(posted_visit(share_token, sent))


def _once_sent(draw: Draw) -> Draw:
    return lambda at: draw(at) if at.progress.completed_at else rendering.check(at)


def _when_sent(share_token: str, draw: Draw) -> Response:
    """A page that only a completed response has, asked for by GET."""
    at = visit(share_token)
    return draw(at) if at.progress.completed_at else rendering.see("respond.start", share_token)


def _by_get(sent: Posted) -> bool:
    """True when the next page can be fetched by its address: the cookie names this session."""
    return sent.remembered and not wants_fragment()


def _next(at: Visit) -> Response:
    token = at.form.share_token
    if at.progress.completed_at:
        return rendering.see("respond.done", token)
    if at.next_open is None:
        return rendering.see("respond.check", token)
    return rendering.see("respond.ask", token, number=at.next_open + 1)

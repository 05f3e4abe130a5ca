"""Rendering of respondents' pages, whole or as fragments."""

import secrets
from http import HTTPStatus
from typing import Any

from flask import Response, current_app, g, request, url_for

from webapp.answers.session import VERSION_CHARS, QuestionNumber
from webapp.base.config import settings
from webapp.base.errors import Outcome, PageCode
from webapp.pages import filters, fragments
from webapp.pages.respondent import page_cache
from webapp.pages.respondent.form_data import FormData, posted_field, remember, typed
from webapp.pages.respondent.session_view import SessionView
from webapp.web.request_kind import says_in_iframe

SHOWING_THE_NEWEST = {PageCode.ANSWER_DIFFERS, PageCode.ANSWER_NEWER}


def open_step(
    view: SessionView, place: QuestionNumber | None, *, text: str | None = None, **shown: Any
) -> Response:
    """Render the question at a place, or the check page for None, or what replaces them.

    shown  as in `question`
    """
    if instead := render_instead(view, unsent_text=text or ""):
        return instead
    return check(view, **shown) if place is None else question(view, place, text=text, **shown)


def render_instead(view: SessionView, *, unsent_text: str = "") -> Response | None:
    """Render the page of a sent response or a closed form, which replaces questions; else None."""
    if view.session.completed_at:
        return thanks(view, unsent_text=unsent_text)
    if not view.may_answer:
        return closed(view, unsent_text=unsent_text)
    return None


def question(
    view: SessionView,
    place: QuestionNumber,
    *,
    error: Outcome | None = None,
    text: str | None = None,
    just_answered: int = 0,
) -> Response:
    """Render one question with its stored answer, or with `error` and the refused `text`.

    just_answered  number of the question whose stroke is drawn, 0 for none
    """
    step = view.asked_step(place)
    saw_newest = error.code in SHOWING_THE_NEWEST if error else text is None
    shows_older = not saw_newest and "replaces" in request.form
    long = step.asked and len(step.text) > filters.LONG_QUESTION_CHARS  # shown in another size
    return page(
        "question",
        view,
        push="" if error else "respond.ask",
        place=place,
        cached=not (error or text is not None or view.recording(place) or long),
        typed=text,
        error=error,
        just_answered=just_answered,
        replaces=posted_field("replaces")[:VERSION_CHARS] if shows_older else None,
    )


def recorded(
    view: SessionView, place: QuestionNumber, *, text: str, error: Outcome | None = None
) -> Response:
    """Render the question after an upload or its refusal; for scripts, only its recorder."""
    if not fragments.wants_fragment():
        return question(view, place, error=error, text=text)
    g.is_part = True
    return page("_recorder", view, place=place, error=error)


def check(
    view: SessionView, *, error: Outcome | None = None, name: str = "", just_answered: int = 0
) -> Response:
    """Render the check page: all answers, the optional name, Send; arguments as in `question`."""
    return page(
        "check",
        view,
        push="respond.check",
        cached=not (error or name or view.session.recordings or view.session.follow_ups),
        error=error,
        name=name,
        just_answered=just_answered,
    )


def thanks(view: SessionView, *, unsent_text: str = "", unsent_recording: bool = False) -> Response:
    """Render the page of a completed response.

    unsent_text       text that came too late to be part of the response
    unsent_recording  a recording came too late and was not stored: the browser hands it back
    """
    return page(
        "thanks",
        view,
        status=HTTPStatus.CONFLICT if unsent_recording else HTTPStatus.OK,
        push="respond.done",
        cached=not (unsent_text.strip() or unsent_recording or view.session.uploads),
        unsent_text=unsent_text.strip() and unsent_text,
        unsent_recording=unsent_recording,
    )


def sent(view: SessionView) -> Response:
    """Render the sent answers, read-only."""
    return page("sent", view, push="respond.show_sent")


def closed(view: SessionView, *, unsent_text: str = "") -> Response:
    """Render the page of a form that takes no answers; `unsent_text` was not stored."""
    return page("closed", view, status=HTTPStatus.GONE, unsent_text=unsent_text)


def render_not_saved(
    *, status: HTTPStatus, retry_after: int, uncertain: bool = False, limit: str = ""
) -> Response:
    """Render the posted answer with a button that sends the same form again.

    Does not use the database, which may be the cause.
    retry_after  seconds
    uncertain    the text may be saved; sending it again saves it only once
    limit        sentence about the limit that was reached
    """
    framed = says_in_iframe()
    body = _render(
        "not_saved",
        **layout_of(framed=framed),
        too_fast=status == HTTPStatus.TOO_MANY_REQUESTS,
        limit=limit,
        uncertain=uncertain,
        fields={name: posted_field(name) for name in request.form if name != "answer"},
        text=typed("answer"),
        recording=request.endpoint == "voice.upload",
        path=request.path + ("?embed=1" if framed else ""),
    )
    response = Response(body, status, {"Retry-After": str(retry_after)})
    if uncertain:  # retry.js reads this and keeps the open page
        response.headers["Askback-Outcome"] = "unknown"
    return response


def render_cross_site_post(share_token: str, text: str) -> Response:
    """Render the posted text and a link to the form; use nothing else of the POST.

    Does not use the database.
    """
    here = url_for("respond.start", share_token=share_token)
    layout = layout_of(framed=says_in_iframe())
    return Response(
        _render("cross_site_post", **layout, here=here, text=text), HTTPStatus.FORBIDDEN
    )


def redirect_to(endpoint: str, share_token: str, **values: Any) -> Response:
    """Redirect (303) to another page of this form."""
    embed = 1 if says_in_iframe() else None
    url = url_for(endpoint, share_token=share_token, embed=embed, **values)
    return Response(status=HTTPStatus.SEE_OTHER, headers={"Location": url})


def redirect_to_step(share_token: str, place: QuestionNumber | None) -> Response:
    """Redirect (303) to a question, or to the check page for None."""
    endpoint = "respond.check" if place is None else "respond.ask"
    return redirect_to(endpoint, share_token, place=place)


def page(
    template: str,
    view: SessionView,
    *,
    status: HTTPStatus | None = None,
    push: str = "",
    place: QuestionNumber | None = None,
    cached: bool = False,
    **context: Any,
) -> Response:
    """Render the page of a template.

    status  by default 200, or 422 with an `error` in the context
    push    endpoint of its address in the browser history, "" for none
    place   of the question that it asks
    cached  the context contains nothing personal
    """
    layout = layout_of(framed=view.framed)

    def draw(shown: SessionView, answer_key: str) -> str:
        own = {"view": shown, "answer_key": answer_key, "place": place}
        return _render(template, **own, **layout, **context)

    if cached:
        whole = template == "check"
        body = page_cache.render(
            view, template, layout, context, draw=draw, place=place, whole=whole
        )
    else:
        body = draw(view, secrets.token_urlsafe(16))
    push_url = None
    if push and fragments.wants_fragment() and not view.framed:
        push_url = url_for(push, share_token=view.form.share_token, place=place)
    usual = HTTPStatus.UNPROCESSABLE_ENTITY if context.get("error") else HTTPStatus.OK
    response = fragments.drawn(body, status=status or usual, push_url=push_url)
    if request.method == "POST" and (view.session.started or view.session.uploads):
        remember(response, view.form.share_token, view.session_key)
    return response


def layout_of(*, framed: bool) -> dict[str, Any]:
    """Return the values of the layout, for a whole page or for what htmx swaps."""
    swapped = fragments.wants_fragment()
    layout = "respondent/swap.html" if swapped else "base/respondent.html"
    origin = settings().public_url
    return {"layout": layout, "swapped": swapped, "framed": framed, "origin": origin}


def _render(page_name: str, **context: Any) -> str:
    # without context processors: they query the database for the signed-in account, not needed here
    template = current_app.jinja_env.get_template(f"respondent/{page_name}.html")
    return template.render(**context)


def next_question(
    view: SessionView,
    posted: FormData,
    place: QuestionNumber | None,
    *,
    answered: QuestionNumber | None = None,
) -> Response:
    """Show the question at a place, or the check page for None.

    answered  the question that was just answered: the stroke of a scripted one is drawn
    """
    if by_get(posted):
        return redirect_to_step(view.form.share_token, place)
    stroke = answered.number if answered and not answered.follow_up else 0
    return open_step(view, place, just_answered=stroke)


def by_get(posted: FormData) -> bool:
    """Return True if the next page can be fetched by GET, because the cookie has this session."""
    return posted.remembered and not fragments.wants_fragment()

"""Pages of respondents, and the next question in place."""

import secrets
from http import HTTPStatus
from typing import Any, TypeAlias

from flask import Response, current_app, g, request, url_for

from webapp.answers.session import VERSION_CHARS, RespondentForm
from webapp.answers.steps import QuestionNumber, Step
from webapp.base.config import settings
from webapp.base.error_codes import PageCode
from webapp.base.errors import Outcome
from webapp.base.limits import ANSWER_MAX_CHARS, SPOKEN_ANSWER_MAX_CHARS
from webapp.pages.filters import drawn_code
from webapp.pages.fragments import drawn, wants_fragment
from webapp.pages.respondent import page_cache
from webapp.pages.respondent.form_data import FormData, forget, posted_fields, remember
from webapp.pages.respondent.session_view import SessionView, new_view
from webapp.web.request_kind import says_in_iframe

Push: TypeAlias = tuple[str, dict[str, Any]]
SHOWING_THE_NEWEST = {PageCode.ANSWER_DIFFERS, PageCode.ANSWER_NEWER}


def render_instead(view: SessionView, *, unsent_text: str = "") -> Response | None:
    """The page shown in place of any question: sent already, or closed; None if neither."""
    if view.session.completed_at:
        return thanks(view, unsent_text=unsent_text)
    if not view.may_answer:
        return closed(view, unsent_text=unsent_text)
    return None


def question_or_check(
    view: SessionView, place: QuestionNumber | None, *, just_answered: int = 0
) -> Response:
    """The question at a place; the check page for None. `just_answered` as in `question`."""
    return (
        check(view, just_answered=just_answered)
        if place is None
        else question(view, place, just_answered=just_answered)
    )


def question(
    view: SessionView,
    place: QuestionNumber,
    *,
    error: Outcome | None = None,
    text: str | None = None,
    just_answered: int = 0,
) -> Response:
    """One question with its stored answer, or with `error` and the `text` that was refused; the
    stroke of the question `just_answered` is drawn, 0 for none.
    """
    step = view.asked_step(place)
    layout = layout_of(framed=view.framed)
    own = error or text is not None or view.recording(place)
    if own or not page_cache.is_for_cache(view, step):
        key = secrets.token_urlsafe(16)
        body = _question(
            view, step, layout, error=error, text=text, answer_key=key, just_answered=just_answered
        )
    else:
        key = page_cache.ANSWER_KEY
        body = page_cache.render(
            view,
            ("question", place.path, just_answered),
            layout,
            by=lambda nobody: _question(
                nobody,
                nobody.asked_step(place),
                layout,
                answer_key=key,
                just_answered=just_answered,
            ),
            step=step,
        )
    if error:
        return _respond(body, view, HTTPStatus.UNPROCESSABLE_ENTITY)
    return _respond(body, view, push=("respond.ask", place._asdict()))


def deciding(view: SessionView, place: QuestionNumber, recording: str = "") -> Response:
    """The answer is saved, and a model decides whether one more question follows from it.

    recording  id of the recording of the answer whose words are awaited before
    """
    return _page("follow_ups/deciding", view, place=place, recording=recording)


def recorded(
    view: SessionView, place: QuestionNumber, *, text: str, error: Outcome | None = None
) -> Response:
    """After an upload or its refusal: the question with the posted text, for scripts its recorder.

    A page with a session of its own, or one that takes the place of the question, is whole.
    """
    if not wants_fragment():
        return question(view, place, error=error, text=text)
    g.is_part = True
    values = {"place": place, "answer_key": secrets.token_urlsafe(16), "text": text, "error": error}
    body = _render("_recorder", view, layout_of(framed=view.framed), **values)
    return _respond(body, view, HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK)


def transcript(view: SessionView, place: QuestionNumber) -> Response:
    """For scripts, what became of the words of the recording of a question."""
    g.is_part = True
    return _respond(_render("_heard", view, layout_of(framed=view.framed), place=place), view)


def check(
    view: SessionView, *, error: Outcome | None = None, name: str = "", just_answered: int = 0
) -> Response:
    """All answers for review, the optional name, and Send; `just_answered` as in `question`."""
    push: Push = ("respond.check", {})
    if error or name or view.session.recordings or view.session.follow_ups:
        status = HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK
        shown = {"error": error, "name": name, "just_answered": just_answered}
        return _page("check", view, status=status, push=push, **shown)
    return _cached_page("check", view, push, error=None, name="", just_answered=just_answered)


def thanks(view: SessionView, *, unsent_text: str = "", unsent_recording: bool = False) -> Response:
    """The response is completed.

    unsent_text       text that came too late to be part of it
    unsent_recording  so did a recording, which was not stored: the browser that has it hands it
                      back
    """
    push: Push = ("respond.done", {})
    unsent = {"unsent_text": unsent_text, "unsent_recording": unsent_recording}
    status = HTTPStatus.CONFLICT if unsent_recording else HTTPStatus.OK
    if unsent_text.strip() or unsent_recording or view.session.uploads:
        return _page("thanks", view, status=status, push=push, **unsent)
    return _cached_page("thanks", view, push, unsent_text="", unsent_recording=False)


def sent(view: SessionView) -> Response:
    """What was sent, read-only."""
    return _page("sent", view, push=("respond.show_sent", {}))


def closed(view: SessionView, *, unsent_text: str = "") -> Response:
    """The form takes no answers; `unsent_text` is text that was not stored."""
    return _page("closed", view, status=HTTPStatus.GONE, unsent_text=unsent_text)


def withdrawal(view: SessionView) -> Response:
    """Asks for confirmation before the answers are deleted."""
    return _page("withdrawal", view)


def withdrawn(form: RespondentForm) -> Response:
    """The answers are deleted; the cookie goes with them."""
    response = _page("withdrawn", new_view(form), push=("respond.start", {}))
    forget(response, form.share_token)
    return response


def device_transfer(
    view: SessionView, secret: str, *, place: QuestionNumber | None, draft: str
) -> Response:
    """The transfer link for another device, and the way back to a question, or to the check page
    for None. `draft` is what was typed there and not sent.
    """
    path = url_for("elsewhere.look", share_token=view.form.share_token, secret=secret)
    address = settings().public_url + path
    return _page(
        "device_transfer",
        view,
        link=address,
        secret=secret,
        code=drawn_code(address),
        place=place,
        draft=draft,
        replaces=posted_fields().get("replaces"),
    )


def device_arrival(view: SessionView, secret: str, *, claim: str) -> Response:
    """Behind a transfer link: asks whether to continue here."""
    return _page("device_arrival", view, secret=secret, claim=claim)


def device_link_used(view: SessionView, secret: str) -> Response:
    """Behind a transfer link that is used or expired."""
    return _page("device_link_used", view, status=HTTPStatus.GONE, secret=secret)


def render_not_saved(
    text: str, *, status: HTTPStatus, retry_after: int, uncertain: bool = False, limit: str = ""
) -> Response:
    """Not saved: the typed text and a button that sends the same form again.

    Rendered without the database, which may be the reason.
    retry_after  seconds
    uncertain    it may be saved; sent again, it is saved once in any case
    limit        the sentence about the limit that was reached
    """
    template = current_app.jinja_env.get_template("respondent/not_saved.html")
    fields = {name: value for name, value in posted_fields().items() if name != "answer"}
    body = template.render(
        **layout_of(framed=says_in_iframe()),
        too_fast=status == HTTPStatus.TOO_MANY_REQUESTS,
        limit=limit,
        uncertain=uncertain,
        fields=fields,
        text=text,
        recording=request.endpoint == "voice.upload",
        path=request.path + ("?embed=1" if says_in_iframe() else ""),
    )
    response = Response(body, status, {"Retry-After": str(retry_after)})
    if uncertain:  # read by retry.js, which keeps the page that is open
        response.headers["Askback-Outcome"] = "unknown"
    return response


def redirect_to(endpoint: str, share_token: str, place: QuestionNumber | None = None) -> Response:
    """303 to another page of this form."""
    values: dict[str, Any] = place._asdict() if place else {}
    if says_in_iframe():
        values["embed"] = 1
    url = url_for(endpoint, share_token=share_token, **values)
    return Response(status=HTTPStatus.SEE_OTHER, headers={"Location": url})


def layout_of(*, framed: bool) -> dict[str, Any]:
    """The values of the layout: of a whole page, or of what htmx swaps."""
    swapped = wants_fragment()
    layout = "respondent/swap.html" if swapped else "base/respondent.html"
    origin = settings().public_url
    return {"layout": layout, "swapped": swapped, "framed": framed, "origin": origin}


def _question(
    view: SessionView,
    step: Step,
    layout: dict[str, Any],
    *,
    error: Outcome | None = None,
    text: str | None = None,
    **more: Any,
) -> str:
    stored = view.session.texts.get(step.question_id)
    words = (stored or "") if text is None else text
    return _render(
        "question",
        view,
        layout,
        step=step,
        place=step.place,
        back=view.steps.place_before(step.place),
        stored=stored,
        text=words or view.heard(step.place),
        most=SPOKEN_ANSWER_MAX_CHARS if view.recording(step.place) else ANSWER_MAX_CHARS,
        error=error,
        replaces=_replaces(view, step, error=error, text=text),
        **more,
    )


def _replaces(view: SessionView, step: Step, *, error: Outcome | None, text: str | None) -> str:
    """The version of the answer that the person who typed has seen."""
    saw_newest = error.code in SHOWING_THE_NEWEST if error else text is None
    posted = None if saw_newest else posted_fields().get("replaces")
    return view.session.version(step.question_id) if posted is None else posted[:VERSION_CHARS]


def _page(
    page: str,
    view: SessionView,
    *,
    status: HTTPStatus = HTTPStatus.OK,
    push: Push | None = None,
    **context: Any,
) -> Response:
    body = _render(page, view, layout_of(framed=view.framed), **context)
    return _respond(body, view, status, push)


def _cached_page(page: str, view: SessionView, push: Push, **context: Any) -> Response:
    """A page whose context is the same for everybody."""
    layout = layout_of(framed=view.framed)
    body = page_cache.render(
        view, (page, context), layout, by=lambda nobody: _render(page, nobody, layout, **context)
    )
    return _respond(body, view, push=push)


def _render(page: str, view: SessionView, layout: dict[str, Any], **context: Any) -> str:
    # without context processors: they ask the database who is signed in, which is not needed here
    template = current_app.jinja_env.get_template(f"respondent/{page}.html")
    return template.render(**layout, view=view, **context)


def _respond(
    body: str, view: SessionView, status: HTTPStatus = HTTPStatus.OK, push: Push | None = None
) -> Response:
    push_url = None
    if push and wants_fragment() and not view.framed:
        push_url = url_for(push[0], share_token=view.form.share_token, **push[1])
    response = drawn(body, status=status, push_url=push_url)
    if request.method == "POST" and (view.session.started or view.session.uploads):
        remember(response, view.form.share_token, view.session_key)
    return response


def next_question(
    view: SessionView,
    posted: FormData,
    place: QuestionNumber | None,
    *,
    just_answered: int = 0,
) -> Response:
    """The question at a place, the check page for None.

    just_answered  number of the scripted question that was answered just now, 0 for none
    """
    if not by_get(posted):
        return question_or_check(view, place, just_answered=just_answered)
    if place is None:
        return redirect_to("respond.check", view.form.share_token)
    return redirect_to("respond.ask", view.form.share_token, place)


def scripted_number(answered: QuestionNumber) -> int:
    """The number of the stroke that an answer draws; follow-ups have none."""
    return 0 if answered.follow_up else answered.number


def by_get(posted: FormData) -> bool:
    """True if the next page can be fetched by GET: the cookie names this session."""
    return posted.remembered and not wants_fragment()

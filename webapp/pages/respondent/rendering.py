"""The pages a respondent holds, each drawn from a `Visit` and nothing else."""

import secrets
from functools import lru_cache
from http import HTTPStatus
from typing import Any, TypeAlias

from flask import Response, abort, current_app, request, url_for

from webapp.config import settings
from webapp.domain.respondents.public_form import NOTHING_YET, RespondentForm
from webapp.domain.shared.errors import Outcome
from webapp.domain.shared.limits import ANSWER_MAX_CHARS
from webapp.pages.fragments import drawn, wants_fragment
from webapp.pages.qr_codes import drawn_code
from webapp.pages.respondent.session_cookie import forget, remember
from webapp.pages.respondent.visit import Visit, new_visit
from webapp.web.iframes import says_framed
from webapp.web.languages import page_language
from webapp.web.themes import page_theme

Push: TypeAlias = tuple[str, dict[str, Any]]
FRESH_KEPT = 256  # our choice: some megabytes
# what stands for the keys in a page that is kept; nobody can know it
SESSION_HERE, ANSWER_HERE = secrets.token_urlsafe(24), secrets.token_urlsafe(24)


def instead(at: Visit, *, left_over: str = "") -> Response | None:
    """The page that stands in for all questions: sent already, or no answers taken."""
    if at.progress.completed_at:
        return thanks(at, left_over=left_over)
    if not at.may_answer:
        return closed(at, left_over=left_over)
    return None


def open_slip(at: Visit, position: int | None) -> Response:
    """The question at a 0-based position, the check page when nothing is open."""
    return check(at) if position is None else question(at, position)


def question(
    at: Visit, position: int, *, error: Outcome | None = None, text: str | None = None
) -> Response:
    """One question with the answer it has; `error` and the `text` typed when it was refused."""
    if not 0 <= position < len(at.form.questions):
        abort(HTTPStatus.NOT_FOUND)
    if error or text is not None or at.progress is not NOTHING_YET:
        frame = _frame(framed=at.framed)
        body = _question(at, position, secrets.token_urlsafe(16), frame, error=error, text=text)
    else:
        body = _fresh_question(at, position)
    if error:
        return _answer(body, at, HTTPStatus.UNPROCESSABLE_ENTITY)
    return _answer(body, at, push=("respond.ask", {"number": position + 1}))


def check(at: Visit, *, error: Outcome | None = None, name: str = "") -> Response:
    """All answers to read over, the optional name, and Send."""
    status = HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK
    return _slip("check", at, status=status, push=("respond.check", {}), error=error, name=name)


def thanks(at: Visit, *, left_over: str = "") -> Response:
    """The response is in; `left_over` is text that came too late to be part of it."""
    return _slip("thanks", at, push=("respond.done", {}), left_over=left_over)


def sent(at: Visit) -> Response:
    """What was sent, to read only."""
    return _slip("sent", at, push=("respond.show_sent", {}))


def closed(at: Visit, *, left_over: str = "") -> Response:
    """The form takes no answers (any more); `left_over` is the text that was not stored."""
    return _slip("closed", at, status=HTTPStatus.GONE, left_over=left_over)


def withdrawal(at: Visit) -> Response:
    """Asks once more before the answers are deleted."""
    return _slip("withdrawal", at)


def withdrawn(form: RespondentForm) -> Response:
    """The answers are deleted."""
    response = _slip("withdrawn", new_visit(form), push=("respond.start", {}))
    forget(response, form.share_token)
    return response


def elsewhere(at: Visit, secret: str, *, number: int | None, draft: str) -> Response:
    """The link to go on with on another device, and the way back to question `number` or the check
    page. `draft` is what was typed there and not sent.
    """
    path = url_for("elsewhere.look", share_token=at.form.share_token, secret=secret)
    address = settings().public_url + path
    return _slip(
        "device_transfer",
        at,
        link=address,
        secret=secret,
        code=drawn_code(address),
        number=number,
        draft=draft,
    )


def arrival(at: Visit, secret: str, *, claim: str) -> Response:
    """Behind the link: asks whether to go on here."""
    return _slip("device_arrival", at, secret=secret, claim=claim)


def used_up(at: Visit, secret: str) -> Response:
    """Behind a link that has been used, or whose time is over."""
    return _slip("device_link_used", at, status=HTTPStatus.GONE, secret=secret)


def held(
    text: str, *, status: HTTPStatus, retry_after: int, uncertain: bool = False, limit: str = ""
) -> Response:
    """Not saved, but nothing is lost: the text and a button that sends the same form again.

    Drawn without the database, which may be the reason.
    uncertain  nobody knows whether it is saved; sent again, it is saved once in any case
    limit      the sentence about the limit that was reached
    """
    template = current_app.jinja_env.get_template("respondent/not_saved.html")
    fields = {name: value for name, value in request.form.items() if name != "answer"}
    body = template.render(
        **_frame(framed=says_framed()),
        too_fast=status == HTTPStatus.TOO_MANY_REQUESTS,
        limit=limit,
        uncertain=uncertain,
        fields=fields,
        text=text,
        path=request.path + ("?embed=1" if says_framed() else ""),
    )
    response = Response(body, status, {"Retry-After": str(retry_after)})
    if uncertain:  # for scripts, which keep their own page
        response.headers["Askback-Outcome"] = "unknown"
    return response


def from_another_site(share_token: str, text: str) -> Response:
    """Another website posted here: the way to our own page, and the `text` that came along.

    Nothing else of that post is in it. Drawn without the database.
    """
    template = current_app.jinja_env.get_template("respondent/cross_site_post.html")
    here = url_for("respond.start", share_token=share_token)
    body = template.render(**_frame(framed=says_framed()), here=here, text=text)
    return Response(body, HTTPStatus.FORBIDDEN)


def see(endpoint: str, share_token: str, number: int | None = None) -> Response:
    """Another page of this form next, by its address."""
    values: dict[str, Any] = {} if number is None else {"number": number}
    if says_framed():
        values["embed"] = 1
    url = url_for(endpoint, share_token=share_token, **values)
    return Response(status=HTTPStatus.SEE_OTHER, headers={"Location": url})


def _fresh_question(at: Visit, position: int) -> str:
    """A question for somebody who has answered none.

    Such pages differ in two random keys only, so each is drawn once and kept.
    """
    page = _kept_question(at.form, position, _looks(), **_frame(framed=at.framed))
    keyed = page.replace(SESSION_HERE, at.session_key)
    return keyed.replace(ANSWER_HERE, secrets.token_urlsafe(16))


def _looks() -> tuple[str, str]:
    return page_language().tag, page_theme()


@lru_cache(maxsize=FRESH_KEPT)
def _kept_question(
    form: RespondentForm, position: int, _looks: tuple[str, str], **frame: Any
) -> str:
    at = Visit(form, SESSION_HERE, NOTHING_YET, framed=frame["framed"])
    return _question(at, position, ANSWER_HERE, frame)


def _question(
    at: Visit,
    position: int,
    answer_key: str,
    frame: dict[str, Any],
    *,
    error: Outcome | None = None,
    text: str | None = None,
) -> str:
    asked = at.form.questions[position]
    stored = at.progress.texts.get(asked["id"])
    return _draw(
        "question",
        at,
        frame,
        asked=asked["text"],
        hint=asked.get("context"),
        number=position + 1,
        stored=stored,
        text=(stored or "") if text is None else text,
        answer_key=answer_key,
        most=ANSWER_MAX_CHARS,
        error=error,
    )


def _slip(
    page: str,
    at: Visit,
    *,
    status: HTTPStatus = HTTPStatus.OK,
    push: Push | None = None,
    **context: Any,
) -> Response:
    return _answer(_draw(page, at, _frame(framed=at.framed), **context), at, status, push)


def _draw(page: str, at: Visit, frame: dict[str, Any], **context: Any) -> str:
    # without context processors: they ask the database who is signed in, which is no business here
    template = current_app.jinja_env.get_template(f"respondent/{page}.html")
    return template.render(**frame, visit=at, **context)


def _answer(
    body: str, at: Visit, status: HTTPStatus = HTTPStatus.OK, push: Push | None = None
) -> Response:
    push_url = None
    if push and wants_fragment() and not at.framed:
        push_url = url_for(push[0], share_token=at.form.share_token, **push[1])
    response = drawn(body, status=status, push_url=push_url)
    if request.method == "POST" and at.progress.started:
        remember(response, at.form.share_token, at.session_key)
    return response


def _frame(*, framed: bool) -> dict[str, Any]:
    swapped = wants_fragment()
    frame = "respondent/swap.html" if swapped else "base/respondent.html"
    origin = settings().public_url
    return {"frame": frame, "swapped": swapped, "framed": framed, "origin": origin}

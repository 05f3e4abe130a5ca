"""Continuing a response on another device, by a link that works once.

A GET of the link changes nothing, because chats and scanners fetch links before people do; only
the button on its page uses it up.
"""

import secrets
from typing import NamedTuple

from flask import Blueprint, Response

from webapp.answers import device_transfer
from webapp.answers.steps import QuestionNumber
from webapp.base.database import utc_now
from webapp.pages.respondent import error_handling, rendering
from webapp.pages.respondent.form_data import (
    KEY,
    FormData,
    posted_fields,
    read_form_data,
    typed_anywhere,
    unreadable,
)
from webapp.pages.respondent.session_view import find_form, keyed_view, new_view, posted_view
from webapp.web.extensions import csrf

bp = Blueprint("elsewhere", __name__, url_prefix="/r/<share_token>")
# every POST here carries a secret that no other site can know
csrf.exempt(bp)
error_handling.add_limits_and_error_handlers(bp)


class Arrival(NamedTuple):
    """What the page behind a link posts: the secret of the link, and the claim of that page."""

    secret: str
    claim: str


@bp.post("/check/elsewhere", defaults={"number": None, "follow_up": 0})
@bp.post("/q/<int:number>/elsewhere", defaults={"follow_up": 0})
@bp.post("/q/<int:number>/f/<int:follow_up>/elsewhere")
def offer(share_token: str, number: int | None, follow_up: int) -> Response:
    """A link for the other device; this one returns to the question, or to the check page.

    A link that the page shows already is kept: its reader may have sent it to themselves.
    """
    posted = read_form_data(share_token)
    view = posted_view(share_token, posted)
    if stand_in := rendering.render_instead(view, unsent_text=posted.answer):
        return stand_in
    place = None if number is None else QuestionNumber(number, follow_up)
    if place:
        view.asked_step(place)
    return rendering.device_transfer(
        view,
        _offered(share_token, posted),
        place=place,
        draft=typed_anywhere(),
    )


@bp.get("/continue/<secret>")
def look(share_token: str, secret: str) -> Response:
    """Asks whether to continue here; changes nothing."""
    form = find_form(share_token)
    if not device_transfer.is_link_usable(share_token, secret, now=utc_now()):
        return rendering.device_link_used(new_view(form), secret)
    return rendering.device_arrival(new_view(form), secret, claim=secrets.token_urlsafe(16))


@bp.post("/continue")
def go_on(share_token: str) -> Response:
    """Use the link up and show the next open question."""
    arrival = read_arrival()
    key = device_transfer.claim_session_key(
        share_token, arrival.secret, arrival.claim, now=utc_now()
    )
    if key is None:
        return rendering.device_link_used(new_view(find_form(share_token)), arrival.secret)
    view = keyed_view(share_token, key)
    return rendering.render_instead(view) or rendering.question_or_check(
        view, view.steps.next_place()
    )


@bp.get("/continue")
def reload(share_token: str) -> Response:
    """A reload of the address that `go_on` leaves in a browser without scripts."""
    return rendering.redirect_to("respond.start", share_token)


def read_arrival() -> Arrival:
    """The posted fields; raises InvalidInput for malformed ones."""
    form = posted_fields()
    arrival = Arrival(form.get("secret", ""), form.get("claim", ""))
    if not all(map(KEY.fullmatch, arrival)):
        raise unreadable()
    return arrival


def _offered(share_token: str, posted: FormData) -> str:
    shown = posted_fields().get("secret")
    if shown and device_transfer.is_link_usable(share_token, shown, now=utc_now()):
        return shown
    return device_transfer.create_transfer_link(share_token, posted.session_key, now=utc_now())

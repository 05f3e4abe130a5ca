"""Going on with one's answers on another device, by a link that works once.

Looking at the link changes nothing, because chats and scanners look at links before people do;
only the button behind it uses it up.
"""

import secrets
from typing import NamedTuple

from flask import Blueprint, Response, request

from webapp.database import utc_now
from webapp.domain.respondents import device_transfer
from webapp.pages.respondent import error_handling, rendering
from webapp.pages.respondent.form_data import KEY, Posted, read_posted, typed, unreadable
from webapp.pages.respondent.visit import find_form, keyed_visit, new_visit, posted_visit
from webapp.web.extensions import csrf
from webapp.web.languages import FIELD as LANGUAGE

bp = Blueprint("elsewhere", __name__, url_prefix="/r/<share_token>")
# What is posted here carries a secret that no other site can know
csrf.exempt(bp)
error_handling.guard(bp)

FIELDS = {"secret", "claim", LANGUAGE}


class Arrival(NamedTuple):
    """What the page behind a link posts: the link's secret, and a claim of that page's own."""

    secret: str
    claim: str


@bp.post("/check/elsewhere", defaults={"number": None})
@bp.post("/q/<int:number>/elsewhere")
def offer(share_token: str, number: int | None) -> Response:
    """A link for the other device; `number` is the question to come back to here.

    A page that shows a link already, which its reader may have sent to themselves, keeps it.
    """
    sent = read_posted(share_token)
    at = posted_visit(share_token, sent)
    if stand_in := rendering.instead(at, left_over=sent.answer):
        return stand_in
    draft = typed("answer") or typed("name") or typed("draft")
    return rendering.elsewhere(at, _offered(share_token, sent), number=number, draft=draft)


@bp.get("/continue/<secret>")
def look(share_token: str, secret: str) -> Response:
    """Asks whether to go on here; changes nothing."""
    form = find_form(share_token)
    if not device_transfer.is_link_usable(share_token, secret, now=utc_now()):
        return rendering.used_up(new_visit(form), secret)
    return rendering.arrival(new_visit(form), secret, claim=secrets.token_urlsafe(16))


@bp.post("/continue")
def go_on(share_token: str) -> Response:
    """Use the link up and ask the next open question here."""
    arrival = read_arrival()
    key = device_transfer.claim_session_key(
        share_token, arrival.secret, arrival.claim, now=utc_now()
    )
    if key is None:
        return rendering.used_up(new_visit(find_form(share_token)), arrival.secret)
    at = keyed_visit(share_token, key)
    return rendering.instead(at) or rendering.open_slip(at, at.next_open)


@bp.get("/continue")
def reload(share_token: str) -> Response:
    """The address that `go_on` leaves in a browser without scripts, called again."""
    return rendering.see("respond.start", share_token)


def read_arrival() -> Arrival:
    """The posted fields; raises InvalidInput for unknown, repeated and malformed ones."""
    form = request.form
    repeated = any(len(form.getlist(name)) > 1 for name in form)
    if request.files or repeated or not form.keys() <= FIELDS:
        raise unreadable()
    arrival = Arrival(form.get("secret", ""), form.get("claim", ""))
    if not all(map(KEY.fullmatch, arrival)):
        raise unreadable()
    return arrival


def _offered(share_token: str, sent: Posted) -> str:
    shown = typed("secret")
    if shown and device_transfer.is_link_usable(share_token, shown, now=utc_now()):
        return shown
    return device_transfer.create_transfer_link(share_token, sent.session_key, now=utc_now())

"""Transfer of a response to another device by a link that works once.

A GET of the link changes nothing, because chats and scanners fetch links before people do; only
the button on its page uses up the link.
"""

import secrets
from http import HTTPStatus

from flask import Blueprint, Response, url_for

from webapp.answers import device_transfer
from webapp.answers.session import QuestionNumber, RespondentForm
from webapp.base import config, database, errors
from webapp.pages.filters import drawn_code
from webapp.pages.respondent import error_handling, form_data, rendering
from webapp.pages.respondent.session_view import find_form, keyed_view, new_view, posted_view

bp = Blueprint("elsewhere", __name__, url_prefix="/r/<share_token>")
error_handling.init_blueprint(bp)


@bp.post("/check/elsewhere")
@bp.post("/q/<question:place>/elsewhere")
def offer(share_token: str, place: QuestionNumber | None = None) -> Response:
    """Show a link for the other device, and a way back to the question or the check page.

    A link that the page already shows is kept: respondents may have sent it to themselves.
    """
    posted = form_data.read_form_data(share_token)
    view = posted_view(share_token, posted)
    if stand_in := rendering.render_instead(view, unsent_text=posted.answer):
        return stand_in
    if place:
        view.asked_step(place)
    now, secret = database.utc_now(), form_data.posted_field("secret")
    if not (secret and device_transfer.is_link_usable(share_token, secret, now=now)):
        secret = device_transfer.create_transfer_link(share_token, posted.session_key, now=now)
    address = config.settings().public_url + url_for(
        "elsewhere.look", share_token=share_token, secret=secret
    )
    return rendering.page(
        "device_transfer",
        view,
        link=address,
        secret=secret,
        code=drawn_code(address),
        place=place,
        draft=form_data.typed_anywhere(),
        replaces=posted.replaces,
    )


@bp.get("/continue/<secret>")
def look(share_token: str, secret: str) -> Response:
    """Ask whether to continue on this device; change nothing."""
    form = find_form(share_token)
    if not device_transfer.is_link_usable(share_token, secret, now=database.utc_now()):
        return _link_used(form, secret)
    claim = secrets.token_urlsafe(16)
    return rendering.page("device_arrival", new_view(form), secret=secret, claim=claim)


@bp.post("/continue")
def go_on(share_token: str) -> Response:
    """Use up the link and show the next open question."""
    secret, claim = form_data.posted_field("secret"), form_data.posted_field("claim")
    if not (form_data.KEY.fullmatch(secret) and form_data.KEY.fullmatch(claim)):
        raise form_data.refusal(errors.PageCode.FORM_UNREADABLE)
    key = device_transfer.claim_session_key(share_token, secret, claim, now=database.utc_now())
    if key is None:
        return _link_used(find_form(share_token), secret)
    view = keyed_view(share_token, key)
    return rendering.open_step(view, view.steps.next_place())


@bp.get("/continue")
def reload(share_token: str) -> Response:
    """Redirect a reload of the address that `go_on` leaves in a browser without scripts."""
    return rendering.redirect_to("respond.start", share_token)


def _link_used(form: RespondentForm, secret: str) -> Response:
    status = HTTPStatus.GONE
    return rendering.page("device_link_used", new_view(form), status=status, secret=secret)

"""Agent tokens of a creator: making a token, which is shown once, and revoking tokens."""

import re
from datetime import timedelta
from http import HTTPStatus

from flask import Response, make_response, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from webapp.base.config import settings
from webapp.base.errors import ErrorCode, InvalidInput, parse_input
from webapp.base.sealing import NoKey, sealer
from webapp.base.text import token_hash
from webapp.drafts import agent_tokens
from webapp.drafts.agent_tokens import AgentTokenInput, find_own_token
from webapp.pages.creator import fields, sign_in
from webapp.pages.creator.request import acting, creator_blueprint, creator_id
from webapp.pages.fragments import go_to
from webapp.records import forms
from webapp.records.audit import AuditKind
from webapp.web.browser_cookies import BrowserCookie
from webapp.web.limiter import AGENT_TOKENS, limiter

ALL_FORMS = "all"
# carries the sealed token to the page that shows it; that page deletes the cookie
MADE = BrowserCookie("askback_token", max_age=60, path="/connections/tokens/made")

bp = creator_blueprint("agent_tokens", "/connections/tokens", limits_writes=False)


@bp.get("/new")
def show_new() -> str:
    """Show the form for a new token; `?form=` preselects a form, or else the newest."""
    return _page()


@bp.post("/new")
@limiter.shared_limit(
    lambda: settings().limit_agent_tokens,
    AGENT_TOKENS,
    key_func=creator_id,
    error_message="new agent tokens",
    deduct_when=lambda response: response.status_code == HTTPStatus.SEE_OTHER,
)
@sign_in.limited_tries(AuditKind.AGENT_TOKEN_MADE)
def make() -> ResponseReturnValue:
    """Make a token, and redirect to the page that shows it, so a reload makes no second one."""
    label, form_id = fields.typed("label"), request.form.get("form", "")
    try:
        sign_in.require_own_password(AuditKind.AGENT_TOKEN_MADE)
        parse_input(AgentTokenInput, {"label": label})
        act = acting()
        made = agent_tokens.make_agent_token(
            creator_id(),
            None if form_id == ALL_FORMS else form_id,
            label=label,
            expires_at=act["now"] + timedelta(days=_whole_days(fields.typed("days"))),
            **act,
        )
    except InvalidInput as refusal:
        return _page(refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    response = go_to(url_for("agent_tokens.show_made"))
    MADE.keep(response, sealer().seal(made.token, place=_cookie_place()))
    return response


@bp.get("/made")
def show_made() -> Response:
    """Show the token that this browser has just made, once; afterwards redirect to the list."""
    token = _just_made()
    found = find_own_token(creator_id(), token_hash=token_hash(token))
    if found is None:
        return go_to(url_for("connections.show_connections"))
    page = render_template(
        "connections/token_made.html",
        token=token,
        found=found,
        example_form=_example_form(found.form_id),
        api_url=settings().api_url,
    )
    response = make_response(page)
    MADE.delete(response)
    return response


@bp.post("/<token_id>/revoke")
def revoke(token_id: str) -> Response:
    """Revoke one token."""
    token = agent_tokens.revoke_agent_token(creator_id(), token_id, **acting())
    return go_to(url_for("connections.show_connections", revoked=token.id))


@bp.post("/revoke-all")
def revoke_all() -> Response:
    """Revoke all tokens, including those that agents made."""
    agent_tokens.revoke_agent_tokens(creator_id(), **acting())
    return go_to(url_for("connections.show_connections"))


def _just_made() -> str:
    """Return the token in the cookie, "" if there is none sealed for this account."""
    try:
        return sealer().unseal(MADE.read(), place=_cookie_place())
    except NoKey:
        return ""


def _cookie_place() -> str:
    return f"cookie/{creator_id()}/{MADE.name}"


def _whole_days(text: str) -> int:
    if re.fullmatch("[0-9]{1,3}", text) and 1 <= int(text) <= agent_tokens.AGENT_TOKEN_MAX_DAYS:
        return int(text)
    raise InvalidInput(
        ErrorCode.VALIDATION_FAILED,
        f"This is no whole number from 1 to {agent_tokens.AGENT_TOKEN_MAX_DAYS}.",
        "Write how many days the token may be used.",
        field="days",
    )


def _page(refusal: InvalidInput | None = None) -> str:
    """Show the form as typed; its field `form` is a form's id, or `all`."""
    asked = {
        "form": request.values.get("form", ""),
        "label": request.form.get("label", ""),
        "days": request.form.get("days", str(agent_tokens.AGENT_TOKEN_DAYS)),
    }
    return render_template(
        "connections/token_new.html",
        asked=asked,
        refusal=refusal,
        forms=forms.list_forms(creator_id()),
        most_days=agent_tokens.AGENT_TOKEN_MAX_DAYS,
        most_chars=agent_tokens.AGENT_TOKEN_LABEL_MAX_CHARS,
        ask_password=not sign_in.signed_in_recently(),
        current_user=current_user,
    )


def _example_form(form_id: str | None) -> str:
    """Return the id for the usage example: the token's form, or the newest for all forms."""
    if form_id is not None:
        return form_id
    newest = forms.list_newest_forms(creator_id(), 1)
    return newest[0].id if newest else "FORM_ID"

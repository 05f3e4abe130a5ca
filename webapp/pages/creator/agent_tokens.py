"""Agent tokens of a creator: making one, which is shown once, and revoking."""

import re
from datetime import timedelta
from http import HTTPStatus
from typing import NamedTuple

from flask import Blueprint, Response, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from webapp.config import settings
from webapp.database import utc_now
from webapp.domain.audit.trail import AuditKind
from webapp.domain.forms import agent_tokens, models
from webapp.domain.forms.agent_token_input import parse_agent_token_input
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput
from webapp.domain.shared.limits import (
    AGENT_TOKEN_DAYS,
    AGENT_TOKEN_LABEL_MAX_CHARS,
    AGENT_TOKEN_MAX_DAYS,
)
from webapp.pages.creator.account.own_password import limited_tries, require_own_password
from webapp.pages.creator.account.sign_in import signed_in_recently
from webapp.pages.creator.request import creator_id, require_creator, typed
from webapp.pages.fragments import go_to
from webapp.web import request_audit
from webapp.web.rate_limits.limiter import AGENT_TOKENS, limiter

ALL_FORMS = "all"

bp = Blueprint("agent_tokens", __name__, url_prefix="/connections/tokens")
bp.before_request(require_creator)


class Asked(NamedTuple):
    """The fields of the page as typed; `form` is the id of a form, or `all`."""

    form: str
    label: str
    days: str


@bp.get("/new")
def show_new() -> str:
    """The page that makes a token, with the form that `?form=` names, else the newest."""
    return _page(Asked(request.args.get("form", ""), "", str(AGENT_TOKEN_DAYS)))


@bp.post("/new")
@limiter.shared_limit(
    lambda: settings().limit_agent_tokens,
    AGENT_TOKENS,
    key_func=creator_id,
    error_message="new agent tokens",
    deduct_when=lambda response: response.status_code == HTTPStatus.OK,
)
@limited_tries(AuditKind.AGENT_TOKEN_MADE)
def make() -> ResponseReturnValue:
    """Make a token and show it, this once."""
    asked = Asked(request.form.get("form", ""), typed("label"), typed("days"))
    try:
        require_own_password(AuditKind.AGENT_TOKEN_MADE)
        made = _make(asked)
    except InvalidInput as refusal:
        return _page(asked, refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    return render_template(
        "connections/token_made.html",
        made=made,
        label=asked.label,
        form_id=asked.form,
        example_form=_example_form(asked.form),
        api_url=settings().api_url,
    )


@bp.post("/<token_id>/revoke")
def revoke(token_id: str) -> Response:
    """End one token."""
    by = request_audit.creator()
    token = agent_tokens.revoke_agent_token(creator_id(), token_id, now=utc_now(), by=by)
    return go_to(url_for("connections.show_connections", revoked=token.id))


@bp.post("/revoke-all")
def revoke_all() -> Response:
    """End all tokens, also those that agents made."""
    by = request_audit.creator()
    agent_tokens.revoke_agent_tokens(creator_id(), now=utc_now(), by=by)
    return go_to(url_for("connections.show_connections"))


def _make(asked: Asked) -> agent_tokens.MadeToken:
    """raises InvalidInput for one of the fields, NotFound for a form of nobody"""
    parse_agent_token_input({"label": asked.label})
    now = utc_now()
    return agent_tokens.make_agent_token(
        creator_id(),
        None if asked.form == ALL_FORMS else asked.form,
        label=asked.label,
        expires_at=now + timedelta(days=_whole_days(asked.days)),
        now=now,
        by=request_audit.creator(),
    )


def _whole_days(text: str) -> int:
    if re.fullmatch("[0-9]{1,3}", text) and 1 <= int(text) <= AGENT_TOKEN_MAX_DAYS:
        return int(text)
    raise InvalidInput(
        ErrorCode.VALIDATION_FAILED,
        f"This is no whole number from 1 to {AGENT_TOKEN_MAX_DAYS}.",
        "Write how many days the token may be used.",
        field="days",
    )


def _page(asked: Asked, refusal: InvalidInput | None = None) -> str:
    return render_template(
        "connections/token_new.html",
        asked=asked,
        refusal=refusal,
        forms=models.list_forms(creator_id()),
        most_days=AGENT_TOKEN_MAX_DAYS,
        most_chars=AGENT_TOKEN_LABEL_MAX_CHARS,
        ask_password=not signed_in_recently(),
        current_user=current_user,
    )


def _example_form(asked: str) -> str:
    """The form in the lines that show how to use the token."""
    if asked != ALL_FORMS:
        return asked
    newest = models.list_newest_forms(creator_id(), 1)
    return newest[0].id if newest else "FORM_ID"

"""The agents of a creator: connections, muting, callback addresses, and agent tokens."""

from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus
from typing import NamedTuple

from flask import Response, make_response, render_template, request, url_for

from webapp.base.config import settings
from webapp.base.database import from_millis, to_millis, utc_now
from webapp.base.errors import ErrorCode, InvalidInput, parse_input
from webapp.base.sealing import NoKey, sealer
from webapp.base.text import token_hash
from webapp.drafts import agent_tokens, reviews
from webapp.events import callbacks, endings
from webapp.oauth import connections
from webapp.pages.creator import fields, sign_in
from webapp.pages.creator.request import acting, creator_blueprint, creator_id, limit_writes
from webapp.pages.fragments import fragment, go_to, nothing_new, wants_fragment
from webapp.records import drafts, forms
from webapp.records.audit import AuditKind
from webapp.web.browser_cookies import BrowserCookie
from webapp.web.limiter import AGENT_TOKENS, limiter

PAGE = "/connections"
TOKENS_SHOWN = 100
# carries the sealed token to the page that shows it; that page deletes the cookie
MADE = BrowserCookie("askback_token", max_age=60, path="/connections/tokens/made")

# no limit of writes: nothing may keep a creator from disconnecting and revoking
bp = creator_blueprint("connections", PAGE, limits_writes=False)
tokens_bp = creator_blueprint("agent_tokens", f"{PAGE}/tokens", limits_writes=False)


class AgentProgress(NamedTuple):
    """The progress of an agent since a moment: its name once connected, then its first draft."""

    since: int
    agent: str
    draft: drafts.Draft | None

    @property
    def state(self) -> str:
        """A text that changes with each step."""
        return self.draft.id if self.draft else self.agent


def agent_progress(since: int) -> AgentProgress:
    """Return the progress of the newest agent that connected at or after `since` (milliseconds)."""
    client = connections.find_newest_client(creator_id(), from_millis(since), now=utc_now())
    draft = reviews.find_agent_draft(creator_id(), from_millis(since))
    by = (draft.created_by if draft else None) or ""
    author = connections.agent_names([by]).get(by) if by else ""
    return AgentProgress(since, author or (client.name if client else ""), draft)


@bp.get("")
def show_connections() -> str:
    """Show the connected agents, connections ended for security, and how to connect another.

    To confirm an action, `?ended=` is the moment at which the creator disconnected agents,
    `?revoked=` the id of the revoked token, `?address=` the change of a callback address.
    """
    account_id, now = creator_id(), utc_now()
    ended = fields.millis("ended")
    tokens = agent_tokens.list_agent_tokens(account_id, now=now, most=TOKENS_SHOWN)
    addresses = callbacks.list_callbacks(account_id, now=now)
    return render_template(
        "connections/list.html",
        connections=connections.list_connections(account_id, now=now),
        muted=connections.list_muted(account_id, now=now),
        notices=connections.list_notices(account_id, now=now),
        ended=connections.list_disconnected(account_id, from_millis(ended)) if ended else [],
        tokens=tokens,
        revoked=agent_tokens.find_own_token(account_id, id=request.args.get("revoked", "")),
        callbacks=addresses,
        waits_days=callbacks.WAITS_FOR.days,
        names=connections.agent_names(
            [*(row.token.grant_id for row in tokens), *(row.grant_id for row in addresses)]
        ),
        progress=agent_progress(to_millis(now)),
    )


@bp.get("/progress")
def show_progress() -> Response:
    """Show the progress of a new agent below the guide; 204 while its state equals `have`.

    A connection made while the page is open also appears in the list of connections.
    """
    progress = agent_progress(fields.millis("since"))
    if request.args.get("have") == progress.state:
        return nothing_new()
    now = utc_now()
    return fragment(
        "connections/_agent_news.html",
        progress=progress,
        connections=connections.list_connections(creator_id(), now=now),
        muted=connections.list_muted(creator_id(), now=now),
    )


@bp.post("/<grant_id>/disconnect")
def disconnect(grant_id: str) -> Response:
    """Revoke every grant of one agent."""
    ended = connections.disconnect(creator_id(), grant_id, **acting())
    return go_to(url_for("connections.show_connections", ended=to_millis(ended)))


@bp.post("/disconnect-all")
def disconnect_all() -> Response:
    """Revoke the grants of all agents."""
    act = acting()
    connections.disconnect_all(creator_id(), **act)
    return go_to(url_for("connections.show_connections", ended=to_millis(act["now"])))


@bp.post("/addresses/<callback_id>/confirm", endpoint="confirm_address")
@bp.post("/addresses/<callback_id>/remove", endpoint="remove_address")
def decide_address(callback_id: str) -> Response:
    """Confirm a callback address that cannot answer a challenge, or remove any address."""
    confirms = request.path.endswith("/confirm")
    if confirms:
        allowed = settings().mcp_events_callback_allowlist
        callbacks.confirm_callback(creator_id(), callback_id, allowed_origins=allowed, **acting())
    else:
        endings.remove_callback(creator_id(), callback_id, **acting())
    done = "confirmed" if confirms else "removed"
    return go_to(url_for("connections.show_connections", address=done))


@bp.post("/<grant_id>/trust")
def let_publish(grant_id: str) -> Response | str:
    """Set whether the agent's publish counts as the creator's confirmation."""
    allowed = "trust" in request.form
    connection = connections.let_publish(creator_id(), grant_id, allowed=allowed, **acting())
    if wants_fragment():
        muted = connections.list_muted(creator_id(), now=utc_now())
        return render_template("connections/_connection.html", connection=connection, muted=muted)
    return go_to(PAGE)


@bp.post("/<grant_id>/mute", endpoint="mute")
@bp.post("/<grant_id>/unmute", endpoint="unmute")
@limit_writes
def set_muted(grant_id: str) -> Response:
    """Mute the drafts of an agent for a day, or unmute them; redirect to where the button was."""
    muted = request.path.endswith("/mute")
    connections.set_muted(creator_id(), grant_id, muted=muted, **acting())
    if request.form.get("from") == "connections":
        return go_to(url_for("connections.show_connections", _anchor=f"connection-{grant_id}"))
    return go_to(url_for("inbox.show", _anchor="muted" if muted else "waiting"))


@tokens_bp.get("/new")
def show_new(refusal: InvalidInput | None = None) -> str:
    """Show the form for a new token; `?form=` preselects a form, or else the newest."""
    return render_template(
        "connections/token_new.html",
        refusal=refusal,
        forms=forms.list_forms(creator_id()),
        usual_days=agent_tokens.AGENT_TOKEN_DAYS,
        most_days=agent_tokens.AGENT_TOKEN_MAX_DAYS,
        most_chars=agent_tokens.AGENT_TOKEN_LABEL_MAX_CHARS,
        ask_password=not sign_in.signed_in_recently(),
    )


@tokens_bp.post("/new")
@limiter.shared_limit(
    lambda: settings().limit_agent_tokens,
    AGENT_TOKENS,
    key_func=creator_id,
    error_message="new agent tokens",
    deduct_when=lambda response: response.status_code == HTTPStatus.SEE_OTHER,
)
@sign_in.limited_tries(AuditKind.AGENT_TOKEN_MADE)
def make() -> Response | tuple[str, int]:
    """Make a token, and redirect to the page that shows it, so a reload makes no second one."""
    label, form_id = fields.typed("label"), request.form.get("form", "")
    days, act = fields.number("days", digits=3), acting()
    try:
        sign_in.require_own_password(AuditKind.AGENT_TOKEN_MADE)
        parse_input(agent_tokens.AgentTokenInput, {"label": label})
        if not 1 <= days <= agent_tokens.AGENT_TOKEN_MAX_DAYS:
            raise InvalidInput(
                ErrorCode.VALIDATION_FAILED,
                f"This is no whole number from 1 to {agent_tokens.AGENT_TOKEN_MAX_DAYS}.",
                "Write how many days the token may be used.",
                field="days",
            )
        made = agent_tokens.make_agent_token(
            creator_id(),
            None if form_id == "all" else form_id,
            label=label,
            expires_at=act["now"] + timedelta(days=days),
            **act,
        )
    except InvalidInput as refusal:
        return show_new(refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    response = go_to(url_for("agent_tokens.show_made"))
    MADE.keep(response, sealer().seal(made.token, place=MADE.name))
    return response


@tokens_bp.get("/made")
def show_made() -> Response:
    """Show the token that this browser has just made, once; afterwards redirect to the list."""
    token = ""
    with suppress(NoKey):
        token = sealer().unseal(MADE.read(), place=MADE.name)
    found = agent_tokens.find_own_token(creator_id(), token_hash=token_hash(token))
    if found is None:
        return go_to(PAGE)
    newest = forms.list_forms(creator_id(), 1)
    page = render_template(
        "connections/token_made.html",
        token=token,
        found=found,
        example_form=found.form_id or (newest[0].id if newest else "FORM_ID"),
    )
    response = make_response(page)
    MADE.delete(response)
    return response


@tokens_bp.post("/<token_id>/revoke")
def revoke(token_id: str) -> Response:
    """Revoke one token."""
    token = agent_tokens.revoke_agent_token(creator_id(), token_id, **acting())
    return go_to(url_for("connections.show_connections", revoked=token.id))


@tokens_bp.post("/revoke-all")
def revoke_all() -> Response:
    """Revoke all tokens, including those that agents made."""
    agent_tokens.revoke_agent_tokens(creator_id(), **acting())
    return go_to(PAGE)

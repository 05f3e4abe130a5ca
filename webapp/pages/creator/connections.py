"""The page of connected agents."""

from datetime import datetime

from flask import Blueprint, Response, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.config import settings
from webapp.database import to_millis, utc_now
from webapp.domain.forms.agent_token_list import find_revoked_token, list_agent_tokens
from webapp.oauth import connections
from webapp.pages.creator.request import agent_names, creator_id, moment_in, require_creator
from webapp.pages.fragments import go_to, wants_fragment
from webapp.web import request_audit

PAGE = "/connections"
TOKENS_SHOWN = 100  # our choice

bp = Blueprint("connections", __name__)
bp.before_request(require_creator)


@bp.get(PAGE)
def show_connections() -> str:
    """The connected agents, connections ended for security, and how to connect another.

    `?ended=` is the moment at which the creator disconnected something, to say what it was,
    `?revoked=` the id of a token that they revoked.
    """
    ended = moment_in(request.args.get("ended", ""))
    found = connections.list_connections(creator_id(), now=utc_now())
    tokens = list_agent_tokens(creator_id(), now=utc_now(), most=TOKENS_SHOWN)
    return render_template(
        "connections/list.html",
        connections=found.live,
        notices=found.notices,
        ended=connections.list_disconnected(creator_id(), ended) if ended else [],
        tokens=tokens,
        makers=agent_names(row.token.grant_id for row in tokens.newest),
        revoked=find_revoked_token(creator_id(), request.args.get("revoked", "")),
        mcp_url=settings().mcp_url,
        api_url=settings().api_url,
    )


@bp.post("/connections/<grant_id>/disconnect")
def disconnect(grant_id: str) -> Response:
    """Revoke every grant of one agent."""
    by = request_audit.creator()
    return _after(connections.disconnect(creator_id(), grant_id, now=utc_now(), by=by))


@bp.post("/connections/disconnect-all")
def disconnect_all() -> Response:
    """Revoke the grants of all agents."""
    now = utc_now()
    connections.disconnect_all(creator_id(), now=now, by=request_audit.creator())
    return _after(now)


@bp.post("/connections/<grant_id>/trust")
def let_publish(grant_id: str) -> ResponseReturnValue:
    """Set whether the agent's publish counts as the creator's confirmation."""
    connection = connections.let_publish(
        creator_id(),
        grant_id,
        allowed="trust" in request.form,
        now=utc_now(),
        by=request_audit.creator(),
    )
    if wants_fragment():
        return render_template("connections/_connection.html", connection=connection)
    return go_to(PAGE)


def _after(ended: datetime) -> Response:
    return go_to(url_for("connections.show_connections", ended=to_millis(ended)))

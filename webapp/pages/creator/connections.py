"""The connected agents of a creator: their grants, callback addresses and muting."""

from datetime import datetime
from typing import NamedTuple

from flask import Response, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.base.config import settings
from webapp.base.database import to_millis, utc_now
from webapp.drafts.agent_tokens import find_own_token, list_agent_tokens
from webapp.drafts.reviews import AgentDraft, find_agent_draft
from webapp.events import callbacks
from webapp.events.endings import remove_callback
from webapp.oauth import connections
from webapp.pages.creator import fields
from webapp.pages.creator.request import (
    acting,
    agent_names,
    creator_blueprint,
    creator_id,
    limit_one_write,
)
from webapp.pages.fragments import fragment, go_to, nothing_new, wants_fragment

PAGE = "/connections"
TOKENS_SHOWN = 100
CONFIRMED, REMOVED = "confirmed", "removed"  # changes of a callback address

bp = creator_blueprint("connections", PAGE, limits_writes=False)


class AgentProgress(NamedTuple):
    """The progress of an agent since a moment: its name once connected, then its first draft."""

    since: int
    agent: str
    draft: AgentDraft | None

    @property
    def state(self) -> str:
        """A text that changes with each step."""
        return self.draft.id if self.draft else self.agent


def agent_progress(since: datetime) -> AgentProgress:
    """Return the progress of the newest agent that connected at or after `since`."""
    client = connections.find_newest_client(creator_id(), since, now=utc_now())
    draft = find_agent_draft(creator_id(), since)
    author = agent_names([draft.created_by]).get(draft.created_by, "") if draft else ""
    return AgentProgress(to_millis(since), author or (client.name if client else ""), draft)


@bp.get("")
def show_connections() -> str:
    """Show the connected agents, connections ended for security, and how to connect another.

    To confirm an action, `?ended=` is the moment at which the creator disconnected agents,
    `?revoked=` the id of the revoked token, `?address=` the change of a callback address.
    """
    ended = fields.moment_in(request.args.get("ended", ""))
    tokens = list_agent_tokens(creator_id(), now=utc_now(), most=TOKENS_SHOWN)
    addresses = callbacks.list_callbacks(creator_id(), now=utc_now())
    change = request.args.get("address", "")
    return render_template(
        "connections/list.html",
        connections=connections.list_connections(creator_id(), now=utc_now()),
        muted=connections.list_muted(creator_id(), now=utc_now()),
        notices=connections.list_notices(creator_id(), now=utc_now()),
        ended=connections.list_disconnected(creator_id(), ended) if ended else [],
        tokens=tokens,
        makers=agent_names(row.token.grant_id for row in tokens),
        revoked=find_own_token(creator_id(), id=request.args.get("revoked", "")),
        callbacks=addresses,
        waits_days=callbacks.WAITS_FOR.days,
        askers=agent_names(row.grant_id for row in addresses),
        address_change=change if change in (CONFIRMED, REMOVED) else "",
        guide=settings(),
        progress=agent_progress(utc_now()),
    )


@bp.get("/progress")
def show_progress() -> ResponseReturnValue:
    """Show the progress of a new agent below the guide; 204 while its state equals `have`.

    A connection made while the page is open also appears in the list of connections.
    """
    since = fields.moment_in(request.args.get("since", ""))
    progress = agent_progress(since or utc_now())
    if request.args.get("have") == progress.state:
        return nothing_new()
    found = connections.list_connections(creator_id(), now=utc_now()) if since else []
    return fragment(
        "connections/_agent_news.html",
        progress=progress,
        connections=found,
        muted=connections.list_muted(creator_id(), now=utc_now()),
    )


@bp.post("/<grant_id>/disconnect")
def disconnect(grant_id: str) -> Response:
    """Revoke every grant of one agent."""
    return _after(connections.disconnect(creator_id(), grant_id, **acting()))


@bp.post("/disconnect-all")
def disconnect_all() -> Response:
    """Revoke the grants of all agents."""
    act = acting()
    connections.disconnect_all(creator_id(), **act)
    return _after(act["now"])


@bp.post("/addresses/<callback_id>/confirm")
def confirm_address(callback_id: str) -> Response:
    """Confirm a callback address that cannot answer a challenge."""
    allowed = settings().mcp_events_callback_allowlist
    callbacks.confirm_callback(creator_id(), callback_id, allowed_origins=allowed, **acting())
    return go_to(url_for("connections.show_connections", address=CONFIRMED))


@bp.post("/addresses/<callback_id>/remove")
def remove_address(callback_id: str) -> Response:
    """Remove a callback address, confirmed or not; nothing more is sent to it."""
    remove_callback(creator_id(), callback_id, **acting())
    return go_to(url_for("connections.show_connections", address=REMOVED))


@bp.post("/<grant_id>/trust")
def let_publish(grant_id: str) -> ResponseReturnValue:
    """Set whether the agent's publish counts as the creator's confirmation."""
    allowed = "trust" in request.form
    connection = connections.let_publish(creator_id(), grant_id, allowed=allowed, **acting())
    if wants_fragment():
        muted = connections.list_muted(creator_id(), now=utc_now())
        return render_template("connections/_connection.html", connection=connection, muted=muted)
    return go_to(PAGE)


@bp.post("/<grant_id>/mute")
@limit_one_write
def mute(grant_id: str) -> Response:
    """Mute the drafts of an agent for a day."""
    return _set_muted(grant_id, muted=True)


@bp.post("/<grant_id>/unmute")
@limit_one_write
def unmute(grant_id: str) -> Response:
    """Unmute the drafts of an agent."""
    return _set_muted(grant_id, muted=False)


def _set_muted(grant_id: str, *, muted: bool) -> Response:
    """Mute or unmute, and redirect to the agent on the page where the button was."""
    connections.set_muted(creator_id(), grant_id, muted=muted, **acting())
    if request.form.get("from") == "connections":
        return go_to(url_for("connections.show_connections", _anchor=f"connection-{grant_id}"))
    return go_to(url_for("inbox.show", _anchor="muted" if muted else "waiting"))


def _after(ended: datetime) -> Response:
    return go_to(url_for("connections.show_connections", ended=to_millis(ended)))

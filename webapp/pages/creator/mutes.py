"""Muting an agent for a day."""

from flask import Blueprint, Response, request, url_for

from webapp.base.database import utc_now
from webapp.oauth import connections
from webapp.pages.creator.request import creator_id, limit_writes, require_creator
from webapp.pages.fragments import go_to
from webapp.web import request_audit

bp = Blueprint("mutes", __name__, url_prefix="/connections/<grant_id>")
bp.before_request(require_creator)
limit_writes(bp)


@bp.post("/mute")
def mute(grant_id: str) -> Response:
    """From now on its drafts arrive quietly."""
    connections.mute(creator_id(), grant_id, now=utc_now(), by=request_audit.creator())
    return _back(grant_id, "muted")


@bp.post("/unmute")
def unmute(grant_id: str) -> Response:
    """Its drafts ask for the creator's eyes again."""
    connections.unmute(creator_id(), grant_id, now=utc_now(), by=request_audit.creator())
    return _back(grant_id, "waiting")


def _back(grant_id: str, section: str) -> Response:
    """To the page that the button was on, where its agent is now."""
    if request.form.get("from") == "connections":
        return go_to(url_for("connections.show_connections", _anchor=f"connection-{grant_id}"))
    return go_to(url_for("inbox.show", _anchor=section))

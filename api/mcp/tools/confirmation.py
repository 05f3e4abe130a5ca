"""Clients that can open an address for their user are asked to open the review page, once.

The state that they send back says that they were asked; it confirms nothing.
"""

import hashlib
from datetime import datetime

from itsdangerous import BadData, URLSafeSerializer

from api.json_responses import review_url
from api.mcp.call import Call
from api.mcp.messages import Json
from api.mcp.tools.results import InputRequired
from webapp.data_keys import request_state_key
from webapp.database import to_millis, utc_now
from webapp.domain.drafts.models import get_revision

LIVES_MILLIS = 15 * 60 * 1000
STATE_MAX_CHARS = 512
VERSION = 1
METHOD = "tools/call"
MESSAGE = "Read the draft of this form and confirm it there. It is published only after that."


def ask_for_confirmation(call: Call, draft_id: str) -> None:
    """raises InputRequired, unless the client cannot open addresses or was asked before"""
    if not _opens_addresses(call):
        return
    now = utc_now()
    revision = get_revision(call.caller.account_id, draft_id)
    asked = [VERSION, call.caller.account_id, METHOD, draft_id, revision]
    if not _was_asked(call.request_state, asked, now=now):
        raise InputRequired(_request(draft_id, _write_state(asked, now=now)))


def _opens_addresses(call: Call) -> bool:
    elicitation = call.capabilities.get("elicitation")
    return isinstance(elicitation, dict) and isinstance(elicitation.get("url"), dict)


def _request(draft_id: str, state: str) -> Json:
    params = {"mode": "url", "message": MESSAGE, "url": review_url(draft_id)}
    return {
        "resultType": "input_required",
        "inputRequests": {"confirm": {"method": "elicitation/create", "params": params}},
        "requestState": state,
    }


def _write_state(asked: list[object], *, now: datetime) -> str:
    return str(_signer().dumps([*asked, to_millis(now) + LIVES_MILLIS]))


def _was_asked(state: object, asked: list[object], *, now: datetime) -> bool:
    """Whether the state was written here for the same, and lives; whatever was sent."""
    if not isinstance(state, str) or len(state) > STATE_MAX_CHARS or not state.isascii():
        return False
    try:
        *found, ends_at = _signer().loads(state)
    except (BadData, TypeError, ValueError):
        return False
    return found == asked and to_millis(now) < int(ends_at)


def _signer() -> URLSafeSerializer:
    return URLSafeSerializer(
        request_state_key(),
        salt="confirmation of a draft",
        signer_kwargs={"digest_method": hashlib.sha256},
    )

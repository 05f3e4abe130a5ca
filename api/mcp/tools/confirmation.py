"""Clients that can open an address for their user are asked to open the review page.

What they send back says that they were asked and whether the page was opened: it confirms nothing.
"""

import hashlib
from datetime import datetime

from itsdangerous import BadData, URLSafeSerializer

from api.draft_operations import wait_for_review
from api.json_responses import review_url
from api.mcp.call import Call
from api.mcp.messages import Json
from api.mcp.tools.results import InputRequired
from webapp.data_keys import request_state_key
from webapp.database import to_millis, utc_now
from webapp.domain.drafts.models import get_revision
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import StateConflict
from webapp.domain.shared.limits import WAIT_MAX_SECONDS
from webapp.domain.shared.vocabulary import Scope
from webapp.oauth.guard import authenticate_for_mcp, require_mcp_scope

LIVES_MILLIS = 15 * 60 * 1000
STATE_MAX_CHARS = 512
VERSION = 1
METHOD = "tools/call"
REQUEST = "confirm"
MESSAGE = "Read the draft of this form and confirm it there. It is published only after that."
DECLINED = {
    "decline": "The creator declined to open the review page of this draft.",
    "cancel": "The creator closed the request to open the review page of this draft.",
}


def wait_for_confirmation(call: Call, draft_id: str) -> bool:
    """Have the client open the review page, then wait until the state of the review changes.

    At most `WAIT_MAX_SECONDS`, less if no place to wait is free. False if the client cannot open
    addresses.
    raises  InputRequired if it was not asked or gave no answer; StateConflict if its user refused
    """
    if not _opens_addresses(call):
        return False
    now, account_id = utc_now(), call.caller.account_id
    asked = [VERSION, account_id, METHOD, draft_id, get_revision(account_id, draft_id)]
    action = _action(call.responses) if _was_asked(call.request_state, asked, now=now) else None
    if action in DECLINED:
        raise StateConflict(
            ErrorCode.DRAFT_NOT_CONFIRMED,
            DECLINED[action],
            "Leave the draft as it is and do not ask again by yourself: call publish_form_draft "
            "when the creator asks for it.",
        )
    if action != "accept":
        raise InputRequired(_request(draft_id, _write_state(asked, now=now)))
    wait_for_review(account_id, draft_id, WAIT_MAX_SECONDS, require_forms_write)
    return True


def require_forms_write() -> None:
    """While waiting. raises Unauthenticated as soon as the token has ended"""
    require_mcp_scope(authenticate_for_mcp(), Scope.FORMS_WRITE)


def _action(responses: object) -> str | None:
    """What the user did; None for whatever else was sent."""
    answer = responses.get(REQUEST) if isinstance(responses, dict) else None
    action = answer.get("action") if isinstance(answer, dict) else None
    return action if isinstance(action, str) else None


def _opens_addresses(call: Call) -> bool:
    elicitation = call.capabilities.get("elicitation")
    return isinstance(elicitation, dict) and isinstance(elicitation.get("url"), dict)


def _request(draft_id: str, state: str) -> Json:
    params = {"mode": "url", "message": MESSAGE, "url": review_url(draft_id)}
    return {
        "resultType": "input_required",
        "inputRequests": {REQUEST: {"method": "elicitation/create", "params": params}},
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

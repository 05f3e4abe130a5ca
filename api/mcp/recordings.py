"""The addresses of recordings that tools return: each is signed for one recording and one
connection, and ends with that or after minutes. They need no token.
"""

import hashlib
from datetime import datetime, timedelta
from http import HTTPStatus

from flask import Response
from itsdangerous import BadData, URLSafeSerializer
from werkzeug.exceptions import NotFound as NoPage

from api.attachments import attachment_bytes
from api.errors import unexpected_fields
from api.mcp.blueprint import bp
from api.mcp.messages import INTERNAL_ERROR, RpcError
from webapp.config import settings
from webapp.data_keys import recording_key
from webapp.database import to_millis, utc_now
from webapp.domain.forms import models as forms
from webapp.domain.shared.errors import NotFound
from webapp.integrations.audio_store import AudioStoreUnavailable
from webapp.oauth.connections import find_live_account
from webapp.oauth.guard import Caller

LIVES = timedelta(minutes=5)
VERSION = 1
PREFIX = "rec_"  # a signed text may begin with a dot, which some proxies refuse in a path


def recording_address(
    caller: Caller, form_id: str, attachment_id: str, *, now: datetime
) -> tuple[str, datetime]:
    """The address of a recording for this connection, and when it ends."""
    ends_at = min(now + LIVES, caller.grant_expires_at)
    named = [VERSION, caller.grant_id, form_id, attachment_id, to_millis(ends_at)]
    return f"{settings().mcp_url}/recordings/{PREFIX}{_signer().dumps(named)}", ends_at


@bp.get("/recordings/<address>", provide_automatic_options=False)
def get_recording(address: str) -> Response:
    """As getAttachment (200, or 206 with a Range); 404 for whatever the address is no more."""
    now = utc_now()
    try:
        version, grant_id, form_id, attachment_id, ends_at = _signer().loads(
            address.removeprefix(PREFIX)
        )
    except (BadData, TypeError, ValueError):
        raise NoPage from None
    account_id = find_live_account(grant_id, now=now)
    if version != VERSION or account_id is None or to_millis(now) >= ends_at:
        raise NoPage
    try:
        return attachment_bytes(forms.get_form(account_id, form_id).id, attachment_id)
    except NotFound:
        raise NoPage from None
    except AudioStoreUnavailable as failure:
        message = unexpected_fields(failure)["message"]
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        raise RpcError(INTERNAL_ERROR, message, status=status) from failure


def _signer() -> URLSafeSerializer:
    return URLSafeSerializer(
        recording_key(),
        salt="address of a recording",
        signer_kwargs={"digest_method": hashlib.sha256},
    )

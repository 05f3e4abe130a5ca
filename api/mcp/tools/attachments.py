"""The tool that returns a recording, and the route that serves it at a signed address."""

import base64
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Annotated

from flask import Response
from itsdangerous import BadData, URLSafeSerializer
from pydantic import Field, StrictStr
from werkzeug.exceptions import NotFound as NoPage

from api.errors import unexpected_fields
from api.forms import attachment_bytes
from api.mcp.protocol import INTERNAL_ERROR, Call, Json, RpcError, bp
from api.mcp.tools.table import FormArguments, Tool
from api.wire.responses import LinkedAttachment, attachment
from api.wire.types import wire_time
from webapp.base.config import settings
from webapp.base.database import release_connections, to_millis, utc_now
from webapp.base.errors import NotFound
from webapp.base.sealing import recording_key, signer
from webapp.base.vocabulary import Scope
from webapp.oauth.connections import find_live_account
from webapp.oauth.guard import Caller
from webapp.records import forms
from webapp.records.content.draft_input import STORABLE
from webapp.records.responses.models import AttachmentRow
from webapp.records.responses.recordings import find_attachment
from webapp.voice.audio_store import AudioStoreUnavailable, audio_store

LIVES = timedelta(minutes=5)
VERSION = 1
PREFIX = "rec_"  # signed text may begin with a dot, which some proxies refuse in a path


def recording_address(
    caller: Caller, form_id: str, attachment_id: str, *, now: datetime
) -> tuple[str, datetime]:
    """Return an address of a recording for this connection, and the time it expires."""
    ends_at = min(now + LIVES, caller.grant_expires_at)
    named = [VERSION, caller.grant_id, form_id, attachment_id, to_millis(ends_at)]
    return f"{settings().mcp_url}/recordings/{PREFIX}{_signer().dumps(named)}", ends_at


@bp.get("/recordings/<address>", provide_automatic_options=False)
def get_recording(address: str) -> Response:
    """Answer as getAttachment (200, or 206 with a Range); 404 if the address is no longer valid."""
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
    return signer(recording_key(), "address of a recording")


class AttachmentArguments(FormArguments):
    """Which attachment of which form."""

    attachment_id: Annotated[
        StrictStr,
        Field(min_length=1, description="The `id` in the `attachments` of an answer, `att_…`."),
        STORABLE,
    ]


AUDIO_BYTES = 1024**2  # limit of a recording inside a result; Base64 adds a third


@Tool("Get an attachment", scope=Scope.RESPONSES_READ, reads=True, quotes=True)
def get_attachment(call: Call, given: AttachmentArguments) -> LinkedAttachment:
    """The recording of a spoken answer: as audio up to 1 MiB, and in any case at `url`, which
    serves this one recording without a token until `expiresAt`, some minutes; call again for a
    new one. At `agentUrl` a token of create_agent_token reads it. The words that were spoken
    are the answer itself. Not found means that its answer was corrected or taken back.
    """
    form = forms.get_form(call.caller.account_id, given.form_id)
    recording = find_attachment(form.id, given.attachment_id)
    release_connections()
    url, expires_at = recording_address(call.caller, form.id, recording.id, now=utc_now())
    audio = [] if call.blocks is None else _audio(recording)
    found: LinkedAttachment = {
        **attachment(recording),
        "contentOmitted": not audio,
        "formId": form.id,
        "answerId": recording.answer_id,
        "durationSeconds": recording.duration_ms / 1000,
        "url": url,
        "expiresAt": wire_time(to_millis(expires_at)),
        "agentUrl": f"{settings().api_url}/agent/asks/{form.id}/attachments/{recording.id}",
    }
    if call.blocks is not None:
        call.blocks.extend([*audio, _link(found)])
    return found


def _audio(recording: AttachmentRow) -> list[Json]:
    """Return the audio block; none if it is too large or the store does not answer."""
    if recording.size > AUDIO_BYTES:
        return []
    try:
        content = b"".join(audio_store().read(recording.object_key, 0, recording.size))
    except AudioStoreUnavailable:
        return []
    data = base64.b64encode(content).decode()
    return [{"type": "audio", "data": data, "mimeType": recording.media_type}]


def _link(found: LinkedAttachment) -> Json:
    return {
        "type": "resource_link",
        "uri": found["url"],
        "name": found["name"],
        "mimeType": found["type"],
        "size": found["size"],
    }

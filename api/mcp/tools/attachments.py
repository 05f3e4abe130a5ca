"""The recording of a spoken answer: its facts, its audio and its address."""

import base64
from typing import Annotated

from pydantic import Field, StrictStr

from api.mcp.call import Call
from api.mcp.messages import Json
from api.mcp.recordings import recording_address
from api.mcp.tools.arguments import FormArguments
from api.mcp.tools.results import WithBlocks
from api.mcp.tools.table import tool
from webapp.config import settings
from webapp.database import release_connections, utc_now
from webapp.domain.content.draft_fields import STORABLE
from webapp.domain.forms import models as forms
from webapp.domain.responses.models import AttachmentRow
from webapp.domain.responses.recordings import find_attachment
from webapp.domain.shared.vocabulary import Scope
from webapp.integrations.audio_store import AudioStoreUnavailable, audio_store
from webapp.wire.attachments import linked_attachment
from webapp.wire.extension_types import LinkedAttachment

AttachmentId = Annotated[
    StrictStr,
    Field(
        min_length=1,
        description="The `id` in the `attachments` of an answer, `att_…`.",
    ),
    STORABLE,
]


class AttachmentArguments(FormArguments):
    """Which attachment of which form."""

    attachment_id: AttachmentId


AUDIO_BYTES = 1024**2  # of a recording that is part of a result: a third more as base64


@tool(
    "get_attachment",
    title="Get an attachment",
    description="""The recording of a spoken answer: as audio up to 1 MiB, and in any case at `url`,
        which serves this one recording without a token until `expiresAt`, some minutes; call again
        for a new one. At `agentUrl` a token of create_agent_token reads it. The words that were
        spoken are the answer itself. Not found means that its answer was corrected or taken
        back.""",
    scope=Scope.RESPONSES_READ,
    takes=AttachmentArguments,
    answers=LinkedAttachment,
    reads=True,
    quotes=True,
)
def get_attachment(call: Call, given: AttachmentArguments) -> WithBlocks:
    """The recording of `GET /forms/{formId}/attachments/{attachmentId}`."""
    form = forms.get_form(call.caller.account_id, given.form_id)
    recording = find_attachment(form.id, given.attachment_id)
    release_connections()
    address = recording_address(call.caller, form.id, recording.id, now=utc_now())
    audio = _audio(recording) if call.takes_blocks else []
    found = linked_attachment(
        form.id, recording, settings().api_url, *address, is_included=bool(audio)
    )
    return WithBlocks(found, [*audio, _link(found)] if call.takes_blocks else [])


def _audio(recording: AttachmentRow) -> list[Json]:
    """The block that holds it; none where it is too large, or the store does not answer."""
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

"""The recording of a spoken answer: what it is and where its bytes are."""

from typing import Annotated

from pydantic import Field, StrictStr

from api.mcp.call import Call
from api.mcp.messages import Json
from api.mcp.tools.arguments import FormArguments
from api.mcp.tools.results import Linked
from api.mcp.tools.table import tool
from webapp.config import settings
from webapp.domain.content.draft_fields import STORABLE
from webapp.domain.forms import models as forms
from webapp.domain.responses.recordings import find_attachment
from webapp.domain.shared.vocabulary import Scope
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


@tool(
    "get_attachment",
    title="Get an attachment",
    description="""What the recording of a spoken answer is, and where its bytes are; never the
        bytes themselves. `url` takes an access token of the API, `agentUrl` a token of
        create_agent_token. The words that were spoken are the answer itself. Not found means that
        its answer was corrected or taken back.""",
    scope=Scope.RESPONSES_READ,
    takes=AttachmentArguments,
    answers=LinkedAttachment,
    reads=True,
    outside=True,
)
def get_attachment(call: Call, given: AttachmentArguments) -> LinkedAttachment | Linked:
    """The facts of `GET /forms/{formId}/attachments/{attachmentId}`."""
    form = forms.get_form(call.caller.account_id, given.form_id)
    recording = find_attachment(form.id, given.attachment_id)
    found = linked_attachment(form.id, recording, settings().api_url)
    return Linked(found, _link(found)) if call.takes_links else found


def _link(found: LinkedAttachment) -> Json:
    return {
        "type": "resource_link",
        "uri": found["url"],
        "name": found["name"],
        "mimeType": found["type"],
        "size": found["size"],
    }

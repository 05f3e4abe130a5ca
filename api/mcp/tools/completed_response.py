"""One completed response with everything in it, in fragments."""

from typing import Annotated

from pydantic import Field, StrictStr

from api.mcp.call import Call
from api.mcp.tools.arguments import FormArguments
from api.mcp.tools.pages import PageArguments
from api.mcp.tools.table import tool
from webapp.data_keys import fragment_key
from webapp.domain.content.draft_fields import STORABLE
from webapp.domain.forms import models as forms
from webapp.domain.responses.completed import get_completed_response, read_fragments
from webapp.domain.shared.vocabulary import Scope
from webapp.wire.extension_types import CompletedResponsePage
from webapp.wire.fragments import completed_page

ResponseId = Annotated[
    StrictStr,
    Field(
        min_length=1,
        description="The id of a completed response, `ses_…`, which is also called sessionId.",
    ),
    STORABLE,
]


class CompletedResponseArguments(PageArguments, FormArguments):
    """Which response of which form, and from where on."""

    response_id: ResponseId


@tool(
    "get_completed_response",
    title="Get a completed response",
    description="""One response that was sent, with every answer in full. Long texts come in
        fragments: send `nextCursor` as `cursor` until it is null; for each answer `id`, order its
        fragments by `questionOffset` and `answerOffset` (in Unicode code points) and join their
        texts, then order the answers by `created_at`. Judge nothing before the last page is read.
        On `invalid_cursor`, an answer has changed: begin again without cursor.""",
    events="""Call it with the `formId` and `responseId` of an event; when one arrives without
        ids, call get_form_responses with the `since` you kept.""",
    scope=Scope.RESPONSES_READ,
    takes=CompletedResponseArguments,
    answers=CompletedResponsePage,
    reads=True,
    quotes=True,
)
def completed_response(call: Call, given: CompletedResponseArguments) -> CompletedResponsePage:
    """A page whose texts take at most 24 KiB."""
    account_id = call.caller.account_id
    form = forms.get_form(account_id, given.form_id)
    found = get_completed_response(form.id, given.response_id)
    page = read_fragments(fragment_key(), account_id, found, given.cursor, given.limit)
    return completed_page(form.id, found, page)

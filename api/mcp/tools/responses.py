"""What people answered, in pages that fit into the context of a model."""

from typing import cast

from api.mcp.call import Call
from api.mcp.tools.arguments import FormArguments, Since
from api.mcp.tools.pages import LIMIT_MAX, PAGE_BYTES, Limit, size
from api.mcp.tools.table import tool
from webapp.domain.forms import models as forms
from webapp.domain.forms.models import FormRow
from webapp.domain.responses.cursor import ResponsePage, read_responses
from webapp.domain.shared.limits import PAGE_MAX_ITEMS
from webapp.domain.shared.vocabulary import Scope
from webapp.wire.extension_types import ResponsesPage
from webapp.wire.serializers import completed_within, form_responses
from webapp.wire.timestamps import parse_since


class ResponsesArguments(FormArguments):
    """Which form, and from where on."""

    since: Since | None = None
    limit: Limit = LIMIT_MAX


@tool(
    "get_form_responses",
    title="Get responses",
    description="""What people answered in one form after `since`, in progress or completed, oldest
        first. Keep `nextSince` for the next call; while `truncated` is true, ask again at once. A
        corrected answer comes again with a new id and the same `questionId`: drop ids you know. An
        answer with `answerTruncated` is whole in get_completed_response once it is sent. Call it
        with the `since` you kept whenever you begin again, and after a wait without news.""",
    events="""Call it so after each event, too, also after one that arrives without ids: it
        finds what an event did not tell.""",
    scope=Scope.RESPONSES_READ,
    takes=ResponsesArguments,
    answers=ResponsesPage,
    reads=True,
    quotes=True,
)
def get_form_responses(call: Call, given: ResponsesArguments) -> ResponsesPage:
    """As `GET /forms/{formId}/responses`, in smaller pages."""
    form = forms.get_form(call.caller.account_id, given.form_id)
    return fitting_page(form, given_since(given.since), given.limit)


def given_since(since: str | None) -> int | None:
    """In milliseconds. raises InvalidInput `invalid_since`"""
    return None if since is None else parse_since(since)


def fitting_page(form: FormRow, since: int | None, limit: int) -> ResponsesPage:
    """As much of what came after `since` as fits, at least one item."""
    most = min(limit, PAGE_MAX_ITEMS)
    while True:
        page = read_responses(form, since, max_items=most, max_bytes=PAGE_BYTES)
        found = form_responses(form, page)
        items = page.answer_count + len(completed_within(page, since))
        if items <= 1 or size(found) <= PAGE_BYTES:
            return cast(ResponsesPage, found)
        around = size(form_responses(form, ResponsePage([], 0, since, truncated=False)))
        most = max(1, items * (PAGE_BYTES - around) // (size(found) - around))

"""Tools that read published forms."""

from typing import cast

from api.mcp.call import Call
from api.mcp.tools.arguments import FormArguments
from api.mcp.tools.pages import PageArguments, page_of
from api.mcp.tools.table import tool
from webapp.config import settings
from webapp.domain.forms import models as forms
from webapp.domain.shared.vocabulary import Scope
from webapp.wire.extension_types import FormPage, PagedForm
from webapp.wire.serializers import form_list, owned_form


class OneFormArguments(PageArguments, FormArguments):
    """Which form, and which of its questions."""


@tool(
    "list_forms",
    title="List forms",
    description="""All published forms of the connected account, newest first, closed ones included,
        with their share links and how many responses each has. Where `nextCursor` is set, there are
        more: send it as `cursor`.""",
    scope=Scope.FORMS_READ,
    takes=PageArguments,
    answers=FormPage,
    reads=True,
)
def list_forms(call: Call, given: PageArguments) -> FormPage:
    """As `GET /forms`, in pages."""
    found = form_list(forms.list_forms(call.caller.account_id), settings().public_url)
    return page_of(cast(FormPage, found), "forms", "formId", given)


@tool(
    "get_form",
    title="Get a form",
    description="""One published form with its questions, settings, status, share link and counts;
        never with answers. Where `nextCursor` is set, it has more questions: send it as `cursor`.
        Where `textsCut` is true, its longest texts are cut.""",
    scope=Scope.FORMS_READ,
    takes=OneFormArguments,
    answers=PagedForm,
    reads=True,
)
def get_form(call: Call, given: OneFormArguments) -> PagedForm:
    """As `GET /forms/{formId}`, with its questions in pages."""
    form = forms.get_form(call.caller.account_id, given.form_id)
    found = owned_form(form, settings().public_url)
    return page_of(cast(PagedForm, found), "questions", "id", given)

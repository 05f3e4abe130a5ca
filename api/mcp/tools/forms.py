"""Tools that read published forms."""

from api.mcp.call import Call
from api.mcp.tools.arguments import FormArguments
from api.mcp.tools.table import tool
from webapp.config import settings
from webapp.domain.forms import models as forms
from webapp.domain.shared.input_model import InputModel
from webapp.domain.shared.vocabulary import Scope
from webapp.wire.serializers import form_list, owned_form
from webapp.wire.types import FormList, OwnedForm


class NoArguments(InputModel):
    """Nothing."""


@tool(
    "list_forms",
    title="List forms",
    description="""All published forms of the connected account, newest first, closed ones included,
        with their share links and how many responses each has.""",
    scope=Scope.FORMS_READ,
    takes=NoArguments,
    answers=FormList,
    reads=True,
)
def list_forms(call: Call, _given: NoArguments) -> FormList:
    """As `GET /forms`."""
    return form_list(forms.list_forms(call.caller.account_id), settings().public_url)


@tool(
    "get_form",
    title="Get a form",
    description="""One published form with its questions, settings, status, share link and counts;
        never with answers.""",
    scope=Scope.FORMS_READ,
    takes=FormArguments,
    answers=OwnedForm,
    reads=True,
)
def get_form(call: Call, given: FormArguments) -> OwnedForm:
    """As `GET /forms/{formId}`."""
    form = forms.get_form(call.caller.account_id, given.form_id)
    return owned_form(form, settings().public_url)

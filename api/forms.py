"""Published forms of the connected account."""

from flask import Response

from api.blueprint import bp
from api.json_responses import json_answer
from webapp.config import settings
from webapp.domain.forms import models as forms
from webapp.domain.shared.vocabulary import Scope
from webapp.oauth.guard import current_caller, require_scope
from webapp.wire.serializers import form_list, owned_form


@bp.get("/forms")
@require_scope(Scope.FORMS_READ)
def list_service() -> Response:
    """listService: every form of the account, newest first (200)."""
    found = forms.list_forms(current_caller().account_id)
    return json_answer(form_list(found, settings().public_url))


@bp.get("/forms/<form_id>")
@require_scope(Scope.FORMS_READ)
def get_service(form_id: str) -> Response:
    """getService: one form with questions, settings and counts (200 OwnedForm)."""
    form = forms.get_form(current_caller().account_id, form_id)
    return json_answer(owned_form(form, settings().public_url))

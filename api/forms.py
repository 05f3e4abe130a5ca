"""Published forms of the connected account."""

from flask import Response

from api.answers import json_answer
from api.blueprint import bp
from webapp.config import settings
from webapp.contract import FormList
from webapp.domain import forms
from webapp.domain.terms import Scope
from webapp.oauth.guard import current_caller, require_scope
from webapp.serializers import form_summary, owned_form


@bp.get("/forms")
@require_scope(Scope.FORMS_READ)
def list_service() -> Response:
    """listService: every form of the account, newest first (200)."""
    public_url = settings().public_url
    found = [
        form_summary(form, public_url) for form in forms.list_forms(current_caller().account_id)
    ]
    return json_answer(FormList(formCount=len(found), forms=found))


@bp.get("/forms/<form_id>")
@require_scope(Scope.FORMS_READ)
def get_service(form_id: str) -> Response:
    """getService: one form with questions, settings and counts (200 OwnedForm)."""
    form = forms.get_form(current_caller().account_id, form_id)
    return json_answer(owned_form(form, settings().public_url))

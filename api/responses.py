"""Responses of a form, each answer once by its cursor."""

from flask import Response

from api.blueprint import bp
from api.json_responses import json_answer
from api.query import given_since
from webapp.domain.forms import models as forms
from webapp.domain.responses.cursor import read_responses
from webapp.domain.shared.vocabulary import Scope
from webapp.oauth.guard import current_caller, require_scope
from webapp.wire.serializers import form_responses


@bp.get("/forms/<form_id>/responses")
@require_scope(Scope.RESPONSES_READ)
def get_service_responses(form_id: str) -> Response:
    """getServiceResponses: what came after `since` (200 FormResponses)."""
    since = given_since()
    form = forms.get_form(current_caller().account_id, form_id)
    return json_answer(form_responses(form, read_responses(form, since)))

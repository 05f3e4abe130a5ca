"""REST routes of forms with their responses, recordings and agent tokens."""

from datetime import timedelta
from http import HTTPStatus

from flask import Response

from api import bodies, rate_limits
from api.errors import always_refused, bp
from api.wire import forms as wire, responses, types
from webapp.base import config, database, errors
from webapp.base.vocabulary import Scope
from webapp.drafts.agent_tokens import AgentTokenInput, make_agent_token
from webapp.oauth.guard import Caller, acting_agent, current_caller, require_scope
from webapp.records import forms
from webapp.records.responses import cursor, recordings
from webapp.voice.audio_store import audio_store
from webapp.web.byte_ranges import recording_response


@bp.get("/forms")
@require_scope(Scope.FORMS_READ)
def list_service() -> Response:
    """listService: every form of the account, newest first (200)."""
    found = forms.list_forms(current_caller().account_id)
    return bodies.json_answer(wire.form_list(found))


@bp.get("/forms/<form_id>")
@require_scope(Scope.FORMS_READ)
def get_service(form_id: str) -> Response:
    """getService: one form with questions, settings and counts (200 OwnedForm)."""
    form = forms.get_form(current_caller().account_id, form_id)
    return bodies.json_answer(wire.owned_form(form))


@bp.get("/forms/<form_id>/responses")
@require_scope(Scope.RESPONSES_READ)
def get_service_responses(form_id: str) -> Response:
    """getServiceResponses: the answers after `since` (200 FormResponses)."""
    since = bodies.given_since()
    form = forms.get_form(current_caller().account_id, form_id)
    return bodies.json_answer(responses.form_responses(form, cursor.read_responses(form, since)))


@bp.get("/forms/<form_id>/attachments/<attachment_id>")
@require_scope(Scope.RESPONSES_READ)
def get_attachment(form_id: str, attachment_id: str) -> Response:
    """getAttachment: the recording of an answer (200, or 206 with a Range)."""
    form = forms.get_form(current_caller().account_id, form_id)
    return attachment_bytes(form.id, attachment_id)


def attachment_bytes(form_id: str, attachment_id: str) -> Response:
    """Answer as `recording_response`, but refuse a Range with the contract's Error.

    raises  NotFound
    """
    recording = recordings.find_attachment(form_id, attachment_id)
    response = recording_response(recording, audio_store().read)
    if response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        content_range = {"Content-Range": response.headers["Content-Range"]}
        return always_refused(errors.ErrorCode.RANGE_NOT_SATISFIABLE, content_range)
    return response


@bp.post("/forms/<form_id>/agent-tokens")
@require_scope(Scope.RESPONSES_READ)
@rate_limits.limit_agent_tokens
def create_agent_token(form_id: str) -> Response:
    """createAgentToken: a token that reads this form, shown only once (201 MadeAgentToken)."""
    asked = errors.parse_input(AgentTokenInput, bodies.json_body())
    return bodies.json_answer(agent_token(current_caller(), form_id, asked), HTTPStatus.CREATED)


def agent_token(caller: Caller, form_id: str, asked: AgentTokenInput) -> wire.MadeAgentToken:
    """Create a token that ends no later than the connection. raises NotFound"""
    now = database.utc_now()
    made = make_agent_token(
        caller.account_id,
        form_id,
        label=asked.label,
        expires_at=min(now + timedelta(seconds=asked.expires_in_seconds), caller.grant_expires_at),
        now=now,
        grant_id=caller.grant_id,
        by=acting_agent(),
    )
    return {
        "tokenId": made.id,
        "token": made.token,
        "hint": made.hint,
        "askId": form_id,
        "label": asked.label,
        "expiresAt": types.wire_time(database.to_millis(made.expires_at)),
        "answersUrl": f"{config.settings().api_url}/agent/asks/{form_id}/answers",
    }

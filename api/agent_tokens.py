"""Agent tokens that a connected agent makes for itself or for another program."""

from datetime import timedelta
from http import HTTPStatus

from flask import Response

from api.blueprint import bp
from api.json_body import json_body
from api.json_responses import json_answer
from api.rate_limits import limit_agent_tokens
from webapp.config import settings
from webapp.database import utc_now
from webapp.domain.forms.agent_token_input import AgentTokenInput
from webapp.domain.forms.agent_tokens import make_agent_token
from webapp.domain.shared.input_model import parse_input
from webapp.domain.shared.vocabulary import Scope
from webapp.oauth.guard import Caller, acting_agent, current_caller, require_scope
from webapp.wire.extension_types import MadeAgentToken
from webapp.wire.serializers import made_agent_token


@bp.post("/forms/<form_id>/agent-tokens")
@require_scope(Scope.RESPONSES_READ)
@limit_agent_tokens
def create_agent_token(form_id: str) -> Response:
    """createAgentToken: a token that reads this form, said once (201 MadeAgentToken)."""
    given, _ = json_body()
    made = agent_token(current_caller(), form_id, parse_input(AgentTokenInput, given))
    return json_answer(made, HTTPStatus.CREATED)


def agent_token(caller: Caller, form_id: str, asked: AgentTokenInput) -> MadeAgentToken:
    """A new token for the form, never beyond the end of the connection. raises NotFound"""
    now = utc_now()
    made = make_agent_token(
        caller.account_id,
        form_id,
        label=asked.label,
        expires_at=min(now + timedelta(seconds=asked.expires_in_seconds), caller.grant_expires_at),
        now=now,
        grant_id=caller.grant_id,
        by=acting_agent(),
    )
    return made_agent_token(made, form_id, asked.label, settings().api_url)

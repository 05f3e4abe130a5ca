"""The follow-ups that are prepared for questions of a draft: no body of the contract has them."""

from flask import Response

from api.agent_note import sent_note
from api.blueprint import bp
from api.draft_operations import update_draft
from api.drafts import expected_revision
from api.json_body import json_body
from api.json_responses import draft_headers, json_answer
from api.rate_limits import limit_updates
from webapp.domain.content.follow_up_input import parse_follow_ups
from webapp.domain.drafts.models import get_draft
from webapp.domain.shared.vocabulary import Scope
from webapp.oauth.guard import current_caller, require_scope
from webapp.wire.serializers import draft_follow_ups

PATH = "/drafts/<draft_id>/follow-ups"


@bp.get(PATH)
@require_scope(Scope.FORMS_WRITE)
def get_service_draft_follow_ups(draft_id: str) -> Response:
    """getServiceDraftFollowUps: those of each question that has any (200 DraftFollowUps)."""
    draft = get_draft(current_caller().account_id, draft_id)
    return json_answer(draft_follow_ups(draft), headers=draft_headers(draft))


@bp.put(PATH)
@require_scope(Scope.FORMS_WRITE)
@limit_updates
def replace_service_draft_follow_ups(draft_id: str) -> Response:
    """replaceServiceDraftFollowUps: all of them, and nothing else (200 DraftFollowUps)."""
    caller, note = current_caller(), sent_note()
    given, _ = json_body()
    get_draft(caller.account_id, draft_id)  # whose it is comes before what is wrong with the body
    changes = parse_follow_ups(given)
    expected = expected_revision(caller.account_id, draft_id)
    draft = update_draft(caller, draft_id, changes, expected, note)
    return json_answer(draft_follow_ups(draft), headers=draft_headers(draft))

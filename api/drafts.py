"""Drafts: creating, updating, publishing, and waiting for the creator's confirmation."""

import hashlib
import re
from http import HTTPStatus

from flask import Response, request

from api.agent_note import sent_note
from api.blueprint import bp
from api.draft_operations import (
    Waited,
    create_draft,
    publish_draft,
    update_draft,
    wait_for_draft,
    wait_for_review,
)
from api.json_body import json_body, read_body
from api.json_responses import (
    draft_headers,
    draft_location,
    json_answer,
    review_link,
    review_url,
)
from api.query import wait_seconds
from api.rate_limits import limit_creates, limit_publishes, limit_updates
from webapp.config import settings
from webapp.domain.content.draft_input import parse_draft_input
from webapp.domain.drafts import models as drafts
from webapp.domain.drafts.idempotency import Repeatable
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput, StateConflict
from webapp.domain.shared.limits import IDEMPOTENCY_KEY_MAX_CHARS
from webapp.domain.shared.vocabulary import Scope
from webapp.oauth.guard import check_scope, current_caller, require_scope
from webapp.web.wakeups import RETRY_SECONDS
from webapp.wire.draft_reviews import draft_review
from webapp.wire.serializers import form_draft, published_form

STRONG_REVISION = re.compile(r'(?:^|[,\s])"([1-9][0-9]{0,8})"')  # RFC 9110 section 8.8.3


@bp.post("/drafts")
@require_scope(Scope.FORMS_WRITE)
@limit_creates
def create_service_draft() -> Response:
    """createServiceDraft: a private draft, never a public link (201 FormDraft)."""
    caller, note = current_caller(), sent_note()
    given, raw = json_body()
    repeatable = _repeatable(caller.client_id, raw)
    draft = create_draft(caller, parse_draft_input(given), repeatable, note)
    body = form_draft(draft, settings().public_url)
    headers = draft_headers(draft) | {"Location": draft_location(draft.id)}
    return json_answer(body, HTTPStatus.CREATED, headers)


@bp.patch("/drafts/<draft_id>")
@require_scope(Scope.FORMS_WRITE)
@limit_updates
def update_service_draft(draft_id: str) -> Response:
    """updateServiceDraft: replaces the supplied fields, never publishes (200 FormDraft)."""
    caller, note = current_caller(), sent_note()
    given, _ = json_body()
    changes = parse_draft_input(given)
    expected = expected_revision(caller.account_id, draft_id)
    draft = update_draft(caller, draft_id, changes, expected, note)
    return json_answer(form_draft(draft, settings().public_url), headers=draft_headers(draft))


@bp.post("/drafts/<draft_id>/publish")
@require_scope(Scope.FORMS_WRITE)
@limit_publishes
def publish_service_draft(draft_id: str) -> Response:
    """publishServiceDraft: the public link of a confirmed draft (200 PublishedForm)."""
    caller = current_caller()
    read_body()
    _require_revision(caller.account_id, draft_id)
    body = published_form(publish_draft(caller, draft_id), settings().public_url)
    return json_answer(body, headers={"Link": review_link(draft_id)})


@bp.get("/drafts/<draft_id>")
@require_scope(Scope.FORMS_WRITE)
def get_service_draft(draft_id: str) -> Response:
    """getServiceDraft, an extension: the draft and whether its creator confirmed it."""
    seconds = wait_seconds("the creator")
    waited = wait_for_draft(
        current_caller().account_id, draft_id, seconds, lambda: check_scope(Scope.FORMS_WRITE)
    )
    seen = waited.state
    body = form_draft(seen.draft, settings().public_url, seen.form)
    headers = _waited_headers(waited) | {"Askback-Confirmation": seen.confirmation}
    return json_answer(body, headers=headers)


@bp.get("/drafts/<draft_id>/review")
@require_scope(Scope.FORMS_WRITE)
def get_service_draft_review(draft_id: str) -> Response:
    """getServiceDraftReview, an extension: what the creator says of the draft, and changed."""
    seconds = wait_seconds("the creator")
    waited = wait_for_review(
        current_caller().account_id, draft_id, seconds, lambda: check_scope(Scope.FORMS_WRITE)
    )
    seen = waited.state
    body = draft_review(seen.draft, seen.state, review_url(draft_id))
    return json_answer(body, headers=_waited_headers(waited))


def _waited_headers(waited: Waited) -> dict[str, str]:
    retry = {"Retry-After": str(RETRY_SECONDS)} if waited.no_slot else {}
    return draft_headers(waited.state.draft) | retry


def _repeatable(client_id: str, raw: bytes) -> Repeatable | None:
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    if not 0 < len(key) <= IDEMPOTENCY_KEY_MAX_CHARS:
        raise InvalidInput(
            ErrorCode.VALIDATION_FAILED,
            f"Idempotency-Key: has {len(key)} characters; "
            f"1 to {IDEMPOTENCY_KEY_MAX_CHARS} are allowed.",
            "Send a random key, for example a UUID, or none.",
            field="Idempotency-Key",
        )
    return Repeatable(client_id, key, hashlib.sha256(raw).hexdigest())


def expected_revision(account_id: str, draft_id: str) -> int | None:
    """The revision that If-Match names, None without one. raises StateConflict"""
    header = request.headers.get("If-Match")
    if header is None or header.strip() == "*":
        return None
    named = {int(digits) for digits in STRONG_REVISION.findall(header)}
    current = drafts.get_revision(account_id, draft_id)
    if not named:
        raise StateConflict(
            ErrorCode.REVISION_CONFLICT,
            f'names no revision of this draft; it is at "{current}".',
            "Send the ETag of the draft as it came, in its quotes and without W/.",
            field="If-Match",
        )
    return current if current in named else min(named)


def _require_revision(account_id: str, draft_id: str) -> None:
    """If-Match on publish; a change after this look voids the confirmation anyway."""
    expected = expected_revision(account_id, draft_id)
    if expected is not None:
        drafts.require_revision(drafts.get_draft(account_id, draft_id), expected)

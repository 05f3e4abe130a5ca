"""Drafts: creating, updating, publishing, and waiting for the creator's confirmation."""

import hashlib
import re
from http import HTTPStatus
from typing import NamedTuple

from flask import Response, request

from api.blueprint import bp
from api.json_body import json_body, read_body
from api.json_responses import draft_headers, draft_location, json_answer, review_link
from api.query import wait_seconds
from api.rate_limits import count_nothing, limit_creates, limit_publishes, limit_updates
from webapp.config import settings
from webapp.database import release_connections, utc_now
from webapp.domain.content.draft_input import parse_draft_input
from webapp.domain.drafts import confirmations, editing, publishing
from webapp.domain.drafts import models as drafts
from webapp.domain.drafts.idempotency import Repeatable
from webapp.domain.drafts.models import Draft
from webapp.domain.forms.models import FormLink
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput, StateConflict
from webapp.domain.shared.limits import IDEMPOTENCY_KEY_MAX_CHARS
from webapp.domain.shared.vocabulary import DraftStatus, Scope
from webapp.oauth.guard import acting_agent, check_scope, current_caller, require_scope
from webapp.web.wakeups import RETRY_SECONDS, NoSlot, client_gone, wakeups
from webapp.wire.serializers import form_draft, published_form

STRONG_REVISION = re.compile(r'(?:^|[,\s])"([1-9][0-9]{0,8})"')  # RFC 9110 section 8.8.3


@bp.post("/drafts")
@require_scope(Scope.FORMS_WRITE)
@limit_creates
def create_service_draft() -> Response:
    """createServiceDraft: a private draft, never a public link (201 FormDraft)."""
    caller = current_caller()
    given, raw = json_body()
    draft = editing.create_draft(
        caller.account_id,
        parse_draft_input(given),
        author=caller.grant_id,
        now=utc_now(),
        repeatable=_repeatable(caller.client_id, raw),
    )
    if draft.repeated:
        count_nothing()
    body = form_draft(draft, settings().public_url)
    headers = draft_headers(draft) | {"Location": draft_location(draft.id)}
    return json_answer(body, HTTPStatus.CREATED, headers)


@bp.patch("/drafts/<draft_id>")
@require_scope(Scope.FORMS_WRITE)
@limit_updates
def update_service_draft(draft_id: str) -> Response:
    """updateServiceDraft: replaces the supplied fields, never publishes (200 FormDraft)."""
    caller = current_caller()
    given, _ = json_body()
    draft = editing.update_draft(
        caller.account_id,
        draft_id,
        parse_draft_input(given),
        author=caller.grant_id,
        now=utc_now(),
        expected_revision=_expected_revision(caller.account_id, draft_id),
    )
    wakeups().notify(draft_id)
    return json_answer(form_draft(draft, settings().public_url), headers=draft_headers(draft))


@bp.post("/drafts/<draft_id>/publish")
@require_scope(Scope.FORMS_WRITE)
@limit_publishes
def publish_service_draft(draft_id: str) -> Response:
    """publishServiceDraft: the public link of a confirmed draft (200 PublishedForm)."""
    caller = current_caller()
    read_body()
    _require_revision(caller.account_id, draft_id)
    agent_decides = caller.attests_publish or settings().publish_confirmation == "agent"
    published = publishing.publish_draft(
        caller.account_id,
        draft_id,
        now=utc_now(),
        attested_by=caller.grant_id if agent_decides else None,
        by=acting_agent(),
    )
    if published.repeated:
        count_nothing()
    wakeups().notify(draft_id)
    body = published_form(published, settings().public_url)
    return json_answer(body, headers={"Link": review_link(draft_id)})


@bp.get("/drafts/<draft_id>")
@require_scope(Scope.FORMS_WRITE)
def get_service_draft(draft_id: str) -> Response:
    """getServiceDraft, an extension: the draft and whether its creator confirmed it."""
    account_id = current_caller().account_id
    seconds = wait_seconds("the creator")
    seen = _look(account_id, draft_id)
    retry = {}
    if seconds and not seen.is_settled:
        try:
            seen = _changed_within(seconds, seen, account_id) or seen
        except NoSlot:
            retry = {"Retry-After": str(RETRY_SECONDS)}
    body = form_draft(seen.draft, settings().public_url, seen.form)
    headers = draft_headers(seen.draft) | {"Askback-Confirmation": seen.confirmation}
    return json_answer(body, headers=headers | retry)


class _Seen(NamedTuple):
    """`confirmation` is `none`, `current`, or `stale` when the draft changed since."""

    draft: Draft
    form: FormLink | None
    confirmation: str

    @property
    def is_settled(self) -> bool:
        return self.form is not None or self.confirmation == "current"

    @property
    def state(self) -> tuple[int, bool, str]:
        return self.draft.revision, self.form is not None, self.confirmation


def _look(account_id: str, draft_id: str) -> _Seen:
    """The draft at this moment; holds no database connection afterwards."""
    draft = drafts.get_draft(account_id, draft_id)
    form = (
        publishing.find_published_form(draft_id) if draft.status is DraftStatus.PUBLISHED else None
    )
    found = confirmations.find_confirmation(draft_id)
    known = "current" if confirmations.is_current(found, draft) else "stale"
    release_connections()
    return _Seen(draft, form, known if found else "none")


def _changed_within(seconds: int, before: _Seen, account_id: str) -> _Seen | None:
    """The draft as soon as it is confirmed, changed or published; None after the wait.

    raises  Unauthenticated as soon as the token is revoked or expired
    """

    def look() -> _Seen | None:
        check_scope(Scope.FORMS_WRITE)
        seen = _look(account_id, before.draft.id)
        return seen if seen.state != before.state else None

    return wakeups().wait_until(
        before.draft.id, look, seconds, account_id=account_id, gone=client_gone()
    )


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


def _expected_revision(account_id: str, draft_id: str) -> int | None:
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
    expected = _expected_revision(account_id, draft_id)
    if expected is not None:
        drafts.require_revision(drafts.get_draft(account_id, draft_id), expected)

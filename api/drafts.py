"""REST routes of drafts and their prepared follow-ups, and the steps that tools share."""

import hashlib
import re
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from flask import Response, request

from api import bodies, waiting
from api.errors import bp
from api.rate_limits import count_nothing, limit_creates, limit_publishes, limit_updates
from api.wire import drafts as wire, forms
from webapp.base import config, database, errors
from webapp.base.vocabulary import DraftStatus, ReviewState, Scope
from webapp.drafts import agreement, confirmations, editing, publishing, reviews
from webapp.oauth.guard import Caller, acting_agent, authenticate, current_caller, require_scope
from webapp.records import drafts
from webapp.records.content import draft_input, model
from webapp.records.forms import FormRow
from webapp.web.wakeups import wakeups

HEADER = "Askback-Note"
# a character takes up to four bytes in UTF-8, each written as %XX
ENCODED_MAX_CHARS = 12 * drafts.AGENT_NOTE_MAX_CHARS
# characters that need no encoding may be sent unencoded
_ENCODED = re.compile("(?:[\x20-\x24\x26-\x7e]|%[0-9A-Fa-f]{2})*")


def sent_note() -> str | None:
    """Return the agent's note, None if absent. raises InvalidInput `validation_failed`"""
    header = request.headers.get(HEADER, "")
    with suppress(UnicodeDecodeError):
        if _ENCODED.fullmatch(header):
            return drafts.clean_note(unquote_to_bytes(header).decode(), HEADER, by_agent=True)
    raise errors.wrong_field(
        HEADER,
        "is not percent-encoded UTF-8",
        "Encode the note as encodeURIComponent of JavaScript does, or send none.",
    )


# of a draft in other states it is `current`
CONFIRMATIONS: dict[ReviewState, wire.Confirmation] = {
    ReviewState.WAITING: "none",
    ReviewState.STALE: "stale",
    ReviewState.RETURNED: "returned",
}
SETTLED = frozenset({ReviewState.CONFIRMED, ReviewState.PUBLISHED})
ANSWERED = frozenset({ReviewState.RETURNED, ReviewState.DISCARDED})  # ended without a form


class DraftState(NamedTuple):
    """A draft, its form, and the state of its review."""

    draft: drafts.Draft
    form: FormRow | None
    state: ReviewState


def create_draft(
    caller: Caller,
    changes: model.DraftUpdate,
    repeatable: editing.Repeatable | None = None,
    agent_note: str | None = None,
) -> drafts.Draft:
    """Store a draft with `editing.create_draft`; a repeat uses no quota."""
    draft = editing.create_draft(
        caller.account_id,
        changes,
        author=caller.grant_id,
        now=database.utc_now(),
        repeatable=repeatable,
        agent_note=agent_note,
    )
    if draft.repeated:
        count_nothing()
    return draft


def update_draft(
    caller: Caller,
    draft_id: str,
    changes: model.DraftUpdate,
    expected_revision: int | None = None,
    agent_note: str | None = None,
) -> drafts.Draft:
    """Change a draft with `editing.update_draft`, and wake its waits."""
    draft = editing.update_draft(
        caller.account_id,
        draft_id,
        changes,
        author=caller.grant_id,
        now=database.utc_now(),
        expected_revision=expected_revision,
        agent_note=agent_note,
    )
    wakeups().notify(draft_id)
    return draft


def publish_draft(caller: Caller, draft_id: str) -> publishing.Published:
    """Publish with `publishing.publish_draft`; the operator or creator may let agents confirm."""
    agent_decides = caller.attests_publish or config.settings().publish_confirmation == "agent"
    transcriber = config.settings().transcriber_host
    offered = agreement.VoiceAgreement(records_voice=True, transcriber=transcriber)
    published = publishing.publish_draft(
        caller.account_id,
        draft_id,
        now=database.utc_now(),
        attested_by=caller.grant_id if agent_decides else None,
        offered=offered,
        by=acting_agent(),
    )
    if published.repeated:
        count_nothing()
    wakeups().notify(draft_id)
    return published


def wait_for_draft(
    draft_id: str, seconds: int, *, review_alone: bool = False
) -> waiting.Waited[DraftState]:
    """Return a settled draft at once, others when their revision or review state changes.

    review_alone    ignore revisions; accept discarded drafts, and count them and those that were
                    sent back as settled
    """
    account_id = current_caller().account_id
    get = reviews.get_reviewed if review_alone else drafts.get_draft
    settled = SETTLED | ANSWERED if review_alone else SETTLED

    def read() -> DraftState:
        draft = get(account_id, draft_id)
        published = draft.status is DraftStatus.PUBLISHED
        form = publishing.find_published_form(draft_id) if published else None
        state = reviews.review_state(draft, confirmations.find_confirmation(draft_id))
        database.release_connections()
        return DraftState(draft, form, state)

    def has_changed(before: DraftState, now: DraftState) -> bool:
        changed = now.draft.revision != before.draft.revision
        return now.state != before.state or (changed and not review_alone)

    return waiting.wait_for(
        draft_id,
        read,
        lambda now: now.state in settled,
        seconds,
        account_id=account_id,
        require_access=partial(authenticate, Scope.FORMS_WRITE),
        has_changed=has_changed,
    )


STRONG_REVISION = re.compile(r'(?:^|[,\s])"([1-9][0-9]{0,8})"')  # RFC 9110 section 8.8.3


@bp.post("/drafts")
@require_scope(Scope.FORMS_WRITE)
@limit_creates
def create_service_draft() -> Response:
    """createServiceDraft: store a private draft, without a public link (201 FormDraft)."""
    caller, note = current_caller(), sent_note()
    given = bodies.json_body()
    repeatable = _repeatable(caller.client_id)
    draft = create_draft(caller, draft_input.parse_draft_input(given), repeatable, note)
    headers = {"Location": bodies.draft_location(draft.id)}
    return _answer(draft, wire.form_draft(draft), HTTPStatus.CREATED, headers)


@bp.patch("/drafts/<draft_id>")
@require_scope(Scope.FORMS_WRITE)
@limit_updates
def update_service_draft(draft_id: str) -> Response:
    """updateServiceDraft: replace the supplied fields, without publishing (200 FormDraft)."""
    caller, note = current_caller(), sent_note()
    changes = draft_input.parse_draft_input(bodies.json_body())
    expected = expected_revision(caller.account_id, draft_id)
    draft = update_draft(caller, draft_id, changes, expected, note)
    return _answer(draft, wire.form_draft(draft))


@bp.post("/drafts/<draft_id>/publish")
@require_scope(Scope.FORMS_WRITE)
@limit_publishes
def publish_service_draft(draft_id: str) -> Response:
    """publishServiceDraft: publish a confirmed draft (200 PublishedForm)."""
    caller = current_caller()
    bodies.read_body()
    expected = expected_revision(caller.account_id, draft_id)
    if expected is not None:  # a later change voids the confirmation anyway
        drafts.require_revision(drafts.get_draft(caller.account_id, draft_id), expected)
    body = forms.published_form(publish_draft(caller, draft_id))
    return bodies.json_answer(body, headers={"Link": bodies.review_link(draft_id)})


@bp.get("/drafts/<draft_id>")
@require_scope(Scope.FORMS_WRITE)
def get_service_draft(draft_id: str) -> Response:
    """getServiceDraft, an extension: the draft, and whether its creator confirmed it."""
    waited = wait_for_draft(draft_id, waiting.wait_seconds("the creator"))
    draft, form, state = waited.seen
    confirmation = CONFIRMATIONS.get(state, "current")
    headers = {"Askback-Confirmation": confirmation} | waited.retry_header
    return _answer(draft, wire.form_draft(draft, form), headers=headers)


@bp.get("/drafts/<draft_id>/review")
@require_scope(Scope.FORMS_WRITE)
def get_service_draft_review(draft_id: str) -> Response:
    """getServiceDraftReview, an extension: the review, with the creator's note and changes."""
    waited = wait_for_draft(draft_id, waiting.wait_seconds("the creator"), review_alone=True)
    draft, _, state = waited.seen
    body = wire.draft_review(draft, state, bodies.review_url(draft_id))
    return _answer(draft, body, headers=waited.retry_header)


def _answer(
    draft: drafts.Draft,
    body: object,
    status: HTTPStatus = HTTPStatus.OK,
    headers: dict[str, str] | None = None,
) -> Response:
    """Answer with the revision as an entity tag and a link to the review page."""
    of_draft = {"ETag": f'"{draft.revision}"', "Link": bodies.review_link(draft.id)}
    return bodies.json_answer(body, status, of_draft | (headers or {}))


def _repeatable(client_id: str) -> editing.Repeatable | None:
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    most = wire.IDEMPOTENCY_KEY_MAX_CHARS
    if not 0 < len(key) <= most:
        problem = f"has {len(key)} characters; 1 to {most} are allowed"
        resolution = "Send a random key, for example a UUID, or none."
        raise errors.wrong_field("Idempotency-Key", problem, resolution)
    return editing.Repeatable(client_id, key, hashlib.sha256(bodies.read_body()).hexdigest())


def expected_revision(account_id: str, draft_id: str) -> int | None:
    """Return the revision that If-Match names, None if absent. raises StateConflict"""
    header = request.headers.get("If-Match")
    if header is None or header.strip() == "*":
        return None
    named = {int(digits) for digits in STRONG_REVISION.findall(header)}
    current = drafts.get_revision(account_id, draft_id)
    if not named:
        raise errors.StateConflict(
            errors.ErrorCode.REVISION_CONFLICT,
            f'names no revision of this draft; it is at "{current}".',
            "Send the ETag of the draft as it came, in its quotes and without W/.",
            field="If-Match",
        )
    return current if current in named else min(named)


PATH = "/drafts/<draft_id>/follow-ups"


@bp.get(PATH)
@require_scope(Scope.FORMS_WRITE)
def get_service_draft_follow_ups(draft_id: str) -> Response:
    """getServiceDraftFollowUps: the prepared follow-ups by question (200 DraftFollowUps)."""
    draft = drafts.get_draft(current_caller().account_id, draft_id)
    return _answer(draft, wire.draft_follow_ups(draft))


@bp.put(PATH)
@require_scope(Scope.FORMS_WRITE)
@limit_updates
def replace_service_draft_follow_ups(draft_id: str) -> Response:
    """replaceServiceDraftFollowUps: replace the prepared follow-ups (200 DraftFollowUps)."""
    caller, note = current_caller(), sent_note()
    given = bodies.json_body()
    drafts.get_draft(caller.account_id, draft_id)  # refuse a foreign draft before an invalid body
    changes = draft_input.parse_follow_ups(given)
    expected = expected_revision(caller.account_id, draft_id)
    draft = update_draft(caller, draft_id, changes, expected, note)
    return _answer(draft, wire.draft_follow_ups(draft))

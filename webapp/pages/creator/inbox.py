"""The inbox: drafts to review, new drafts, discarding and restoring drafts."""

import hashlib
from dataclasses import dataclass

from flask import Blueprint, Response, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.database import to_millis, utc_now
from webapp.domain.content.model import DraftUpdate
from webapp.domain.deletion import discarded_drafts
from webapp.domain.drafts import confirmations, editing, revisions
from webapp.domain.drafts import models as drafts
from webapp.domain.drafts.models import DraftSummaryRow
from webapp.domain.forms import models as forms
from webapp.domain.forms.models import FormSummaryRow
from webapp.domain.shared.vocabulary import DraftStatus
from webapp.pages.creator.request import (
    agent_names,
    creator_id,
    moment_in,
    require_creator,
    waiting_count,
)
from webapp.pages.fragments import fragment, go_to, nothing_new, page_or_fragment
from webapp.web import request_audit
from webapp.web.wakeups import wakeups

LIVE_SHOWN = 5
CHOSEN_MAX = 500  # our choice: bounds one statement

bp = Blueprint("inbox", __name__, url_prefix="/drafts")
bp.before_request(require_creator)


@dataclass(frozen=True, slots=True)
class Entry:
    """A draft in the inbox; `changes` since the creator's last view, None if never viewed."""

    draft: DraftSummaryRow
    agent: str
    changes: int | None


@bp.get("")
def show() -> ResponseReturnValue:
    """Unconfirmed drafts, confirmed drafts and the newest live forms.

    `?v=` is the state that an open page shows: 204 when it is the same.
    """
    confirmed = confirmations.list_confirmed(creator_id())
    entries = _entries(drafts.list_drafts(creator_id()))
    live = forms.list_newest_forms(creator_id(), LIVE_SHOWN)
    state = _state(entries, confirmed, live)
    if request.args.get("v") == state:
        return nothing_new()
    return page_or_fragment(
        "inbox/inbox.html",
        "inbox/_inbox.html",
        waiting=[entry for entry in entries if entry.draft.id not in confirmed],
        confirmed=[entry for entry in entries if entry.draft.id in confirmed],
        live=live,
        state=state,
        discarded=_discarded(),
    )


@bp.get("/waiting")
def count() -> ResponseReturnValue:
    """The count in the site header; 204 if it equals the parameter `have`."""
    if request.args.get("have") == str(waiting_count()):
        return nothing_new()
    return fragment("inbox/_waiting_count.html")


@bp.get("/new")
def ask_new() -> ResponseReturnValue:
    """The page that offers a new draft; a GET creates none."""
    return render_template("inbox/new.html")


@bp.post("/new")
def write() -> ResponseReturnValue:
    """Create an empty draft, with the editor of its title open."""
    account, now = creator_id(), utc_now()
    draft = editing.create_draft(account, DraftUpdate(), author=None, now=now)
    drafts.mark_seen(account, draft.id, draft.revision, now=now)
    return go_to(url_for("drafts.review", draft_id=draft.id, write="title"))


@bp.get("/tidy")
def choose() -> ResponseReturnValue:
    """The page for choosing drafts to discard."""
    return render_template(
        "inbox/discard_many.html", entries=_entries(drafts.list_drafts(creator_id()))
    )


@bp.post("/tidy")
def discard_chosen() -> ResponseReturnValue:
    """Discard the chosen drafts; the inbox offers to restore them."""
    now = utc_now()
    chosen = [draft_id for draft_id in request.form.getlist("draft") if "\0" not in draft_id]
    count = discarded_drafts.discard_drafts(
        creator_id(), chosen[:CHOSEN_MAX], now=now, by=request_audit.creator()
    )
    return _after_discard(chosen, to_millis(now) if count else None)


@bp.get("/<draft_id>/discard")
def ask_discard(draft_id: str) -> ResponseReturnValue:
    """Ask before discarding a draft."""
    draft = drafts.get_draft(creator_id(), draft_id)
    if draft.status is DraftStatus.PUBLISHED:
        return go_to(url_for("drafts.review", draft_id=draft_id))
    return render_template("inbox/discard.html", draft=draft)


@bp.post("/<draft_id>/discard")
def discard(draft_id: str) -> ResponseReturnValue:
    """Discard one draft; the inbox offers to restore it."""
    now = utc_now()
    discarded_drafts.discard_draft(creator_id(), draft_id, now=now, by=request_audit.creator())
    return _after_discard([draft_id], to_millis(now))


@bp.post("/take-back")
def take_back() -> ResponseReturnValue:
    """Undo a discard."""
    at = moment_in(request.form.get("at", ""))
    if at:
        discarded_drafts.restore(creator_id(), at, now=utc_now(), by=request_audit.creator())
    return go_to(url_for("inbox.show"))


def _after_discard(draft_ids: list[str], at: int | None) -> Response:
    for draft_id in draft_ids:
        wakeups().notify(draft_id)
    return go_to(url_for("inbox.show", discarded=at))


def _discarded() -> dict[str, int]:
    """Time and number of the drafts that were just discarded and can be restored."""
    at = moment_in(request.args.get("discarded", ""))
    if at is None:
        return {"at": 0, "count": 0}
    count = discarded_drafts.count_discarded(creator_id(), at, now=utc_now())
    return {"at": to_millis(at), "count": count}


def _entries(found: list[DraftSummaryRow]) -> list[Entry]:
    names = agent_names(draft.author or draft.created_by for draft in found)
    changes = revisions.count_changes(creator_id())
    return [
        Entry(
            draft,
            names.get(draft.author or draft.created_by or "", ""),
            changes.get(draft.id),
        )
        for draft in found
    ]


def _state(entries: list[Entry], confirmed: set[str], live: list[FormSummaryRow]) -> str:
    """A hash of what the page shows, without times."""
    shown = [
        [(entry.draft.id, entry.draft.revision, entry.changes) for entry in entries],
        sorted(confirmed),
        [(form.id, form.status, form.response_count) for form in live],
    ]
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]

"""The inbox: drafts to review, new drafts, discarding and restoring drafts."""

import hashlib
from collections import Counter
from http import HTTPStatus
from typing import Any

from flask import Blueprint, Response, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.database import from_millis, to_millis, utc_now
from webapp.domain.content.model import DraftUpdate
from webapp.domain.deletion import discarded_drafts
from webapp.domain.drafts import confirmations, editing, unseen, views
from webapp.domain.drafts import models as drafts
from webapp.domain.drafts.creator_notes import clean_note
from webapp.domain.drafts.models import DraftSummaryRow
from webapp.domain.forms import models as forms
from webapp.domain.forms.models import FormSummaryRow
from webapp.domain.results.unread import count_unread
from webapp.domain.shared.errors import InvalidInput
from webapp.oauth import mutes
from webapp.pages.creator.agents.drafted import (
    SECTIONS,
    Agent,
    Entry,
    Sections,
    in_groups,
    in_sections,
    muted_agents,
)
from webapp.pages.creator.connections import AgentProgress, agent_progress, connect_guide
from webapp.pages.creator.draft_view import in_plain_words
from webapp.pages.creator.forms import form_entries
from webapp.pages.creator.request import (
    clients_of,
    creator_id,
    limit_new_drafts,
    limit_writes,
    moment_in,
    require_creator,
    typed,
    waiting_count,
)
from webapp.pages.fragments import fragment, go_to, nothing_new, page_or_fragment
from webapp.web import request_audit
from webapp.web.wakeups import wakeups

LIVE_SHOWN = 5
CHOSEN_MAX = 500  # our choice: bounds one statement

bp = Blueprint("inbox", __name__, url_prefix="/drafts")
bp.before_request(require_creator)
limit_writes(bp)


@bp.get("")
def show() -> ResponseReturnValue:
    """Drafts that wait, confirmed ones, those that ask for nothing, and the newest live forms.

    `?v=` is the state that an open page shows: 204 when it is the same.
    """
    muted = mutes.list_muted(creator_id(), now=utc_now())
    confirmed = confirmations.list_confirmed(creator_id())
    sections = in_sections(_entries(drafts.list_drafts(creator_id())), confirmed, muted)
    live = forms.list_newest_forms(creator_id(), LIVE_SHOWN)
    unread = count_unread([form.id for form in live])
    state = _state(sections, live, unread)
    if request.args.get("v") == state:
        return nothing_new()
    return page_or_fragment(
        "inbox/inbox.html",
        "inbox/_inbox.html",
        sections=sections,
        groups=in_groups(sections.waiting),
        muted_agents=muted_agents(sections.muted, muted),
        live=form_entries(live, unread),
        state=state,
        discarded=_discarded(),
        guide=connect_guide(),
        progress=None if live else _progress(sections),
        restored=min(request.args.get("restored", 0, type=int), CHOSEN_MAX),
        returned=_just("returned", sections.returned),
        kept=_just("kept", sections.waiting),
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
@limit_new_drafts
def write() -> ResponseReturnValue:
    """Create an empty draft, with the editor of its title open."""
    account, now = creator_id(), utc_now()
    draft = editing.create_draft(account, DraftUpdate(), author=None, now=now)
    views.mark_seen(account, draft.id, draft.revision, now=now)
    return go_to(url_for("drafts.review", draft_id=draft.id, write="title"))


@bp.get("/tidy")
def choose() -> ResponseReturnValue:
    """The page for choosing drafts to discard."""
    return _choice(HTTPStatus.OK)


@bp.post("/tidy")
def discard_chosen() -> ResponseReturnValue:
    """Discard the chosen drafts; the inbox offers to restore them."""
    now = utc_now()
    chosen = [draft_id for draft_id in request.form.getlist("draft") if "\0" not in draft_id]
    try:
        note = clean_note(typed("note"))
    except InvalidInput as problem:
        return _choice(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            chosen=chosen,
            note_text=typed("note"),
            message=in_plain_words(problem),
        )
    count = discarded_drafts.discard_drafts(
        creator_id(), chosen[:CHOSEN_MAX], note=note, now=now, by=request_audit.creator()
    )
    return _after_discard(chosen, to_millis(now) if count else None)


@bp.post("/<draft_id>/discard")
def discard(draft_id: str) -> ResponseReturnValue:
    """Discard one draft; the inbox offers to restore it."""
    now, by = utc_now(), request_audit.creator()
    discarded_drafts.discard_draft(creator_id(), draft_id, now=now, by=by)
    return _after_discard([draft_id], to_millis(now))


@bp.post("/take-back")
def take_back() -> ResponseReturnValue:
    """Undo a discard."""
    at = moment_in(request.form.get("at", ""))
    count = 0
    if at:
        count = discarded_drafts.restore(
            creator_id(), at, now=utc_now(), by=request_audit.creator()
        )
    return go_to(url_for("inbox.show", restored=count or None))


def _after_discard(draft_ids: list[str], at: int | None) -> Response:
    for draft_id in draft_ids:
        wakeups().notify(draft_id)
    return go_to(url_for("inbox.show", discarded=at))


def _choice(status: HTTPStatus, **more: Any) -> ResponseReturnValue:
    values = {"chosen": [], "note_text": "", "message": ""} | more
    entries = _entries(drafts.list_drafts(creator_id()))
    return render_template("inbox/discard_many.html", entries=entries, **values), status


def _just(done: str, entries: list[Entry]) -> DraftSummaryRow | None:
    """The draft that the address says was just sent back or kept, where it stands so."""
    asked = request.args.get(done)
    return next((entry.draft for entry in entries if entry.draft.id == asked), None)


def _discarded() -> dict[str, int]:
    """Time and number of the drafts that were just discarded and can be restored."""
    at = moment_in(request.args.get("discarded", ""))
    if at is None:
        return {"at": 0, "count": 0}
    count = discarded_drafts.count_discarded(creator_id(), at, now=utc_now())
    return {"at": to_millis(at), "count": count}


def _progress(sections: Sections) -> AgentProgress | None:
    """That of the first agent, until the creator has seen its first draft."""
    entries = [entry for name in SECTIONS for entry in getattr(sections, name)]
    seen = any(entry.changes is not None for entry in entries)
    first = entries == sections.waiting and len(entries) <= 1 and not seen
    return agent_progress(from_millis(0)) if first else None


def _entries(found: list[DraftSummaryRow]) -> list[Entry]:
    clients = clients_of(grant for draft in found for grant in (draft.author, draft.created_by))
    agents = {grant: Agent(each.name, each.id, grant) for grant, each in clients.items()}
    changes = unseen.count_unseen_changes(creator_id())
    return [
        Entry(
            draft,
            agents.get(draft.author or draft.created_by or ""),
            agents.get(draft.created_by or ""),
            changes.get(draft.id),
        )
        for draft in found
    ]


def _state(sections: Sections, live: list[FormSummaryRow], unread: Counter[str]) -> str:
    """A hash of what the page shows, without times."""
    shown = [
        [
            (entry.draft.id, entry.draft.revision, entry.draft.returned_at, entry.changes)
            for entry in getattr(sections, name)
        ]
        for name in SECTIONS
    ]
    forms_shown = [(form.id, form.status, form.response_count, unread[form.id]) for form in live]
    return hashlib.sha256(repr([shown, forms_shown]).encode()).hexdigest()[:16]

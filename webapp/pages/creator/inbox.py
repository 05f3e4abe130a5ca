"""The inbox: drafts in groups, and what waits for the creator."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from flask import Blueprint, Response, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.answers import trash
from webapp.answers.unread import count_unread
from webapp.base.database import from_millis, to_millis, utc_now
from webapp.base.errors import InvalidInput
from webapp.base.limits import DRAFTED_TOGETHER_SECONDS
from webapp.drafts import confirmations, editing, revisions
from webapp.oauth import connections
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
from webapp.records import drafts, forms
from webapp.records.content.model import DraftUpdate
from webapp.records.drafts import DraftSummaryRow, clean_note
from webapp.records.forms import FormSummaryRow
from webapp.web import request_audit
from webapp.web.wakeups import wakeups

TOGETHER = timedelta(seconds=DRAFTED_TOGETHER_SECONDS)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of the creator: the name and key of its client, and one of its grants."""

    name: str
    client: str
    grant: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A draft in the inbox; `changes` since the creator's last view, None if never viewed.

    agent  who wrote last, else who made it; None for the creator
    maker  the agent that made it
    """

    draft: DraftSummaryRow
    agent: Agent | None
    maker: Agent | None
    changes: int | None


@dataclass(frozen=True, slots=True)
class Group:
    """Drafts that one agent made together, most recently changed first; often only one."""

    entries: list[Entry]

    @property
    def maker(self) -> Agent | None:
        return self.entries[0].maker


@dataclass(frozen=True, slots=True)
class MutedAgent:
    """An agent with drafts that arrived quietly."""

    agent: Agent
    until: datetime


@dataclass(slots=True)
class Sections:
    """Every draft in one of them, most recently changed first."""

    waiting: list[Entry] = field(default_factory=list)
    confirmed: list[Entry] = field(default_factory=list)
    by_hand: list[Entry] = field(default_factory=list)
    returned: list[Entry] = field(default_factory=list)
    muted: list[Entry] = field(default_factory=list)
    empty: list[Entry] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The number of all drafts."""
        return sum(len(getattr(self, name)) for name in SECTIONS)


SECTIONS = tuple(each.name for each in fields(Sections))


def in_sections(
    entries: Iterable[Entry], confirmed: set[str], muted: Mapping[str, datetime]
) -> Sections:
    """`muted` has the keys of muted clients."""
    found = Sections()
    for entry in entries:
        if entry.draft.id in confirmed:
            found.confirmed.append(entry)
        elif confirmations.is_returned(entry.draft):
            found.returned.append(entry)
        elif confirmations.is_by_hand(entry.draft):
            found.by_hand.append(entry)
        elif entry.agent and entry.agent.client in muted:
            found.muted.append(entry)
        elif confirmations.is_empty(entry.draft):
            found.empty.append(entry)
        else:
            found.waiting.append(entry)
    return found


def in_groups(entries: Sequence[Entry]) -> list[Group]:
    """Those that one agent made within ten minutes of the first together, in the order of their
    newest.
    """
    newest_of: dict[str, tuple[datetime, str]] = {}  # by client: its newest group
    group_of: dict[str, str] = {}
    for entry in sorted(entries, key=lambda entry: entry.draft.created_at):
        draft, client = entry.draft, entry.maker.client if entry.maker else ""
        began_at, group = newest_of.get(client, (draft.created_at, draft.id))
        if not client or draft.created_at - began_at > TOGETHER:
            began_at, group = draft.created_at, draft.id
        newest_of[client] = began_at, group
        group_of[draft.id] = group
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(group_of[entry.draft.id], []).append(entry)
    return [Group(together) for together in groups.values()]


def muted_agents(entries: Iterable[Entry], muted: Mapping[str, datetime]) -> list[MutedAgent]:
    """The agents of these drafts, each once."""
    agents = {entry.agent.client: entry.agent for entry in entries if entry.agent}
    return [MutedAgent(agent, muted[client]) for client, agent in agents.items()]


LIVE_SHOWN = 5
CHOSEN_MAX = 500  # bounds one statement

bp = Blueprint("inbox", __name__, url_prefix="/drafts")
bp.before_request(require_creator)
limit_writes(bp)


@bp.get("")
def show() -> ResponseReturnValue:
    """Drafts that wait, confirmed ones, those that ask for nothing, and the newest live forms.

    `?v=` is the state that an open page shows: 204 when it is the same.
    """
    muted = connections.list_muted(creator_id(), now=utc_now())
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
    revisions.mark_seen(account, draft.id, draft.revision, now=now)
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
    count = trash.discard_drafts(
        creator_id(), chosen[:CHOSEN_MAX], note=note, now=now, by=request_audit.creator()
    )
    return _after_discard(chosen, to_millis(now) if count else None)


@bp.post("/<draft_id>/discard")
def discard(draft_id: str) -> ResponseReturnValue:
    """Discard one draft; the inbox offers to restore it."""
    now, by = utc_now(), request_audit.creator()
    trash.discard_draft(creator_id(), draft_id, now=now, by=by)
    return _after_discard([draft_id], to_millis(now))


@bp.post("/take-back")
def take_back() -> ResponseReturnValue:
    """Undo a discard."""
    at = moment_in(request.form.get("at", ""))
    count = 0
    if at:
        count = trash.restore(creator_id(), at, now=utc_now(), by=request_audit.creator())
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
    """The draft that the address says was just sent back or kept, if it still is."""
    asked = request.args.get(done)
    return next((entry.draft for entry in entries if entry.draft.id == asked), None)


def _discarded() -> dict[str, int]:
    """Time and number of the drafts that were just discarded and can be restored."""
    at = moment_in(request.args.get("discarded", ""))
    if at is None:
        return {"at": 0, "count": 0}
    count = trash.count_discarded(creator_id(), at, now=utc_now())
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
    changes = revisions.count_unseen_changes(creator_id())
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

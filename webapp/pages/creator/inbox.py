"""The inbox: the creator's drafts in sections and groups, creating and discarding them."""

import hashlib
from collections import Counter
from collections.abc import Container, Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import NamedTuple, TypeAlias

from flask import Response, render_template, request, url_for

from webapp.answers import trash
from webapp.answers.reading import count_unread
from webapp.base.database import from_millis, to_millis, utc_now
from webapp.base.errors import InvalidInput
from webapp.drafts import confirmations, editing, revisions
from webapp.oauth import connections
from webapp.pages.creator import fields
from webapp.pages.creator.connections import AgentProgress, agent_progress
from webapp.pages.creator.draft_view import in_plain_words
from webapp.pages.creator.forms import form_entries
from webapp.pages.creator.request import acting, creator_blueprint, creator_id, limit_new_drafts
from webapp.pages.fragments import fragment, go_to, nothing_new, page_or_fragment
from webapp.records import drafts, forms
from webapp.records.content.model import DraftUpdate
from webapp.web.wakeups import wakeups

TOGETHER = timedelta(minutes=10)  # drafts that one agent makes within this time form a group
LIVE_SHOWN = 5
CHOSEN_MAX = 500  # bounds the size of one SQL statement
SECTIONS = ("waiting", "confirmed", "by_hand", "returned", "muted", "empty")


class Agent(NamedTuple):
    """An agent of the creator: the name and key of its OAuth client, and one of its grants."""

    name: str
    client: str
    grant: str


class Entry(NamedTuple):
    """A draft in the inbox; `changes` counts changes since the last view, None without one.

    agent  the last agent to write, or else the maker; None for the creator
    maker  the agent that made the draft
    """

    draft: drafts.DraftSummaryRow
    agent: Agent | None
    maker: Agent | None
    changes: int | None


Sections: TypeAlias = dict[str, list[Entry]]


def section_of(entry: Entry, confirmed: Container[str], muted: Container[str]) -> str:
    """Return one of SECTIONS; `confirmed` holds draft ids, `muted` client keys."""
    if entry.draft.id in confirmed:
        return "confirmed"
    if entry.draft.returned_at:
        return "returned"
    if not (entry.draft.author or entry.draft.created_by):
        return "by_hand"
    if entry.agent and entry.agent.client in muted:
        return "muted"
    is_empty = not entry.draft.title.strip(" ") and not entry.draft.question_count
    return "empty" if is_empty else "waiting"


def in_groups(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Group drafts that one agent made within ten minutes, in the order of their first entries."""
    # by client: the first draft of its newest group
    first_of: dict[str, drafts.DraftSummaryRow] = {}
    group_of: dict[str, str] = {}
    for entry in sorted(entries, key=lambda entry: entry.draft.created_at):
        draft = entry.draft
        client = entry.maker.client if entry.maker else draft.id
        if draft.created_at - first_of.setdefault(client, draft).created_at > TOGETHER:
            first_of[client] = draft
        group_of[draft.id] = first_of[client].id
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(group_of[entry.draft.id], []).append(entry)
    return list(groups.values())


bp = creator_blueprint("inbox", "/drafts")


@bp.get("")
def show() -> Response:
    """Show the drafts by section, and the newest live forms.

    `?v=` is the state that an open page shows: 204 if nothing has changed.
    """
    muted = connections.list_muted(creator_id(), now=utc_now())
    confirmed = confirmations.list_confirmed(creator_id())
    sections: Sections = {name: [] for name in SECTIONS}
    entries = _entries()
    for entry in entries:
        sections[section_of(entry, confirmed, muted)].append(entry)
    live = forms.list_forms(creator_id(), LIVE_SHOWN)
    unread = count_unread([form.id for form in live])
    state = _state(sections, live, unread)
    if request.args.get("v") == state:
        return nothing_new()
    return page_or_fragment(
        "inbox/inbox.html",
        "inbox/_inbox.html",
        sections=sections,
        groups=in_groups(sections["waiting"]),
        muted=muted,
        muted_agents={each.agent.client: each.agent for each in sections["muted"] if each.agent},
        live=form_entries(live, unread),
        state=state,
        discarded=_discarded(),
        progress=None if live else _progress(entries, sections["waiting"]),
    )


@bp.app_template_global()
def waiting_count() -> int:
    """Return the number of drafts that wait for the creator."""
    return connections.count_waiting(creator_id(), now=utc_now())


@bp.get("/waiting")
def count() -> Response:
    """Show the number of waiting drafts in the site header; 204 if it equals `have`."""
    if request.args.get("have") == str(waiting_count()):
        return nothing_new()
    return fragment("inbox/_waiting_count.html")


@bp.get("/new")
def ask_new() -> str:
    """Show the page with the button for a new draft; a GET creates none."""
    return render_template("inbox/new.html")


@bp.post("/new")
@limit_new_drafts
def write() -> Response:
    """Create an empty draft, and redirect to its page with the title editor open."""
    account, now = creator_id(), utc_now()
    draft = editing.create_draft(account, DraftUpdate(), author=None, now=now)
    revisions.mark_seen(account, draft.id, draft.revision, now=now)
    return go_to(url_for("drafts.review", draft_id=draft.id, write="title"))


@bp.get("/tidy")
def choose(message: str = "") -> str:
    """Show the page for choosing drafts to discard."""
    return render_template("inbox/discard_many.html", entries=_entries(), message=message)


@bp.post("/tidy")
def discard_chosen() -> Response | tuple[str, int]:
    """Discard the chosen drafts; the inbox offers to restore them."""
    act = acting()
    chosen = [draft_id for draft_id in request.form.getlist("draft") if "\0" not in draft_id]
    try:
        note = drafts.clean_note(fields.typed("note"))
    except InvalidInput as problem:
        return choose(in_plain_words(problem)), HTTPStatus.UNPROCESSABLE_ENTITY
    count = trash.discard_drafts(creator_id(), chosen[:CHOSEN_MAX], note=note, **act)
    return _after_discard(chosen, to_millis(act["now"]) if count else None)


@bp.post("/<draft_id>/discard")
def discard(draft_id: str) -> Response:
    """Discard one draft; the inbox offers to restore it."""
    act = acting()
    trash.discard_draft(creator_id(), draft_id, **act)
    return _after_discard([draft_id], to_millis(act["now"]))


@bp.post("/take-back")
def take_back() -> Response:
    """Restore the drafts that were discarded at the moment `at`."""
    at = fields.millis("at")
    count = trash.restore(creator_id(), from_millis(at), **acting()) if at else 0
    return go_to(url_for("inbox.show", restored=count or None))


def _after_discard(draft_ids: list[str], at: int | None) -> Response:
    for draft_id in draft_ids:
        wakeups().notify(draft_id)
    return go_to(url_for("inbox.show", discarded=at))


def _discarded() -> dict[str, int]:
    """Return the time of the last discard, and the number of drafts that can be restored."""
    at = fields.millis("discarded")
    count = trash.count_discarded(creator_id(), from_millis(at), now=utc_now()) if at else 0
    return {"at": at, "count": count}


def _progress(entries: list[Entry], waiting: list[Entry]) -> AgentProgress | None:
    """Return the progress of the first agent, until the creator has seen its first draft."""
    is_first = len(entries) < 2 and entries == waiting
    seen = any(entry.changes is not None for entry in entries)
    return agent_progress(0) if is_first and not seen else None


def _entries() -> list[Entry]:
    found = drafts.list_drafts(creator_id())
    clients = connections.clients_of(
        grant for draft in found for grant in (draft.author, draft.created_by)
    )
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


def _state(sections: Sections, live: list[forms.FormSummaryRow], unread: Counter[str]) -> str:
    """Return a hash of everything that the page shows, except times."""
    shown = [
        (name, entry.draft.id, entry.draft.revision, entry.draft.returned_at, entry.changes)
        for name, entries in sections.items()
        for entry in entries
    ]
    forms_shown = [(form.id, form.status, form.response_count, unread[form.id]) for form in live]
    return hashlib.sha256(repr([shown, forms_shown]).encode()).hexdigest()[:16]

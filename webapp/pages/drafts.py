"""The inbox, and the review page of one draft with its words, settings and end."""

import re
from dataclasses import dataclass
from typing import Any, cast

from flask import Blueprint, Response, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.database import utc_now
from webapp.domain import drafts, forms, publishing
from webapp.domain.draft_input import DraftChanges, parse_draft_input
from webapp.domain.drafts import Draft
from webapp.domain.terms import DraftStatus, FollowUpMode
from webapp.pages import review as desk_review
from webapp.pages.desk import (
    agent_names,
    asked_revision,
    creator_id,
    posted_revision,
    require_creator,
    typed,
)
from webapp.pages.fragments import go_to

LIVE_SHOWN = 5

bp = Blueprint("drafts", __name__, url_prefix="/drafts")
bp.before_request(require_creator)


@dataclass(frozen=True, slots=True)
class Entry:
    """A draft in the inbox; `changes` since the creator looked, None when they never did."""

    draft: Draft
    agent: str
    changes: int | None


@bp.get("")
def inbox() -> ResponseReturnValue:
    """Drafts that wait for the creator's word, drafts that have it, and the newest live forms."""
    found = drafts.list_drafts(creator_id())
    confirmed = publishing.list_confirmed(creator_id())
    entries = _entries(found)
    return render_template(
        "drafts/inbox.html",
        waiting=[entry for entry in entries if entry.draft.id not in confirmed],
        confirmed=[entry for entry in entries if entry.draft.id in confirmed],
        live=forms.list_forms(creator_id())[:LIVE_SHOWN],
    )


@bp.get("/<draft_id>")
def review(draft_id: str) -> ResponseReturnValue:
    """The whole draft. The first look is remembered: later changes are told apart from it."""
    draft = drafts.get_draft(creator_id(), draft_id)
    if draft.status is DraftStatus.PUBLISHED:
        return _to_form(draft)
    if not drafts.find_view(draft) and not _is_prefetch():
        drafts.mark_seen(creator_id(), draft_id, draft.revision, now=utc_now())
    context = desk_review.context(draft)
    before = asked_revision("saved_from")
    return render_template(
        "drafts/review.html",
        unseen=desk_review.unseen(draft),
        saved_from=before if before == draft.revision - 1 else 0,
        focus="",
        refusal="",
        outdated=False,
        **context,
    )


@bp.post("/<draft_id>/seen")
def mark_seen(draft_id: str) -> ResponseReturnValue:
    """The creator has read the changes up to the revision that their page showed."""
    drafts.mark_seen(creator_id(), draft_id, posted_revision(), now=utc_now())
    draft = drafts.get_draft(creator_id(), draft_id)
    unseen = desk_review.unseen(draft)
    return desk_review.shown(
        draft, "drafts/_changes.html", "main", unseen=unseen, focus="", refusal="", outdated=False
    )


@bp.get("/<draft_id>/preview")
def preview(draft_id: str) -> ResponseReturnValue:
    """One question as people see it; `?preview=` is its position."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return desk_review.shown(draft, "drafts/_preview.html", "preview")


@bp.get("/<draft_id>/<any(title, goal, context):part>")
def show_text(draft_id: str, part: str) -> ResponseReturnValue:
    """The title, goal or private context as it reads, with the focus on its Edit link."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return desk_review.shown(draft, f"drafts/_{part}.html", part, focus=part)


@bp.get("/<draft_id>/<any(title, goal, context):part>/edit")
def edit_text(draft_id: str, part: str) -> ResponseReturnValue:
    """The editor of one text."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return desk_review.editing(
        draft, "drafts/_text_edit.html", text_part=part, text=_text(draft, part)
    )


@bp.post("/<draft_id>/<any(title, goal, context):part>")
def save_text(draft_id: str, part: str) -> ResponseReturnValue:
    """Save one text of the revision that the page showed."""
    draft = drafts.get_draft(creator_id(), draft_id)
    text = typed("text")
    result = desk_review.attempt(draft, lambda: parse_draft_input({part: text}))
    return desk_review.answered(
        draft,
        result,
        part=f"drafts/_{part}.html",
        editor="drafts/_text_edit.html",
        anchor=part,
        text=text,
        text_part=part,
        theirs=_text(draft, part),
        focus=part,
    )


@bp.post("/<draft_id>/settings")
def save_settings(draft_id: str) -> ResponseReturnValue:
    """Save all settings of the revision that the page showed."""
    draft = drafts.get_draft(creator_id(), draft_id)
    result = desk_review.attempt(draft, _posted_settings)
    return desk_review.answered(
        draft,
        result,
        part="drafts/_settings_note.html",
        editor="drafts/_settings_edit.html",
        inside="drafts/_settings_note.html",
        anchor="settings",
        posted=request.form,
    )


@bp.get("/<draft_id>/discard")
def ask_discard(draft_id: str) -> ResponseReturnValue:
    """One question before a draft and its history are gone."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return render_template("drafts/discard.html", draft=draft)


@bp.post("/<draft_id>/discard")
def discard(draft_id: str) -> ResponseReturnValue:
    """Delete the draft; the page before has asked."""
    drafts.discard_draft(creator_id(), draft_id)
    return go_to(url_for("drafts.inbox"))


def _to_form(draft: Draft) -> Response:
    form = publishing.find_published_form(draft)
    return go_to(
        url_for("results.by_question", form_id=form.id) if form else url_for("drafts.inbox")
    )


def _is_prefetch() -> bool:
    """Browsers and mail programs fetch pages that nobody looks at."""
    return "prefetch" in request.headers.get("Sec-Purpose", request.headers.get("Purpose", ""))


def _entries(found: list[Draft]) -> list[Entry]:
    names = agent_names(draft.author or draft.created_by for draft in found)
    views = drafts.list_views(creator_id())
    return [
        Entry(draft, names.get(draft.author or draft.created_by or "", ""), _news(draft, views))
        for draft in found
    ]


def _news(draft: Draft, views: dict[str, int]) -> int | None:
    if draft.id not in views:
        return None
    return 0 if views[draft.id] == draft.revision else len(desk_review.unseen(draft).changes)


def _text(draft: Draft, part: str) -> str:
    column = "private_context" if part == "context" else part
    return cast(str | None, getattr(draft, column)) or ""


def _posted_settings() -> DraftChanges:
    """The settings form; an empty number means the default, and no cap."""
    raw: dict[str, Any] = {
        name: typed(name) for name in ("followUpMode", "responseMode", "responseLimit")
    }
    numbers = {name: typed(name) for name in ("maxFollowupsPerQuestion", "maxTotalQuestions")}
    for name, value in numbers.items():
        if value:
            raw[name] = int(value) if re.fullmatch("[0-9]{1,9}", value) else value
    changes = parse_draft_input(raw)
    if not numbers["maxFollowupsPerQuestion"] or changes["follow_up_mode"] is FollowUpMode.NONE:
        changes["followups_given"] = None
    if not numbers["maxTotalQuestions"]:
        changes["max_total_questions"] = None
    return changes

"""The review page of one draft: its texts and settings."""

import re
from functools import partial
from typing import cast

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from webapp.base.database import utc_now
from webapp.base.errors import NotFound
from webapp.base.vocabulary import DraftStatus, FollowUpMode
from webapp.drafts import revisions
from webapp.pages.creator import draft_view
from webapp.pages.creator.request import (
    asked_revision,
    creator_id,
    limit_writes,
    posted_revision,
    require_creator,
    typed,
)
from webapp.records import drafts, forms
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.content.model import CHOICES, DRAFT_SETTINGS, NUMBERS, DraftUpdate, clean_reason
from webapp.records.drafts import Draft
from webapp.web.deferred_writes import write_later
from webapp.web.request_kind import is_prefetch

SETTING_NAMES = [setting.name for setting in DRAFT_SETTINGS]
COLUMNS = {"context": "private_context", "reason": "public_reason"}
WRITTEN_IN_PLACE = dict.fromkeys(("title", "goal"), "drafts/_text_in_place.html")

bp = Blueprint("drafts", __name__, url_prefix="/drafts")
bp.before_request(require_creator)
limit_writes(bp)


@bp.get("/<draft_id>")
def review(draft_id: str) -> ResponseReturnValue:
    """The whole draft. The first view is stored: later changes are marked as new since it."""
    draft = drafts.get_draft(creator_id(), draft_id)
    if draft.status is DraftStatus.PUBLISHED:
        return draft_view.go_to_form(draft, "results.by_question")
    if not revisions.find_view(draft_id) and not is_prefetch():
        look = partial(revisions.note_first_look, draft_id, draft.revision, now=utc_now())
        write_later(("look", draft_id), look)
    context = draft_view.context(draft)
    before = asked_revision("saved_from")
    return render_template(
        "drafts/review.html",
        saved_from=before if before == draft.revision - 1 else 0,
        focus="",
        refusal="",
        outdated=False,
        writes_title=not draft.title or request.args.get("write") == "title",
        made_from=_made_from(),
        **context,
    )


@bp.post("/<draft_id>/seen")
def mark_seen(draft_id: str) -> ResponseReturnValue:
    """The creator has read the changes up to the revision that their page showed."""
    revisions.mark_seen(creator_id(), draft_id, posted_revision(), now=utc_now())
    draft = drafts.get_draft(creator_id(), draft_id)
    return draft_view.whole(draft, focus="changes")


@bp.get("/<draft_id>/preview")
def preview(draft_id: str) -> ResponseReturnValue:
    """One question as people see it; `?preview=` is its position, `turned` which way was gone."""
    draft = drafts.get_draft(creator_id(), draft_id)
    turned = request.args.get("turned", "")
    return draft_view.shown(draft, "drafts/_preview.html", "preview", turned=turned)


@bp.get("/<draft_id>/<any(title, reason, goal, context):part>")
def show_text(draft_id: str, part: str) -> ResponseReturnValue:
    """The title, goal or private context, with the focus on its Edit link."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return draft_view.shown(draft, f"drafts/_{part}.html", part, focus=part)


@bp.get("/<draft_id>/<any(title, reason, goal, context):part>/edit")
def edit_text(draft_id: str, part: str) -> ResponseReturnValue:
    """The editor of one text."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return draft_view.editing(
        draft,
        "drafts/_text_edit.html",
        inside=WRITTEN_IN_PLACE.get(part, ""),
        text_part=part,
        text=_text(draft, part),
    )


@bp.post("/<draft_id>/<any(title, reason, goal, context):part>")
def save_text(draft_id: str, part: str) -> ResponseReturnValue:
    """Save one text of the revision that the page showed."""
    draft = drafts.get_draft(creator_id(), draft_id)
    text = typed("text")
    result = draft_view.attempt(draft, lambda _: _text_update(part, text))
    return draft_view.answered(
        draft,
        result,
        part=f"drafts/_{part}.html",
        editor="drafts/_text_edit.html",
        inside=WRITTEN_IN_PLACE.get(part, ""),
        anchor=part,
        text=text,
        text_part=part,
        theirs=_text(draft, part),
        focus=part,
    )


@bp.post("/<draft_id>/settings")
def save_settings(draft_id: str) -> ResponseReturnValue:
    """Save all settings of the revision that the page showed.

    *Smart* without private context is refused with a field for it, which is saved with them.
    """
    draft = drafts.get_draft(creator_id(), draft_id)
    result = draft_view.attempt(draft, lambda _: _posted_settings())
    return draft_view.answered(
        draft,
        result,
        part="draft_settings/_settings_result.html",
        editor="draft_settings/_settings_edit.html",
        inside="draft_settings/_settings_result.html",
        anchor="settings",
        wrong=draft_view.wrong_setting(result),
        context_message=draft_view.wrong_context(result),
        posted={name: typed(name) for name in (*SETTING_NAMES, "context")},
    )


def _made_from() -> str:
    """The title of the form that this draft has just been made from; "" for none."""
    try:
        return forms.get_form(creator_id(), request.args.get("made_from", "")).title
    except NotFound:
        return ""


def _text(draft: Draft, part: str) -> str:
    return cast(str | None, getattr(draft, COLUMNS.get(part, part))) or ""


def _text_update(part: str, text: str) -> DraftUpdate:
    if part == "reason":  # no field of the API
        return DraftUpdate(public_reason=clean_reason(text))
    return parse_draft_input({part: text})


def _posted_settings() -> DraftUpdate:
    """The settings form; an empty number means the default, and no cap. The private context is
    part of it where *Smart* asked for one.
    """
    raw: dict[str, object] = {setting.name: typed(setting.name) for setting in CHOICES}
    if context := typed("context"):
        raw["context"] = context
    for setting in NUMBERS:
        if value := typed(setting.name):
            raw[setting.name] = int(value) if re.fullmatch("[0-9]{1,9}", value) else value
    empty = {setting.column: None for setting in NUMBERS if setting.name not in raw}
    changes = parse_draft_input(raw) | cast(DraftUpdate, empty)
    if changes["follow_up_mode"] is FollowUpMode.NONE:
        changes["followups_given"] = None
    return changes

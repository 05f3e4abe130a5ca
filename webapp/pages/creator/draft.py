"""The review page of one draft: texts, settings, history, and sending it back to its agent."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from flask import Response, render_template, request, url_for

from webapp.base.database import db, utc_now
from webapp.base.errors import ErrorCode, InvalidInput, StateConflict
from webapp.base.vocabulary import DraftStatus, FollowUpMode
from webapp.drafts import reviews, revisions
from webapp.oauth import connections
from webapp.pages.creator import draft_view, fields
from webapp.pages.creator.request import acting, creator_blueprint, creator_id
from webapp.pages.fragments import fragment, go_to, nothing_new
from webapp.records import drafts
from webapp.records.content import draft_input, model
from webapp.web import deferred_writes, request_kind
from webapp.web.wakeups import wakeups

SETTING_NAMES = [setting.name for setting in model.DRAFT_SETTINGS]
COLUMNS = {"context": "private_context", "reason": "public_reason"}
WRITTEN_IN_PLACE = dict.fromkeys(("title", "goal"), "drafts/_text_in_place.html")

bp = creator_blueprint("drafts", "/drafts/<draft_id>")


@bp.get("")
def review(draft_id: str) -> Response | str:
    """Show the whole draft, and store its first view: later changes are marked as new."""
    draft = drafts.get_draft(creator_id(), draft_id)
    if draft.status is DraftStatus.PUBLISHED:
        return draft_view.go_to_form(draft, "results.by_question")
    if not revisions.find_view(draft_id) and not request_kind.is_prefetch():
        seen = creator_id(), draft_id, draft.revision
        look = partial(revisions.mark_seen, *seen, now=utc_now(), is_first=True)
        deferred_writes.write_later(("look", draft_id), look)
    before = fields.revision("saved_from")
    values = draft_view.context(
        draft,
        saved_from=before if before == draft.revision - 1 else 0,
    )
    return render_template("drafts/review.html", **values)


@bp.post("/seen")
def mark_seen(draft_id: str) -> Response:
    """Mark the changes up to the revision that the page showed as read."""
    revisions.mark_seen(creator_id(), draft_id, fields.revision(), now=utc_now())
    draft = drafts.get_draft(creator_id(), draft_id)
    return draft_view.whole(draft, focus="changes")


@bp.get("/<any(title, reason, goal, context, preview, return):part>")
def show_part(draft_id: str, part: str) -> Response:
    """Show one part for reading, with the focus on the link that opens its editor.

    The preview shows question `?preview=`; `?turned=` is the direction to it, `back` or `next`.
    """
    draft = drafts.get_draft(creator_id(), draft_id)
    return draft_view.shown(draft, f"drafts/_{part}.html", part, focus=part)


@bp.get("/<any(title, reason, goal, context):part>/edit")
def edit_text(draft_id: str, part: str) -> Response:
    """Show the editor of one text."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return draft_view.edited(
        draft,
        "drafts/_text_edit.html",
        inside=WRITTEN_IN_PLACE.get(part, ""),
        text_part=part,
        text=_text(draft, part),
    )


@bp.post("/<any(title, reason, goal, context):part>")
def save_text(draft_id: str, part: str) -> Response:
    """Save one text; the change applies to the revision that the page showed."""
    draft = drafts.get_draft(creator_id(), draft_id)
    text = fields.typed("text")
    result = draft_view.attempt(draft, lambda _draft: _text_update(part, text))
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


@bp.post("/settings")
def save_settings(draft_id: str) -> Response:
    """Save all settings; the change applies to the revision that the page showed.

    For *Smart* without private context, the error includes a field to write it.
    """
    draft = drafts.get_draft(creator_id(), draft_id)
    result = draft_view.attempt(draft, lambda _draft: _posted_settings())
    wrong, context_message = "", ""
    if isinstance(result, InvalidInput):
        wrong = result.field if result.field in draft_view.MOST else ""
        if result.code == ErrorCode.CONTEXT_REQUIRED:
            wrong = "followUpMode"
        elif result.field == "context":
            wrong, context_message = "followUpMode", draft_view.in_plain_words(result)
    return draft_view.answered(
        draft,
        result,
        part="draft_settings/_settings_result.html",
        editor="draft_settings/_settings_edit.html",
        inside="draft_settings/_settings_result.html",
        anchor="settings",
        wrong=wrong,
        context_message=context_message,
        posted={name: fields.typed(name) for name in (*SETTING_NAMES, "context")},
    )


def _text(draft: drafts.Draft, part: str) -> str:
    return cast(str | None, getattr(draft, COLUMNS.get(part, part))) or ""


def _text_update(part: str, text: str) -> model.DraftUpdate:
    if part == "reason":  # the API has no such field
        return model.DraftUpdate(public_reason=model.clean_reason(text))
    return draft_input.parse_draft_input({part: text})


def _posted_settings() -> model.DraftUpdate:
    """Parse the settings form; an empty number is stored as None: the default, or no cap."""
    raw: dict[str, object] = {setting.name: fields.typed(setting.name) for setting in model.CHOICES}
    if context := fields.typed("context"):
        raw["context"] = context
    for setting in model.NUMBERS:
        if value := fields.typed(setting.name):
            raw[setting.name] = int(value) if re.fullmatch("[0-9]{1,9}", value) else value
    empty = {setting.column: None for setting in model.NUMBERS if setting.name not in raw}
    changes = draft_input.parse_draft_input(raw) | cast(model.DraftUpdate, empty)
    if changes["follow_up_mode"] is FollowUpMode.NONE:
        changes["followups_given"] = None
    return changes


REVISIONS_SHOWN = 20


@bp.get("/history")
def show_history(draft_id: str) -> str:
    """Show revisions and confirmations, newest first; `?before=` is the last revision shown."""
    draft = drafts.get_draft(creator_id(), draft_id)
    found = revisions.list_revisions(
        draft, before=fields.revision("before") or None, limit=REVISIONS_SHOWN
    )
    grants = [revision.draft.author for revision in found]
    grants += [word.grant_id for revision in found for word in revision.confirmations]
    last = found[-1].draft.revision if found else 1
    return render_template(
        "drafts/revisions.html",
        draft=draft,
        revisions=found,
        returned=reviews.list_returns(draft.id),
        names=connections.agent_names(grants),
        more=last if last > 1 else 0,
    )


@bp.post("/restore")
def restore(draft_id: str) -> Response:
    """Restore the content of revision `to` as a new revision."""
    return _go_back(draft_id, lambda draft: revisions.back_to(draft, fields.revision("to")))


@bp.post("/changes/<key>/put-back")
def put_back(draft_id: str, key: str) -> Response:
    """Undo one of the changes that the page listed; `since` is the revision it compared with."""
    return _go_back(
        draft_id, lambda draft: revisions.put_back(draft, fields.revision("since"), key)
    )


@bp.post("/changes/<key>/accept")
def accept(draft_id: str, key: str) -> Response:
    """Mark one change as read; `focus` is the position of its question, 0 for no question."""
    at = {"revision": fields.revision(), "since": fields.revision("since")}
    draft = drafts.get_draft(creator_id(), draft_id)
    try:
        revisions.accept_change(creator_id(), draft_id, key, **at, now=utc_now())
    except StateConflict as problem:
        return _refused(draft, problem)
    return draft_view.whole(draft, focus=fields.revision("focus") or "changes")


@bp.get("/now")
def now(draft_id: str) -> Response:
    """Show the page at the current revision; open editors stay."""
    return draft_view.whole(drafts.get_draft(creator_id(), draft_id), focus="changes")


@bp.get("/rev")
def tell_changes(draft_id: str) -> Response:
    """Show a notice of a new revision, or that the draft was sent back or kept meanwhile.

    204 if the page shows this state (`have`) or such a notice (`notified`).
    """
    draft = drafts.get_draft(creator_id(), draft_id)
    state = str(draft.revision) if draft.status is DraftStatus.DRAFT else draft.status
    changed = state != request.args.get("have")
    returned = draft.return_count if draft.returned_at else 0
    if str(returned) != request.args.get("returned", "0"):
        state += f".{draft.return_count}"
    if state in {request.args.get("have"), request.args.get("notified")}:
        return nothing_new()
    by_agent = revisions.find_last_by_agent(draft, fields.revision("have"))
    grant = by_agent.author if by_agent else None
    agent = connections.agent_names([grant]).get(grant or "", "An agent") if grant else ""
    return fragment(
        "drafts/_new_revision.html",
        trigger="askback:published" if draft.status is DraftStatus.PUBLISHED else None,
        draft=draft,
        state=state,
        agent=agent,
        changed=changed,
    )


def _go_back(draft_id: str, change: Callable[[drafts.Draft], model.DraftUpdate]) -> Response:
    draft = drafts.get_draft(creator_id(), draft_id)

    def of_shown(draft: drafts.Draft) -> model.DraftUpdate:
        """Require the revision that the page showed: undoing depends on the whole draft."""
        drafts.require_revision(draft, fields.revision())
        return change(draft)

    result = draft_view.attempt(draft, of_shown)
    if isinstance(result, drafts.Draft):
        undone = {"focus": "saved", "done": "Change undone."}
        return draft_view.saved(result, draft_view.ALL_PARTS, "changes", **undone)
    return _refused(draft, result)


def _refused(draft: drafts.Draft, problem: InvalidInput | StateConflict) -> Response:
    """Show the current list of changes with the error."""
    pages = "drafts/review.html", "drafts/_changes.html"
    return draft_view.tried(draft, problem, *pages, focus="changes")


@bp.get("/return/edit")
def write_return(draft_id: str) -> Response:
    """Show the form for sending back, with a general note and one for each question."""
    draft = drafts.get_draft(creator_id(), draft_id)
    if draft.status is DraftStatus.PUBLISHED:
        return go_to(url_for("drafts.review", draft_id=draft_id))
    return _return_form(draft, None, note_text=draft.return_note or "")


@bp.post("/return")
def send_back(draft_id: str) -> Response:
    """Send the revision that the page showed back to its agent."""
    account, revision, act = creator_id(), fields.revision(), acting()
    try:
        notes = {key: drafts.clean_note(text) for key, text in _question_notes().items()}
        reviews.return_draft(
            account,
            draft_id,
            revision=revision,
            note=drafts.clean_note(fields.typed("note")),
            question_notes={key: text for key, text in notes.items() if text},
            **act,
        )
    except (InvalidInput, StateConflict) as problem:
        db.session.expire_all()
        return _not_returned(drafts.get_draft(account, draft_id), problem)
    wakeups().notify(draft_id)
    revisions.mark_seen(account, draft_id, revision, now=act["now"])
    return go_to(url_for("inbox.show", returned=draft_id))


@bp.post("/keep")
def keep(draft_id: str) -> Response:
    """Keep a draft that was sent back, and redirect to the page with the button."""
    reviews.keep_draft(creator_id(), draft_id, **acting())
    wakeups().notify(draft_id)
    if request.form.get("from") == "inbox":
        return go_to(url_for("inbox.show", kept=draft_id))
    return go_to(url_for("drafts.review", draft_id=draft_id))


def _question_notes() -> dict[str, str]:
    """Return the posted notes by question id; `note-1` is about the question with the id `on-1`."""
    return {
        request.form[f"on-{place}"]: fields.typed(f"note-{place}")
        for place in range(1, model.QUESTIONS_MAX + 1)
        if f"on-{place}" in request.form
    }


def _not_returned(draft: drafts.Draft, problem: InvalidInput | StateConflict) -> Response:
    """Show the form again, with the typed notes and the error."""
    if draft.status is DraftStatus.PUBLISHED:
        return draft_view.go_to_form(draft, "forms.share")
    notes = _question_notes()
    return _return_form(draft, problem, note_text=fields.typed("note"), question_notes=notes)


def _return_form(draft: drafts.Draft, problem: draft_view.Result | None, **more: Any) -> Response:
    return draft_view.tried(
        draft,
        problem,
        "returns/return.html",
        "returns/_return_form.html",
        since_shown=draft_view.since_shown(draft),
        shown_revision=fields.revision(),
        **more,
    )

"""Sending a draft back to its agent with a note, and keeping it after all."""

from http import HTTPStatus
from typing import Any

from flask import Blueprint, Response, request, url_for
from flask.typing import ResponseReturnValue

from webapp.base.database import db, utc_now
from webapp.base.errors import InvalidInput, StateConflict
from webapp.base.limits import QUESTIONS_MAX
from webapp.base.vocabulary import DraftStatus
from webapp.drafts import returns, revisions
from webapp.pages.creator import draft_view
from webapp.pages.creator.request import (
    creator_id,
    limit_writes,
    posted_revision,
    require_creator,
    typed,
)
from webapp.pages.fragments import go_to, page_or_fragment
from webapp.records import drafts
from webapp.records.content.diff import differences
from webapp.records.drafts import Draft, clean_note
from webapp.web import request_audit
from webapp.web.wakeups import wakeups

bp = Blueprint("returns", __name__, url_prefix="/drafts/<draft_id>")
bp.before_request(require_creator)
limit_writes(bp)


@bp.get("/return")
def offer(draft_id: str) -> ResponseReturnValue:
    """The link that opens the form, with the focus on it."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return draft_view.shown(draft, "returns/_return_link.html", "return", focus="return")


@bp.get("/return/edit")
def ask(draft_id: str) -> ResponseReturnValue:
    """The form for the note."""
    draft = drafts.get_draft(creator_id(), draft_id)
    if draft.status is DraftStatus.PUBLISHED:
        return go_to(url_for("drafts.review", draft_id=draft_id))
    notes = returns.standing_notes(draft)
    return _form(draft, HTTPStatus.OK, note=draft.return_note or "", question_notes=notes)


@bp.post("/return")
def send_back(draft_id: str) -> ResponseReturnValue:
    """Send back the revision that the page showed."""
    account, revision, now = creator_id(), posted_revision(), utc_now()
    given: dict[str, Any] = {"revision": revision, "now": now, "by": request_audit.creator()}
    try:
        notes = {key: clean_note(text) for key, text in _question_notes().items()}
        returns.return_draft(
            account,
            draft_id,
            note=clean_note(typed("note")),
            question_notes={key: text for key, text in notes.items() if text},
            **given,
        )
    except (InvalidInput, StateConflict) as problem:
        db.session.expire_all()
        return _refused(drafts.get_draft(account, draft_id), problem)
    wakeups().notify(draft_id)
    revisions.mark_seen(account, draft_id, revision, now=now)
    return go_to(url_for("inbox.show", returned=draft_id))


@bp.post("/keep")
def keep(draft_id: str) -> ResponseReturnValue:
    """It waits for the creator again; then the page that the button was on."""
    returns.keep_draft(creator_id(), draft_id, now=utc_now(), by=request_audit.creator())
    wakeups().notify(draft_id)
    if request.form.get("from") == "inbox":
        return go_to(url_for("inbox.show", kept=draft_id))
    return go_to(url_for("drafts.review", draft_id=draft_id))


def _question_notes() -> dict[str, str]:
    """The notes as posted, by question id: each field names its question in another one."""
    places = range(1, QUESTIONS_MAX + 1)
    return {
        request.form[f"on-{place}"]: typed(f"note-{place}")
        for place in places
        if f"on-{place}" in request.form
    }


def _refused(draft: Draft, problem: InvalidInput | StateConflict) -> Response:
    """The form with what was written in it."""
    if draft.status is DraftStatus.PUBLISHED:
        return draft_view.go_to_form(draft, "forms.share")
    if isinstance(problem, InvalidInput):
        message = draft_view.in_plain_words(problem)
        return _form(draft, HTTPStatus.UNPROCESSABLE_ENTITY, **_as_posted(), message=message)
    shown = revisions.find_revision(draft, posted_revision())
    since_shown = differences(shown, draft) if shown else []
    return _form(draft, HTTPStatus.CONFLICT, **_as_posted(), outdated=True, since_shown=since_shown)


def _as_posted() -> dict[str, Any]:
    return {"note": typed("note"), "question_notes": _question_notes()}


def _form(
    draft: Draft, status: HTTPStatus, *, note: str, question_notes: dict[str, str], **more: Any
) -> Response:
    values: dict[str, Any] = {"message": "", "outdated": False, "since_shown": []}
    return page_or_fragment(
        "returns/return.html",
        "returns/_return_form.html",
        status=status,
        shown_revision=posted_revision(),
        **values
        | draft_view.context(draft)
        | {"note_text": note, "question_notes": question_notes}
        | more,
    )

"""Deleting single responses."""

from collections.abc import Sequence
from typing import TypedDict

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.answers import deleted_responses as deletions
from webapp.answers.deleted_responses import ScheduledDeletion
from webapp.base.database import utc_now
from webapp.base.limits import RESPONSE_UNDO_SECONDS
from webapp.pages.creator.request import creator_id, limit_writes, require_creator
from webapp.pages.fragments import fragment, go_to, nothing_new
from webapp.records import forms
from webapp.web import request_audit

bp = Blueprint("response_deletion", __name__, url_prefix="/forms/<form_id>")
bp.before_request(require_creator)
limit_writes(bp)


class DeletionNotes(TypedDict):
    """What pages of a form show of its deletions; `deletion_state` is what the notes show.

    has_automated  some look so, and those are not deleted just now
    """

    deletions: Sequence[ScheduledDeletion]
    deletion_state: str
    undo_seconds: int
    has_automated: bool
    just_deleted: bool
    nothing_to_undo: bool


def deletion_notes(form_id: str) -> DeletionNotes:
    """The template variables of the notes about deletions that are not done."""
    found = deletions.list_deletions(form_id)
    all_deleted = any(each.session_id is None for each in found)
    return {
        "deletions": found,
        "deletion_state": "-".join(f"{each.id[-6:]}{each.begun:d}" for each in found),
        "undo_seconds": RESPONSE_UNDO_SECONDS,
        "has_automated": not all_deleted and deletions.has_automated(form_id),
        "just_deleted": "deleted" in request.args,
        "nothing_to_undo": "undone" in request.args,
    }


@bp.post("/people/<session_id>/delete")
def delete(form_id: str, session_id: str) -> ResponseReturnValue:
    """Delete one response; the list of the others offers to undo it."""
    by, now = request_audit.creator(), utc_now()
    deletions.delete_response(creator_id(), form_id, session_id, now=now, by=by)
    return go_to(url_for("results.by_person", form_id=form_id, deleted=1))


@bp.get("/automated/delete")
def ask_automated(form_id: str) -> ResponseReturnValue:
    """Ask before deleting all that look automated, with how many they are."""
    form = forms.get_form(creator_id(), form_id)
    return render_template(
        "deleted_responses/automated.html",
        form=form,
        count=deletions.count_automated(form.id),
        undo_seconds=RESPONSE_UNDO_SECONDS,
    )


@bp.post("/automated/delete")
def delete_automated(form_id: str) -> ResponseReturnValue:
    """Delete all that look automated; the list of the others offers to undo it."""
    by, now = request_audit.creator(), utc_now()
    deletions.delete_automated(creator_id(), form_id, now=now, by=by)
    return go_to(url_for("results.by_person", form_id=form_id, deleted=1))


@bp.post("/deletions/<deletion_id>/undo")
def undo(form_id: str, deletion_id: str) -> ResponseReturnValue:
    """Undo a deletion and show what is back; the list says where there is nothing to undo."""
    by, now = request_audit.creator(), utc_now()
    undone = deletions.undo_deletion(creator_id(), form_id, deletion_id, now=now, by=by)
    if undone and undone.session_id:
        person = undone.session_id
        return go_to(url_for("responses.show", form_id=form_id, session_id=person))
    return go_to(url_for("results.by_person", form_id=form_id, undone=None if undone else 0))


@bp.get("/deletions")
def show_notes(form_id: str) -> ResponseReturnValue:
    """The notes about deletions; 204 if they equal the parameter `have`."""
    form = forms.get_form(creator_id(), form_id)
    notes = deletion_notes(form.id)
    if notes["deletion_state"] == request.args.get("have"):
        return nothing_new()
    return fragment("deleted_responses/_notes.html", form=form, **notes)

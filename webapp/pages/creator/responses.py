"""Reading responses one by one, and deleting single or automated ones."""

from typing import Any

from flask import render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.answers import deleted_responses as deletions, threads, unread
from webapp.answers.export import recordings_of
from webapp.base.config import settings
from webapp.base.database import to_millis, utc_now
from webapp.pages.creator import fields
from webapp.pages.creator.request import acting, creator_blueprint, creator_id, limit_one_write
from webapp.pages.fragments import fragment, go_to, nothing_new, wants_fragment
from webapp.records import forms

bp = creator_blueprint("responses", "/forms/<form_id>", limits_writes=False)


@bp.get("/unread")
def show_next(form_id: str) -> ResponseReturnValue:
    """Redirect to the newest unread response, or to the newest."""
    form = forms.get_form(creator_id(), form_id)
    session_id = threads.newest_response(form)
    if session_id is None:
        return go_to(url_for("results.by_question", form_id=form_id))
    return go_to(url_for("responses.show", form_id=form_id, session_id=session_id))


@bp.get("/people/<session_id>")
def show(form_id: str, session_id: str) -> ResponseReturnValue:
    """Show all answers of one person."""
    form = forms.get_form(creator_id(), form_id)
    response = threads.get_response(form, session_id)
    return render_template(
        "results/response.html",
        form=form,
        response=response,
        person=response.person,
        recordings=recordings_of(response.person.answers, with_transcripts=True),
        transcriber=settings().transcriber_host,
        now_millis=to_millis(utc_now()),
        undo_seconds=deletions.RESPONSE_UNDO_SECONDS,
    )


@bp.post("/people/<session_id>/read")
def mark_read(form_id: str, session_id: str) -> ResponseReturnValue:
    """Mark this response as read; without htmx, redirect to the next unread one."""
    account = creator_id()
    unread.mark_read(account, form_id, session_id, fields.millis_in(request.form.get("stamp", "")))
    if wants_fragment():
        return nothing_new()
    following = unread.next_unread(forms.get_form(account, form_id), session_id)
    return go_to(url_for("responses.show", form_id=form_id, session_id=following or session_id))


@bp.post("/read")
def mark_all_read(form_id: str) -> ResponseReturnValue:
    """Mark every response up to the posted stamp as read."""
    unread.mark_all_read(creator_id(), form_id, fields.millis_in(request.form.get("stamp", "")))
    return go_to(url_for("results.by_question", form_id=form_id))


def deletion_notes(form_id: str) -> dict[str, Any]:
    """Return the template variables for the notes about deletions that are not finished.

    `has_automated` is true if some responses look automated and are not being deleted.
    """
    found = deletions.list_deletions(form_id)
    all_deleted = any(each.session_id is None for each in found)
    return {
        "deletions": found,
        "deletion_state": "-".join(f"{each.id[-6:]}{each.begun:d}" for each in found),
        "undo_seconds": deletions.RESPONSE_UNDO_SECONDS,
        "has_automated": not all_deleted and deletions.has_automated(form_id),
        "just_deleted": "deleted" in request.args,
        "nothing_to_undo": "undone" in request.args,
    }


@bp.post("/people/<session_id>/delete")
@limit_one_write
def delete(form_id: str, session_id: str) -> ResponseReturnValue:
    """Delete one response; the list of responses offers to undo it."""
    deletions.delete_response(creator_id(), form_id, session_id, **acting())
    return go_to(url_for("results.by_person", form_id=form_id, deleted=1))


@bp.get("/automated/delete")
def ask_automated(form_id: str) -> ResponseReturnValue:
    """Ask before deleting all responses that look automated, and show their number."""
    form = forms.get_form(creator_id(), form_id)
    return render_template(
        "deleted_responses/automated.html",
        form=form,
        count=deletions.count_automated(form.id),
        undo_seconds=deletions.RESPONSE_UNDO_SECONDS,
    )


@bp.post("/automated/delete")
@limit_one_write
def delete_automated(form_id: str) -> ResponseReturnValue:
    """Delete all responses that look automated; the list of responses offers to undo it."""
    deletions.delete_automated(creator_id(), form_id, **acting())
    return go_to(url_for("results.by_person", form_id=form_id, deleted=1))


@bp.post("/deletions/<deletion_id>/undo")
@limit_one_write
def undo(form_id: str, deletion_id: str) -> ResponseReturnValue:
    """Undo a deletion and show the restored responses; say so if nothing can be undone."""
    undone = deletions.undo_deletion(creator_id(), form_id, deletion_id, **acting())
    if undone and undone.session_id:
        person = undone.session_id
        return go_to(url_for("responses.show", form_id=form_id, session_id=person))
    return go_to(url_for("results.by_person", form_id=form_id, undone=None if undone else 0))


@bp.get("/deletions")
def show_notes(form_id: str) -> ResponseReturnValue:
    """Show the notes about deletions; 204 if their state equals the parameter `have`."""
    form = forms.get_form(creator_id(), form_id)
    notes = deletion_notes(form.id)
    if notes["deletion_state"] == request.args.get("have"):
        return nothing_new()
    return fragment("deleted_responses/_notes.html", form=form, **notes)

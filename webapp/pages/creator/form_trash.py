"""Deleting a form, the trash that keeps it for 30 days, erasing, and a copy as a new draft."""

from datetime import timedelta

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from webapp.answers import trash
from webapp.base.database import utc_now
from webapp.base.limits import TITLE_MAX_CHARS, TRASH_KEPT_SECONDS
from webapp.drafts import editing
from webapp.pages.creator.request import creator_id, limit_new_drafts, limit_writes, require_creator
from webapp.pages.fragments import go_to
from webapp.records import forms
from webapp.records.content.model import snapshot
from webapp.web import request_audit

bp = Blueprint("trash", __name__, url_prefix="/forms")
bp.before_request(require_creator)
limit_writes(bp)


@bp.get("/trash")
def show() -> ResponseReturnValue:
    """The forms that can be restored, most recently deleted first."""
    deleted = trash.list_deleted_forms(creator_id(), now=utc_now())
    just_deleted = request.args.get("deleted")
    return render_template(
        "forms/trash.html",
        deleted=deleted,
        just_deleted=next((form for form in deleted if form.id == just_deleted), None),
        kept=timedelta(seconds=TRASH_KEPT_SECONDS),
        erased="erased" in request.args,
    )


@bp.get("/<form_id>/delete")
def ask(form_id: str) -> ResponseReturnValue:
    """Ask before deleting, with what is lost."""
    return render_template("forms/delete.html", form=forms.get_form(creator_id(), form_id))


@bp.post("/<form_id>/delete")
def delete(form_id: str) -> ResponseReturnValue:
    """Move the form with its answers into the trash; no effect on one that is there."""
    now = utc_now()
    if trash.find_deleted_form(creator_id(), form_id, now=now) is None:
        trash.delete_form(creator_id(), form_id, now=now, by=request_audit.creator())
    return go_to(url_for("trash.show", deleted=form_id))


@bp.post("/<form_id>/restore")
def restore(form_id: str) -> ResponseReturnValue:
    """Restore the form; no effect on one that is restored already."""
    now = utc_now()
    if trash.find_deleted_form(creator_id(), form_id, now=now) is not None:
        trash.restore_form(creator_id(), form_id, now=now, by=request_audit.creator())
    form = forms.get_form(creator_id(), form_id)
    return go_to(url_for("results.by_question", form_id=form.id, done="restored"))


@bp.get("/<form_id>/erase")
def ask_erase(form_id: str) -> ResponseReturnValue:
    """Ask before erasing; a form that was restored meanwhile is not erased."""
    form = trash.find_deleted_form(creator_id(), form_id, now=utc_now())
    if form is not None:
        return render_template("forms/erase.html", form=form)
    safe = forms.get_form(creator_id(), form_id)
    return go_to(url_for("results.by_question", form_id=safe.id))


@bp.post("/<form_id>/erase")
def erase(form_id: str) -> ResponseReturnValue:
    """Erase the form: it cannot be restored."""
    trash.erase_form(creator_id(), form_id, now=utc_now(), by=request_audit.creator())
    return go_to(url_for("trash.show", erased=1))


@bp.post("/<form_id>/copy")
@limit_new_drafts
def copy(form_id: str) -> ResponseReturnValue:
    """A new draft with the content of the form; the form stays as it is."""
    content = snapshot(forms.get_form(creator_id(), form_id))
    content["title"] = _title_of_copy(content["title"])
    draft = editing.create_draft(creator_id(), content, author=None, now=utc_now())
    return go_to(url_for("drafts.review", draft_id=draft.id, made_from=form_id))


def _title_of_copy(title: str) -> str:
    """At most as long as a title may be."""
    copy = _("Copy of %(title)s", title=title)
    return copy if len(copy) <= TITLE_MAX_CHARS else f"{copy[: TITLE_MAX_CHARS - 1].rstrip()}…"

"""Published forms: the list, the share page, closing, deleting, and copying."""

from collections import Counter
from datetime import timedelta
from http import HTTPStatus
from io import BytesIO
from typing import Any

from flask import Response, render_template, request, url_for

from api.wire.forms import share_url
from webapp.answers import reading, trash
from webapp.base.config import settings
from webapp.base.database import utc_now
from webapp.base.errors import InvalidInput
from webapp.drafts import editing, form_settings, reviews
from webapp.oauth import connections
from webapp.pages.creator.request import acting, creator_blueprint, creator_id, limit_new_drafts
from webapp.pages.creator.results import approval
from webapp.pages.filters import CODE_INK, code_of, drawn_code
from webapp.pages.fragments import go_to
from webapp.records import forms
from webapp.records.content import draft_input, model

CODE_SCALE = 12  # pixels of one module: sharp on paper
CODE_TYPES = {"svg": "image/svg+xml", "png": "image/png"}

bp = creator_blueprint("forms", "/forms")


def form_entries(found: list[forms.FormSummaryRow], counts: Counter[str]) -> list[dict[str, Any]]:
    """Return forms with their agents ("" = the creator) and numbers of unread responses."""
    authors = reviews.find_form_authors([form.id for form in found])
    names = connections.agent_names(authors.values())
    by = {form_id: names.get(author or "", "") for form_id, author in authors.items()}
    return [
        {"form": form, "agent": by.get(form.id, ""), "unread": counts[form.id]} for form in found
    ]


@bp.get("")
def show_all() -> str:
    """Show all forms of the creator: those that take answers, then the others, newest first."""
    listed = forms.list_forms(creator_id())
    return render_template(
        "forms/list.html",
        entries=form_entries(listed, reading.count_unread([form.id for form in listed])),
        deleted=len(trash.list_deleted_forms(creator_id(), now=utc_now())),
    )


@bp.get("/<form_id>/share")
def share(form_id: str, refusal: InvalidInput | None = None) -> str:
    """Show the link of the form, its QR code, and how to embed the form."""
    form = forms.get_form(creator_id(), form_id)
    address = share_url(form.share_token)
    return render_template(
        "forms/share.html",
        form=form,
        **approval(form),
        is_full=forms.is_full(form.answer_bytes, settings().limit_form_bytes),
        share_url=address,
        qr=drawn_code(address),
        origins=request.form.get("origins", "\n".join(form.frame_origins.split())),
        refusal=refusal,
    )


@bp.post("/<form_id>/embedding")
def allow_embedding(form_id: str) -> Response | tuple[str, int]:
    """Set the websites that may embed the form in a frame; an empty list allows none."""
    try:
        form_settings.allow_embedding(creator_id(), form_id, request.form.get("origins", ""))
    except InvalidInput as refusal:
        return share(form_id, refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    return go_to(url_for("forms.share", form_id=form_id, _anchor="website"))


@bp.get("/<form_id>/code.<any(svg, png):kind>")
def download_code(form_id: str, kind: str) -> Response:
    """Download the QR code of the link."""
    form = forms.get_form(creator_id(), form_id)
    body = BytesIO()
    code = code_of(share_url(form.share_token))
    code.save(body, kind=kind, scale=CODE_SCALE, dark=CODE_INK)
    response = Response(body.getvalue(), mimetype=CODE_TYPES[kind])
    response.headers.set("Content-Disposition", "attachment", filename=f"askback-{form_id}.{kind}")
    return response


@bp.post("/<form_id>/close", endpoint="close")
@bp.post("/<form_id>/reopen", endpoint="reopen")
def close_or_reopen(form_id: str) -> Response:
    """Close the form to new answers, or reopen it."""
    closes = request.path.endswith("/close")
    (forms.close_form if closes else forms.reopen_form)(creator_id(), form_id, **acting())
    done = "closed" if closes else "reopened"
    return go_to(url_for("results.by_question", form_id=form_id, done=done))


@bp.get("/trash")
def show_trash() -> str:
    """Show the forms that can be restored, most recently deleted first."""
    deleted = trash.list_deleted_forms(creator_id(), now=utc_now())
    kept = timedelta(seconds=trash.TRASH_KEPT_SECONDS)
    return render_template("forms/trash.html", deleted=deleted, kept=kept)


@bp.get("/<form_id>/delete")
def ask_deletion(form_id: str) -> str:
    """Ask before deleting the form."""
    return render_template("forms/delete.html", form=forms.get_form(creator_id(), form_id))


@bp.post("/<form_id>/delete")
def delete(form_id: str) -> Response:
    """Move the form and its answers to the trash; no effect if it is there already."""
    if trash.find_deleted_form(creator_id(), form_id, now=utc_now()) is None:
        trash.delete_form(creator_id(), form_id, **acting())
    return go_to(url_for("forms.show_trash", deleted=form_id))


@bp.post("/<form_id>/restore")
def restore(form_id: str) -> Response:
    """Restore the form from the trash; no effect if it is restored already."""
    if trash.find_deleted_form(creator_id(), form_id, now=utc_now()) is not None:
        trash.restore_form(creator_id(), form_id, **acting())
    form = forms.get_form(creator_id(), form_id)
    return go_to(url_for("results.by_question", form_id=form.id, done="restored"))


@bp.get("/<form_id>/erase")
def ask_erase(form_id: str) -> Response | str:
    """Ask before erasing; redirect to the form if it was restored meanwhile."""
    form = trash.find_deleted_form(creator_id(), form_id, now=utc_now())
    if form is not None:
        return render_template("forms/erase.html", form=form)
    safe = forms.get_form(creator_id(), form_id)
    return go_to(url_for("results.by_question", form_id=safe.id))


@bp.post("/<form_id>/erase")
def erase(form_id: str) -> Response:
    """Erase the form from the trash, for good."""
    trash.erase_form(creator_id(), form_id, **acting())
    return go_to(url_for("forms.show_trash", erased=1))


@bp.post("/<form_id>/copy")
@limit_new_drafts
def copy(form_id: str) -> Response:
    """Create a draft with the content of the form, which stays unchanged."""
    content = model.snapshot(forms.get_form(creator_id(), form_id))
    title = f"Copy of {content['title']}"
    if len(title) > draft_input.TITLE_MAX_CHARS:
        title = f"{title[: draft_input.TITLE_MAX_CHARS - 1].rstrip()}…"
    content["title"] = title
    draft = editing.create_draft(creator_id(), content, author=None, now=utc_now())
    return go_to(url_for("drafts.review", draft_id=draft.id, made_from=form_id))

"""One response after the other, unread ones first, and what its creator has read of a form."""

from http import HTTPStatus

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.answers import one_response, unread
from webapp.answers.export import recordings_of
from webapp.base.config import settings
from webapp.base.database import to_millis, utc_now
from webapp.base.limits import RESPONSE_UNDO_SECONDS
from webapp.pages.creator.request import creator_id, millis_in, require_creator
from webapp.pages.fragments import go_to, nothing_new, wants_fragment
from webapp.records import forms

bp = Blueprint("responses", __name__, url_prefix="/forms/<form_id>")
bp.before_request(require_creator)


@bp.get("/unread")
def show_next(form_id: str) -> ResponseReturnValue:
    """Redirect to the newest unread response, or to the newest."""
    form = forms.get_form(creator_id(), form_id)
    session_id = one_response.newest_response(form)
    if session_id is None:
        path = url_for("results.by_question", form_id=form_id)
    else:
        path = url_for("responses.show", form_id=form_id, session_id=session_id)
    return redirect(path, HTTPStatus.SEE_OTHER)


@bp.get("/people/<session_id>")
def show(form_id: str, session_id: str) -> ResponseReturnValue:
    """All that one person answered."""
    form = forms.get_form(creator_id(), form_id)
    response = one_response.get_response(form, session_id)
    return render_template(
        "results/response.html",
        form=form,
        response=response,
        person=response.person,
        recordings=recordings_of(response.person.answers, with_transcripts=True),
        transcriber=settings().transcriber_host,
        now_millis=to_millis(utc_now()),
        undo_seconds=RESPONSE_UNDO_SECONDS,
    )


@bp.post("/people/<session_id>/read")
def mark_read(form_id: str, session_id: str) -> ResponseReturnValue:
    """The creator has read this response; without scripts go on to the next unread one."""
    account = creator_id()
    unread.mark_read(account, form_id, session_id, millis_in(request.form.get("stamp", "")))
    if wants_fragment():
        return nothing_new()
    following = unread.next_unread(forms.get_form(account, form_id), session_id)
    path = url_for("responses.show", form_id=form_id, session_id=following or session_id)
    return redirect(path, HTTPStatus.SEE_OTHER)


@bp.post("/read")
def mark_all_read(form_id: str) -> ResponseReturnValue:
    """The creator has read everything that their page knew of."""
    unread.mark_all_read(creator_id(), form_id, millis_in(request.form.get("stamp", "")))
    return go_to(url_for("results.by_question", form_id=form_id))

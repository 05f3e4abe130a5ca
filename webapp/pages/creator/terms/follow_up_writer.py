"""Who writes the follow-up questions of a published form, and what its creator says to that."""

from http import HTTPStatus

from flask import Blueprint, Response, render_template, url_for
from flask.typing import ResponseReturnValue

from webapp.answers.session import most_asked_with
from webapp.base.database import utc_now
from webapp.base.errors import StateConflict
from webapp.drafts.terms import BY_RULES, agree_to_terms, terms_of
from webapp.pages.creator.request import creator_id, limit_writes, require_creator
from webapp.pages.creator.terms import page_terms
from webapp.pages.fragments import go_to
from webapp.records import forms
from webapp.records.content.model import asks_follow_ups
from webapp.records.follow_ups import count_outcomes
from webapp.records.forms import FormRow
from webapp.records.languages import has_phrases
from webapp.web import request_audit

bp = Blueprint("follow_up_writer", __name__, url_prefix="/forms/<form_id>/follow-ups")
bp.before_request(require_creator)
limit_writes(bp)


def of_form(form: FormRow) -> dict[str, object]:
    """The template variables of the section about follow-up questions of a published form."""
    agreed, writer = terms_of(form).writer, page_terms.offered().writer.used_by(form)
    current = agreed if agreed == writer else BY_RULES
    came, refused = count_outcomes(form_id=form.id) if agreed.follow_up_writer else ({}, {})
    return {
        "model_came": came,
        "model_refused": refused,
        "asks_follow_ups": asks_follow_ups(form),
        "most_questions": most_asked_with(current.follow_up_writer, form),
        "agreed_writer": agreed,
        "writer": writer,
        "current_writer": current,
        "has_phrases": has_phrases(form),
    }


@bp.get("")
def ask(form_id: str) -> ResponseReturnValue:
    """Who writes them today, what they get to see, and what the form's creator was shown."""
    form = forms.get_form(creator_id(), form_id)
    facts = of_form(form)
    if facts["agreed_writer"] == facts["writer"]:
        return _to_settings(form_id)
    return render_template("forms/follow_ups.html", form=form, is_stale=False, **facts)


@bp.post("")
def agree(form_id: str) -> ResponseReturnValue:
    """Let the one write them that the page named."""
    account, by = creator_id(), request_audit.creator()
    try:
        agree_to_terms(account, form_id, page_terms.posted_writer(), now=utc_now(), by=by)
    except StateConflict:
        form = forms.get_form(account, form_id)
        page = render_template("forms/follow_ups.html", form=form, is_stale=True, **of_form(form))
        return page, HTTPStatus.CONFLICT
    return _to_settings(form_id)


def _to_settings(form_id: str) -> Response:
    return go_to(url_for("results.show_settings", form_id=form_id, _anchor="follow-ups"))

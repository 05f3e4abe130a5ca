"""What creators are shown about spoken answers, and what they choose for a published form."""

from functools import cache
from http import HTTPStatus

from babel import Locale
from flask import Blueprint, Response, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.base.database import utc_now
from webapp.base.errors import StateConflict
from webapp.drafts import form_settings
from webapp.drafts.terms import agree_to_terms, terms_of
from webapp.pages.creator.request import creator_id, limit_writes, require_creator
from webapp.pages.creator.terms import page_terms
from webapp.pages.fragments import go_to
from webapp.records import forms
from webapp.records.forms import FormRow
from webapp.web import request_audit

bp = Blueprint("spoken_answers", __name__, url_prefix="/forms/<form_id>/voice")
bp.before_request(require_creator)
limit_writes(bp)


def of_form(form: FormRow) -> dict[str, object]:
    """The template variables of the section about spoken answers of a published form."""
    return {
        "agreed": terms_of(form).voice,
        "voice": page_terms.offered().voice.used_by(form),
        "languages": _languages(),
    }


@cache
def _languages() -> list[tuple[str, str]]:
    """Names in English and tags, when first asked for: Babel's data of a language are 3.5 MB."""
    names = Locale("en").languages
    return sorted((names[tag], tag) for tag in form_settings.SPOKEN_LANGUAGES)


@bp.get("")
def ask(form_id: str) -> ResponseReturnValue:
    """What happens to spoken answers today, and what the form's creator was shown."""
    form = forms.get_form(creator_id(), form_id)
    facts = of_form(form)
    if facts["agreed"] == facts["voice"]:
        return _to_settings(form_id)
    return render_template("forms/voice.html", form=form, is_stale=False, **facts)


@bp.post("")
def agree(form_id: str) -> ResponseReturnValue:
    """Let the form do what the page said."""
    account = creator_id()
    try:
        agree_to_terms(
            account, form_id, page_terms.posted_voice(), now=utc_now(), by=request_audit.creator()
        )
    except StateConflict:
        form = forms.get_form(account, form_id)
        page = render_template("forms/voice.html", form=form, is_stale=True, **of_form(form))
        return page, HTTPStatus.CONFLICT
    return _to_settings(form_id)


@bp.post("/language")
def choose_language(form_id: str) -> ResponseReturnValue:
    """Name the language that people are expected to speak; an empty choice takes it back."""
    chosen = request.form.get("language", "")
    form_settings.set_spoken_language(creator_id(), form_id, chosen)
    return _to_settings(form_id)


def _to_settings(form_id: str) -> Response:
    return go_to(url_for("results.show_settings", form_id=form_id, _anchor="voice"))

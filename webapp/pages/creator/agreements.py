"""What this server does with answers: shown on pages, and agreed to for a published form."""

from functools import cache
from http import HTTPStatus
from typing import Any

from babel import Locale
from flask import Response, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from webapp.answers.session import most_asked_with
from webapp.base.config import settings
from webapp.base.errors import StateConflict
from webapp.drafts import form_settings, terms
from webapp.drafts.terms import AskerTerms, FormTerms, Shown, VoiceTerms, WriterTerms
from webapp.pages.creator.request import acting, creator_blueprint, creator_id
from webapp.pages.fragments import go_to
from webapp.records import forms
from webapp.records.content.model import asks_follow_ups
from webapp.records.follow_ups import count_outcomes
from webapp.records.forms import FormRow
from webapp.records.languages import has_phrases

TEMPLATES = {"voice": "forms/voice.html", "follow-ups": "forms/follow_ups.html"}

bp = creator_blueprint("agreements", "/forms/<form_id>")


def offered() -> FormTerms:
    """What is so on this server, by the settings of the operator."""
    chosen = settings()
    return FormTerms(
        terms.offered_voice(chosen.transcriber_host),
        WriterTerms(chosen.follow_up_writer),
        terms.asker_of(current_user),
    )


def posted() -> Shown[FormTerms]:
    """What the posted page said, next to what is so at this moment."""
    names = ("records", "transcriber", "writer", "organisation", "accent", "picture")
    records, transcriber, writer, *asker = (request.form.get(f"shown_{name}", "") for name in names)
    voice = VoiceTerms(records == "yes", transcriber)
    return Shown(FormTerms(voice, WriterTerms(writer), AskerTerms(*asker)), offered())


def of_form(form: FormRow) -> dict[str, object]:
    """The template variables of what a published form does with answers, and what it could."""
    agreed, here = terms.terms_of(form), offered().used_by(form)
    current = agreed.writer if agreed.writer == here.writer else terms.BY_RULES
    by_model = bool(agreed.writer.follow_up_writer)
    came, refused = count_outcomes(form_id=form.id) if by_model else ({}, {})
    return {
        "agreed": agreed.voice,
        "voice": here.voice,
        "languages": _languages(),
        "model_came": came,
        "model_refused": refused,
        "asks_follow_ups": asks_follow_ups(form),
        "most_questions": most_asked_with(current.follow_up_writer, form),
        "agreed_writer": agreed.writer,
        "writer": here.writer,
        "current_writer": current,
        "has_phrases": has_phrases(form),
    }


@cache
def _languages() -> list[tuple[str, str]]:
    """Names in English and tags, when first asked for: Babel's data of a language are 3.5 MB."""
    names = Locale("en").languages
    return sorted((names[tag], tag) for tag in form_settings.SPOKEN_LANGUAGES)


@bp.get("/<any(voice, 'follow-ups'):part>")
def ask(form_id: str, part: str) -> ResponseReturnValue:
    """What happens to spoken answers today, or who writes follow-ups and what they get to see; and
    what the form's creator was shown.
    """
    form = forms.get_form(creator_id(), form_id)
    agreed, here = terms.terms_of(form), offered().used_by(form)
    if agreed.voice == here.voice if part == "voice" else agreed.writer == here.writer:
        return _to_settings(form_id, part)
    return render_template(TEMPLATES[part], form=form, is_stale=False, **of_form(form))


@bp.post("/voice")
def agree_to_voice(form_id: str) -> ResponseReturnValue:
    """Let the form do with spoken answers what the page said."""
    page = posted()
    return _agree(form_id, "voice", Shown(page.on_page.voice, page.offered.voice))


@bp.post("/follow-ups")
def agree_to_writer(form_id: str) -> ResponseReturnValue:
    """Let the one write follow-ups that the page named."""
    page = posted()
    return _agree(form_id, "follow-ups", Shown(page.on_page.writer, page.offered.writer))


def _agree(form_id: str, part: str, page: Shown[Any]) -> ResponseReturnValue:
    try:
        terms.agree_to_terms(creator_id(), form_id, page, **acting())
    except StateConflict:
        form = forms.get_form(creator_id(), form_id)
        body = render_template(TEMPLATES[part], form=form, is_stale=True, **of_form(form))
        return body, HTTPStatus.CONFLICT
    return _to_settings(form_id, part)


@bp.post("/voice/language")
def choose_language(form_id: str) -> ResponseReturnValue:
    """Name the language that people are expected to speak; an empty choice takes it back."""
    chosen = request.form.get("language", "")
    form_settings.set_spoken_language(creator_id(), form_id, chosen)
    return _to_settings(form_id, "voice")


def _to_settings(form_id: str, part: str) -> Response:
    return go_to(url_for("results.show_settings", form_id=form_id, _anchor=part))

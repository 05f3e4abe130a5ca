"""How this server processes answers, and the creator's agreement to it for a published form."""

from functools import cache
from http import HTTPStatus

from babel import Locale
from flask import Response, render_template, request, url_for
from flask_login import current_user

from webapp.answers.session import most_asked_with
from webapp.base.config import settings
from webapp.base.errors import StateConflict
from webapp.drafts import agreement, form_settings
from webapp.pages.creator.request import acting, creator_blueprint, creator_id
from webapp.pages.fragments import go_to
from webapp.records import follow_ups, forms, languages
from webapp.records.content.model import asks_follow_ups

# by the last part of the address: the part of the agreement, and the template
PAGES = {"voice": ("voice", "forms/voice.html"), "follow-ups": ("writer", "forms/follow_ups.html")}

bp = creator_blueprint("agreements", "/forms/<form_id>")


def offered() -> agreement.Agreement:
    """Return the terms that this server offers now, according to its settings."""
    chosen = settings()
    return agreement.Agreement(
        agreement.VoiceAgreement(records_voice=True, transcriber=chosen.transcriber_host),
        agreement.WriterAgreement(chosen.follow_up_writer),
        agreement.asker_of(current_user),
    )


def posted() -> agreement.Shown:
    """Return the terms that the posted page showed, and the terms offered now."""
    names = ("records", "transcriber", "writer", "organisation", "accent", "picture")
    records, transcriber, writer, *asker = (request.form.get(f"shown_{name}", "") for name in names)
    voice = agreement.VoiceAgreement(records == "yes", transcriber)
    return agreement.Shown(
        agreement.Agreement(
            voice, agreement.WriterAgreement(writer), agreement.AskerAgreement(*asker)
        ),
        offered(),
    )


def of_form(form: forms.FormRow) -> dict[str, object]:
    """Return the template variables for the terms of a published form and those offered now."""
    agreed, here = agreement.agreement_of(form), offered().used_by(form)
    current = agreed.writer if agreed.writer == here.writer else agreement.BY_RULES
    by_model = bool(agreed.writer.follow_up_writer)
    came, refused = follow_ups.count_outcomes(form_id=form.id) if by_model else ({}, {})
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
        "has_phrases": languages.has_phrases(form),
    }


@cache
def _languages() -> list[tuple[str, str]]:
    """Return English names and tags of languages, loaded late: Babel's data take 3.5 MB."""
    names = Locale("en").languages
    return sorted((names[tag], tag) for tag in form_settings.SPOKEN_LANGUAGES)


@bp.get("/<any(voice, 'follow-ups'):page>")
def ask(form_id: str, page: str) -> Response | str:
    """Show the agreed and current terms for one part; redirect to the settings if equal."""
    form, (part, template) = forms.get_form(creator_id(), form_id), PAGES[page]
    agreed, here = agreement.agreement_of(form), offered().used_by(form)
    if getattr(agreed, part) == getattr(here, part):
        return _to_settings(form_id, page)
    return render_template(template, form=form, is_stale=False, **of_form(form))


@bp.post("/voice", endpoint="agree_to_voice")
@bp.post("/follow-ups", endpoint="agree_to_writer")
def agree(form_id: str) -> Response | tuple[str, int]:
    """Agree to the terms that the page showed: for spoken answers, or the follow-up writer."""
    page = request.path.rpartition("/")[2]
    part, template = PAGES[page]
    try:
        agreement.agree(creator_id(), form_id, part, posted(), **acting())
    except StateConflict:
        form = forms.get_form(creator_id(), form_id)
        body = render_template(template, form=form, is_stale=True, **of_form(form))
        return body, HTTPStatus.CONFLICT
    return _to_settings(form_id, page)


@bp.post("/voice/language")
def choose_language(form_id: str) -> Response:
    """Set the language that respondents are expected to speak; an empty choice clears it."""
    chosen = request.form.get("language", "")
    form_settings.set_spoken_language(creator_id(), form_id, chosen)
    return _to_settings(form_id, "voice")


def _to_settings(form_id: str, part: str) -> Response:
    return go_to(url_for("results.show_settings", form_id=form_id, _anchor=part))

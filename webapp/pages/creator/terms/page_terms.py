"""What this server does with what people answer, and what a posted page said of it."""

from flask import request
from flask_login import current_user

from webapp.base.config import settings
from webapp.drafts.terms import (
    AskerTerms,
    FormTerms,
    Shown,
    VoiceTerms,
    WriterTerms,
    asker_of,
    offered_voice,
)


def offered() -> FormTerms:
    """What is so on this server, by the settings of the operator."""
    chosen = settings()
    return FormTerms(
        offered_voice(chosen.transcriber_host),
        WriterTerms(chosen.follow_up_writer),
        asker_of(current_user),
    )


def posted() -> Shown[FormTerms]:
    """What the posted page said, next to what is so at this moment."""
    voice = VoiceTerms(
        request.form.get("shown_records") == "yes", request.form.get("shown_transcriber", "")
    )
    writer = WriterTerms(request.form.get("shown_writer", ""))
    asker = AskerTerms(
        *(request.form.get(f"shown_{what}", "") for what in ("organisation", "accent", "picture"))
    )
    return Shown(FormTerms(voice, writer, asker), offered())


def posted_voice() -> Shown[VoiceTerms]:
    """As `posted`, of a page about spoken answers."""
    page = posted()
    return Shown(page.on_page.voice, page.offered.voice)


def posted_writer() -> Shown[WriterTerms]:
    """As `posted`, of a page about follow-up questions."""
    page = posted()
    return Shown(page.on_page.writer, page.offered.writer)

"""The language that people are expected to speak: chosen by a creator, a hint for transcribers."""

from sqlalchemy import update

from webapp.database import execute, write_transaction
from webapp.domain.forms.models import Form, no_form, owned_form
from webapp.domain.shared.error_codes import PageCode
from webapp.domain.shared.errors import InvalidInput

# ISO 639-1, as Whisper and the services that speak OpenAI's protocol take it
SPOKEN_LANGUAGES = (
    *("af", "ar", "az", "be", "bg", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "es", "et"),
    *("fa", "fi", "fr", "gl", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "kk", "kn"),
    *("ko", "lt", "lv", "mi", "mk", "mr", "ms", "ne", "nl", "no", "pl", "pt", "ro", "ru", "sk"),
    *("sl", "sr", "sv", "sw", "ta", "th", "tl", "tr", "uk", "ur", "vi", "zh"),
)


def set_spoken_language(account_id: str, form_id: str, language: str) -> None:
    """Store one of SPOKEN_LANGUAGES, or "" for none in particular.

    raises  InvalidInput `language_unknown`; NotFound
    """
    if language and language not in SPOKEN_LANGUAGES:
        raise InvalidInput(
            PageCode.LANGUAGE_UNKNOWN,
            "This language is not in the list.",
            "Choose one of the list, or none.",
            "language",
        )
    with write_transaction():
        changed = execute(
            update(Form).where(owned_form(account_id, form_id)).values(spoken_language=language)
        )
        if not changed.rowcount:
            raise no_form()

"""What a creator writes for the agent beside a draft that they send back or discard."""

import re

from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput
from webapp.domain.shared.limits import CREATOR_NOTE_MAX_CHARS
from webapp.domain.shared.validation_errors import refused_character

_REFUSED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean_note(text: str) -> str | None:
    """The note as it is stored, without space around it; None for none. It may have many lines.

    raises  InvalidInput `validation_failed`, `invalid_text`
    """
    note = text.strip()
    if len(note) > CREATOR_NOTE_MAX_CHARS:
        problem = f"has {len(note)} characters; at most {CREATOR_NOTE_MAX_CHARS} are allowed"
        raise _wrong(ErrorCode.VALIDATION_FAILED, problem, "Shorten the note.")
    if found := _REFUSED.search(note):
        problem = refused_character(found[0], found.start() + 1)
        raise _wrong(ErrorCode.INVALID_TEXT, problem, "Leave that character out.")
    return note or None


def with_note(said: str, note: str | None) -> str:
    """The sentence that is begun in `said`, with the creator's words quoted in it."""
    return f"{said}, with the note “{note}”." if note else f"{said}."


def _wrong(code: ErrorCode, problem: str, resolution: str) -> InvalidInput:
    return InvalidInput(code, f"note: {problem}.", resolution, field="note")

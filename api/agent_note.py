"""The header in which an agent says why it writes a draft as it does."""

import re
from urllib.parse import unquote_to_bytes

from flask import request

from webapp.domain.drafts.agent_notes import clean_note, wrong_note
from webapp.domain.shared.limits import AGENT_NOTE_MAX_CHARS

HEADER = "Askback-Note"
ENCODED_MAX_CHARS = 12 * AGENT_NOTE_MAX_CHARS  # four bytes of UTF-8 each, and each of them as %XX
# what stands for itself is taken as it is, too
_ENCODED = re.compile("(?:[\x20-\x24\x26-\x7e]|%[0-9A-Fa-f]{2})*")


def sent_note() -> str | None:
    """The note, None for none. raises InvalidInput `validation_failed`"""
    header = request.headers.get(HEADER, "")
    if len(header) > ENCODED_MAX_CHARS:
        problem = f"has {len(header)} characters; at most {ENCODED_MAX_CHARS} are allowed"
        shorter = f"Send {AGENT_NOTE_MAX_CHARS} code points at most, or no note."
        raise wrong_note(HEADER, problem, shorter)
    try:
        return clean_note(_decoded(header), HEADER)
    except ValueError:
        raise wrong_note(
            HEADER,
            "is not percent-encoded UTF-8",
            "Encode the note as encodeURIComponent of JavaScript does, or send none.",
        ) from None


def _decoded(header: str) -> str:
    if not _ENCODED.fullmatch(header):
        raise ValueError(header)
    return unquote_to_bytes(header).decode()

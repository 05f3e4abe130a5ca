"""Cells of CSV files: quoted, and harmless in a spreadsheet."""

import re
import unicodedata

from webapp.config import settings
from webapp.domain.forms.models import FormRow
from webapp.domain.responses.models import AttachmentRow, SessionRow, session_status
from webapp.domain.shared.unicode_normalization import normalized
from webapp.wire.timestamps import wire_time

QUOTE, TWO_QUOTES = '"', '""'
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # spreadsheets take the file for UTF-8 by it
PERSON_COLUMNS = ("person", "name", "status", "started_at", "finished_at", "looks_automated")
# Begin a formula; NFKC makes these of wide, small and raised signs.
FORMULA_SIGNS = frozenset("=+-@\N{MINUS SIGN}")
IGNORED = "CZM"  # general categories: controls and formats, separators, marks
# A sign before a number is none: its calculation is the number.
SIGNED_NUMBER = re.compile(
    r"[+\-−] ?[.,]?\d(?:[.,'’ \u00a0\u202f]?\d){0,30}(?:[eE][+-]?\d{1,3})? ?%?"  # noqa: RUF001
)
CELL_MAX_UNITS = 32_767  # of UTF-16: spreadsheets silently drop the rest, or the file
CUT = "… [cut here; the file by answer has all of it]"


def cells(*texts: str) -> str:
    """RFC 4180: every cell quoted, quotes doubled."""
    return ",".join([f'"{text.replace(QUOTE, TWO_QUOTES)}"' for text in texts])


def cell(text: str) -> str:
    """Text that no spreadsheet reads as a formula: such text gets a leading apostrophe."""
    is_formula = _begins_formula(text) and not SIGNED_NUMBER.fullmatch(text.strip(" "))
    return f"'{text}" if is_formula else text


def _begins_formula(text: str) -> bool:
    """Also after a tab, a return or characters that a spreadsheet ignores."""
    first = next((char for char in text if unicodedata.category(char)[0] not in IGNORED), "")
    return normalized("NFKC", first)[:1] in FORMULA_SIGNS or text[:1] in {"\t", "\r"}


def short_cell(text: str) -> str:
    """The same, cut with a mark to what a cell of a spreadsheet takes."""
    text = cell(text)
    units = text.encode("utf-16-le") if len(text) > CELL_MAX_UNITS // 2 else b""
    if len(units) <= 2 * CELL_MAX_UNITS:
        return text
    return units[: 2 * (CELL_MAX_UNITS - len(CUT))].decode("utf-16-le", "ignore") + CUT


def person_cells(person: SessionRow, now_millis: int) -> str:
    """The cells of PERSON_COLUMNS."""
    completed = person.completed_stamp
    return cells(
        person.id,
        cell(person.responder_name or ""),
        session_status(person, now_millis),
        wire_time(person.created_at),
        wire_time(completed) if completed else "",
        "yes" if person.suspect else "",
    )


def recording_address(form: FormRow, recording: AttachmentRow) -> str:
    """Where the creator of the form hears it."""
    return f"{settings().public_url}/forms/{form.id}/attachments/{recording.id}"

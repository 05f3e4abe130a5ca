"""JSON with comments and trailing commas: read, and one member added between all other bytes."""

import json
import re
from collections.abc import Iterator
from typing import Any

STRING = r'"(?:[^"\\\n]|\\.)*"'
COMMENT = re.compile(rf"{STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
TRAILING_COMMA = re.compile(rf"{STRING}|,(?=\s*[}}\]])")
BLANKS = re.compile(r"\s*")


def read(text: str) -> Any:
    """The value; raises ValueError or RecursionError."""
    return json.loads(_strict(text))


def with_entry(text: str, section: str, name: str, entry: dict[str, str]) -> Iterator[str]:
    """The text with one entry more, at the beginning of each object that may be its section.

    The last one is the text with a new section. Only one of them reads as is wanted.
    """
    strict = _strict(text)
    for found in re.finditer(rf"{re.escape(json.dumps(section))}\s*:\s*{{", strict):
        yield _inserted(text, strict, found.end(), {name: entry})
    yield _inserted(text, strict, strict.index("{") + 1, {section: {name: entry}})


def _inserted(text: str, strict: str, start: int, member: dict[str, Any]) -> str:
    """The text with this member on a line as the next one has it; `start` is behind a brace."""
    blanks = BLANKS.match(text, start)[0]  # type: ignore[index]
    comma = "" if strict[start:].lstrip().startswith("}") else ","
    made = json.dumps(member, ensure_ascii=False)[1:-1]
    return text[:start] + blanks + made + comma + text[start:]


def _strict(text: str) -> str:
    """Plain JSON in which everything has its old place."""
    return _blanked(TRAILING_COMMA, _blanked(COMMENT, text))


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """Spaces instead of what the pattern finds, except strings and line ends."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0])

    return pattern.sub(blank, text)

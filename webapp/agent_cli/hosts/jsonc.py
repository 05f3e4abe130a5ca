"""JSON with comments and trailing commas: read, and one member added between all other bytes."""

import json
import re
from typing import Any, NamedTuple

STRING = r'"(?:[^"\\\n]|\\.)*"'
COMMENT = re.compile(rf"{STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
TRAILING_COMMA = re.compile(rf"{STRING}|,(?=\s*[}}\]])")
BLANKS = re.compile(r"\s*")
DEFAULT_INDENT = "  "

_decoder = json.JSONDecoder()


class Member(NamedTuple):
    """A member of an object, with the places where it and its value begin, and where it ends."""

    key: str
    start: int
    value: int
    end: int


def read(text: str) -> Any:
    """The value; raises ValueError or RecursionError."""
    return json.loads(_strict(text))


def with_entry(text: str, section: str, name: str, entry: dict[str, str]) -> str:
    """The text with one entry more in a section of its object, which is added if it is not there.

    What is added is indented as the rest. raises ValueError or RecursionError
    """
    strict = _strict(text)
    root = strict.index("{")
    sections = [each for each in _members(strict, root)[0] if each.key == section]
    if sections:
        return _inserted(text, sections[-1].value, name, entry)
    return _inserted(text, root, section, {name: entry})


def _inserted(text: str, start: int, key: str, value: object) -> str:
    """The text with one member more at the end of the object that begins at `start`."""
    members, close = _members(_strict(text), start)
    bare = _blanked(COMMENT, text)
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(bare)
    in_one_line = bool(members) and "\n" not in text[start:close]
    indent = _line_start(text, members[0].start) if members else ""
    if not members or indent.strip():
        indent = _indent(text, start) + unit
    made = json.dumps(value, indent=None if in_one_line else unit, ensure_ascii=False)
    made = f"{json.dumps(key)}: {made}".replace("\n", newline + indent)
    made = f" {made}" if in_one_line else newline + indent + made
    end = members[-1].end if members else start + 1
    place = len(text[:close].rstrip())
    has_comma = "," in bare[end:close]
    if has_comma:
        made += ","
    if "\n" not in text[place:close] and not in_one_line:
        made += newline + _indent(text, start)
    comma = "," if members and not has_comma else ""
    return text[:end] + comma + text[end:place] + made + text[place:]


def _members(strict: str, start: int) -> tuple[list[Member], int]:
    """Those of the object that begins at `start`, and the place of its closing brace."""
    found, at = [], _after_blanks(strict, start + 1)
    while strict[at] != "}":
        begin = _after_blanks(strict, at + 1) if strict[at] == "," else at
        key, at = _decoder.raw_decode(strict, begin)
        value = _after_blanks(strict, _after_blanks(strict, at) + 1)
        _, end = _decoder.raw_decode(strict, value)
        found.append(Member(key, begin, value, end))
        at = _after_blanks(strict, end)
    return found, at


def _strict(text: str) -> str:
    """Plain JSON in which everything has its old place."""
    return _blanked(TRAILING_COMMA, _blanked(COMMENT, text))


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """Spaces instead of what the pattern finds, except strings and line ends."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0])

    return pattern.sub(blank, text)


def _after_blanks(text: str, at: int) -> int:
    return at + len(BLANKS.match(text, at)[0])  # type: ignore[index]


def _line_start(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : at]


def _indent(text: str, at: int) -> str:
    """The blanks with which the line of this place begins."""
    line = _line_start(text, at)
    return line[: len(line) - len(line.lstrip())]


def _unit(bare: str) -> str:
    """One step of indentation, as the first indented line has it."""
    lines = (line for line in bare.splitlines() if line.strip() and line[0] in " \t")
    first = next(lines, DEFAULT_INDENT + "x")
    return first[: len(first) - len(first.lstrip())]

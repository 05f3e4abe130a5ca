"""What is wrong with an input as sentences: the errors of its validation become one refusal.

A message is `path: reason.` and names what was sent and what is allowed.
"""

import json
import re
from collections.abc import Iterable, Sequence

from pydantic_core import ErrorDetails

from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput

NAMED_AT_MOST = 10  # further wrong fields in one resolution
PATH_MAX_CHARS = 100
SHOWN_MAX_CHARS = 40  # of a value that was sent
SURROGATES = re.compile("[\ud800-\udfff]")
UNION_ARMS = {"text", "object"}  # of a question: no part of its path
FOLLOW_UPS_GO = (
    " Prepared follow-ups are a body of their own, PUT /drafts/{draftId}/follow-ups, or the "
    "argument followUps of a tool that writes drafts."
)
OF_A_KEY = "[key]"  # behind the key that is wrong itself

_CODES = {
    "extra_forbidden": ErrorCode.UNKNOWN_FIELD,
    "invalid_text": ErrorCode.INVALID_TEXT,
    "string_unicode": ErrorCode.INVALID_TEXT,
}


_REASONS = {
    "extra_forbidden": "is not a field of this object",
    "missing": "is missing",
    "model_type": "is {sent}; an object is needed",
    "question_type": "is {sent}; a string or an object is needed",
    "list_type": "is {sent}; an array is needed",
    "dict_type": "is {sent}; an object is needed",
    "blank_text": "is blank; a text is needed",
    "string_type": "is {sent}; a string is needed",
    "string_too_long": "has {size} characters; at most {max_length} are allowed",
    "string_too_short": "is empty; at least {min_length} character is needed",
    "too_long": "has {size} items; at most {max_length} are allowed",
    "too_short": "has {size} items; at least {min_length} is needed",
    "enum": "is {sent}; {expected} is needed",
    "whole_number": "is {sent}; a whole number from {least} to {most} is needed",
}

_FIELDS_INSIDE: dict[int | str, str] = {"followUps": "text and when"}


def refusal(
    errors: Sequence[ErrorDetails], *, body_fields: Iterable[str], settings: Iterable[str]
) -> InvalidInput:
    """The first error as the message; the resolution names the other wrong fields.

    body_fields, settings   names to send instead of unknown ones and of a nested `settings`
    """
    first = errors[0]
    field = path_of(first["loc"])
    code = _CODES.get(first["type"], ErrorCode.VALIDATION_FAILED)
    instead = list(settings)
    hints = [] if instead and field == "settings" else [_hint(code, first, body_fields)]
    if instead and any(error["loc"] == ("settings",) for error in errors):
        named = _list(instead)
        hints.append(f"Send the fields inside settings as fields of the body itself: {named}.")
    if len(errors) > 1:  # there may be tens of thousands
        others = [path_of(error["loc"]) or "body" for error in errors[1 : NAMED_AT_MOST + 1]]
        hints.append(f"Also wrong: {_list(others, len(errors) - 1 - len(others))}.")
    message = f"{field or 'body'}: {_reason(first)}."
    return InvalidInput(code, message, " ".join(hints), field=field)


def refused_character(character: str, place: int) -> str:
    """The reason to refuse a text: which character it holds, and where, counted from 1."""
    return f"contains {_described(character)} at character {place}"


def sent(value: object) -> str:
    """A JSON value in a sentence: short ones as they are, others by their kind."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, str) and len(value) > SHOWN_MAX_CHARS:
        return "a longer text"
    shown = json.dumps(value, ensure_ascii=not _is_visible(value))
    return shown if len(shown) <= SHOWN_MAX_CHARS * 6 else "a longer number"


def _reason(error: ErrorDetails) -> str:
    value, kind = error["input"], error["type"]
    if kind == "invalid_text":
        return refused_character(chr(error["ctx"]["code_point"]), error["ctx"]["place"])
    if kind == "string_unicode":
        return _broken_pair(error)
    if kind == "model_type" and error["loc"]:
        kind = "question_type"
    size = len(value) if isinstance(value, str | list | dict) else 0
    told = {"sent": sent(value), "size": size, **error.get("ctx", {})}
    if kind == "enum":
        told["expected"] = told["expected"].replace("'", '"')
    return _REASONS.get(kind, "has a value that is not allowed").format_map(told)


def _broken_pair(error: ErrorDetails) -> str:
    found = SURROGATES.search(error["input"])
    character, place = (found[0], found.start() + 1) if found else ("\ud800", 1)
    reason = refused_character(character, place)
    is_name = not error["loc"] or error["loc"][-1] == "object"
    return f"has a field whose name {reason}" if is_name else reason


def _described(character: str) -> str:
    """A character that is not allowed, by its kind and code point."""
    code_point = f"U+{ord(character):04X}"
    if SURROGATES.match(character):
        return f"half of a surrogate pair, {code_point},"
    if character > "\x9f":
        return f"the text-direction character {code_point}"
    return f"the control character {code_point}"


def _hint(code: ErrorCode, error: ErrorDetails, body_fields: Iterable[str]) -> str:
    if code == ErrorCode.UNKNOWN_FIELD:
        known = (
            _FIELDS_INSIDE.get(error["loc"][0], "id, text and context")
            if len(error["loc"]) > 1
            else _list([*body_fields] or ["none"])
        )
        elsewhere = FOLLOW_UPS_GO if error["loc"][-1] == "followUps" else ""
        return f"Remove the field; those of this object are {known}.{elsewhere}"
    if code == ErrorCode.INVALID_TEXT:
        return (
            "Send the text without that character. Titles, labels and ids are one line without "
            "control characters; other texts may hold line breaks."
        )
    if error["type"] != "missing" and error["input"] is None:
        return "Leave the field out to leave its value as it is; null is not accepted here."
    return "Correct the field and send the request again."


def _list(names: list[str], more: int = 0) -> str:
    """`a, b and c`, or `a, b and 7 more`."""
    *before, last = [*names, f"{more} more"] if more else names
    return f"{', '.join(before)} and {last}" if before else last


def path_of(location: tuple[int | str, ...]) -> str:
    """`questions[0].text`, cut; the arm of a union is no part of it."""
    path = ""
    for before, step in zip((None, *location), location, strict=False):
        if isinstance(step, int):
            path += f"[{step}]"
        elif step != OF_A_KEY and not (isinstance(before, int) and step in UNION_ARMS):
            path += f".{_name(step)}" if path else _name(step)
    return path[:PATH_MAX_CHARS]


def _name(field: str) -> str:
    """The name of a field, quoted if it could not be seen without."""
    is_plain = field.isprintable() and field and field == field.strip()
    return field if is_plain else json.dumps(field[:PATH_MAX_CHARS])


def _is_visible(value: object) -> bool:
    return isinstance(value, str) and value.isprintable()

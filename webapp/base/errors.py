"""Expected refusals with their codes, and refusals made of validation errors."""

import json
import re
import tomllib
from collections.abc import Sequence
from enum import StrEnum
from http import HTTPStatus
from pathlib import Path
from typing import ClassVar, Self, TypeVar

import pydantic
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

TEXTS = tomllib.loads(Path(__file__).with_name("error_codes.toml").read_text("utf-8"))


class ErrorCode(StrEnum):
    """A refusal that the API gives, and that pages may give as well.

    status           of the answer of the API; pages have their own
    meaning, remedy  see `error_codes.toml`
    said             message and resolution of a code that has one wording, else empty
    """

    status: HTTPStatus
    meaning: str
    remedy: str
    said: tuple[str, ...]

    def __new__(cls, code: str) -> Self:
        member = str.__new__(cls, code)
        member._value_ = code
        member.status = HTTPStatus(TEXTS[code]["status"])
        member.meaning, member.remedy = TEXTS[code]["meaning"], TEXTS[code]["remedy"]
        member.said = tuple(TEXTS[code].get("said", ()))
        return member

    INVALID_JSON = "invalid_json"
    VALIDATION_FAILED = "validation_failed"
    UNKNOWN_FIELD = "unknown_field"
    CONTEXT_REQUIRED = "context_required"
    INVALID_SINCE = "invalid_since"
    INVALID_CURSOR = "invalid_cursor"
    INVALID_TEXT = "invalid_text"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused"
    CALLBACK_FAILED = "callback_failed"
    AUTHENTICATION_REQUIRED = "authentication_required"
    DRAFT_NOT_FOUND = "draft_not_found"
    FORM_NOT_FOUND = "form_not_found"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    DRAFT_NOT_CONFIRMED = "draft_not_confirmed"
    CONFIRMATION_STALE = "confirmation_stale"
    DRAFT_INCOMPLETE = "draft_incomplete"
    DRAFT_ALREADY_PUBLISHED = "draft_already_published"
    REVISION_CONFLICT = "revision_conflict"
    TOO_MANY_SUBSCRIPTIONS = "too_many_subscriptions"
    RESPONSE_NOT_COMPLETED = "response_not_completed"
    RANGE_NOT_SATISFIABLE = "range_not_satisfiable"
    RATE_LIMITED = "rate_limited"
    TOO_MANY_STREAMS = "too_many_streams"
    INTERNAL_ERROR = "internal_error"
    STORAGE_UNAVAILABLE = "storage_unavailable"


OF_TOOLS = frozenset({ErrorCode.INVALID_CURSOR, ErrorCode.RESPONSE_NOT_COMPLETED})  # MCP only
OF_REST = tuple(code for code in ErrorCode if code not in OF_TOOLS)


class PageCode(StrEnum):
    """A refusal that pages alone give; some codes have a page of their own."""

    ACCOUNT_DISABLED = "account_disabled"
    ANSWER_DIFFERS = "answer_differs"
    ANSWER_EMPTY = "answer_empty"
    ANSWER_NEWER = "answer_newer"
    ANSWER_TOO_LONG = "answer_too_long"
    ANSWER_UNSENT = "answer_unsent"
    DELIVERY_UNSETTLED = "delivery_unsettled"
    EMAIL_TAKEN = "email_taken"
    FORM_CLOSED = "form_closed"
    FORM_COMPLETED = "form_completed"
    FORM_FULL = "form_full"
    FORM_UNREADABLE = "form_unreadable"
    LANGUAGE_UNKNOWN = "language_unknown"
    NAME_TOO_LONG = "name_too_long"
    NOTHING_ANSWERED = "nothing_answered"
    ORIGIN_UNREADABLE = "origin_unreadable"
    RECORDING_UNKNOWN = "recording_unknown"
    RECORDINGS_FULL = "recordings_full"
    RECORDING_MISSING = "recording_missing"
    RECORDING_NO_ROOM = "recording_no_room"
    RECORDING_NOT_AUDIO = "recording_not_audio"
    RECORDING_NOT_KEPT = "recording_not_kept"
    RECORDING_TOO_LARGE = "recording_too_large"
    RECORDING_TOO_LONG = "recording_too_long"
    RECORDING_UNCLAIMED = "recording_unclaimed"
    RECORDING_UNSENT = "recording_unsent"
    RESPONSE_COMPLETED = "response_completed"
    RESPONSE_WITHDRAWN = "response_withdrawn"
    REVISION_NOT_FOUND = "revision_not_found"
    SESSION_UNKNOWN = "session_unknown"
    SUBSCRIPTION_ENDED = "subscription_ended"
    TOO_BUSY = "too_busy"
    TOO_MANY_ORIGINS = "too_many_origins"
    TRANSCRIBER_CHANGED = "transcriber_changed"
    TRANSCRIPT_SETTLED = "transcript_settled"
    UNSAVED_TEXT = "unsaved_text"
    VOICE_UNAVAILABLE = "voice_unavailable"


Code = ErrorCode | PageCode


class Phrase(str):
    """An English message that pages can translate; they format its numbers themselves.

    pattern  the message with placeholders as `%(limit)s`; catalogs contain every pattern
    numbers  by the name of their placeholder
    """

    pattern: str
    numbers: dict[str, int]

    def __new__(cls, pattern: str, **numbers: int) -> "Phrase":
        said = {name: f"{number:,}" for name, number in numbers.items()}
        phrase = super().__new__(cls, pattern % said if said else pattern)
        phrase.pattern, phrase.numbers = pattern, numbers
        return phrase


class Outcome(Exception):
    """Base of expected failures; `resolution` is the actionable hint of the contract's Error.

    field  the path of the value to change or send again; "" for none, or the whole input
    """

    def __init__(self, code: Code, message: str, resolution: str, field: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.resolution = resolution
        self.field = field


class InvalidInput(Outcome):
    """The request itself is wrong (400)."""


def wrong_field(
    field: str, problem: str, resolution: str, code: ErrorCode = ErrorCode.VALIDATION_FAILED
) -> InvalidInput:
    """Return the refusal of a field, which the message names."""
    return InvalidInput(code, f"{field}: {problem}.", resolution, field=field)


class RateLimited(Outcome):
    """The client exceeded a rate limit (429); `seconds` says how long to wait."""

    def __init__(self, message: str, resolution: str, seconds: int) -> None:
        super().__init__(ErrorCode.RATE_LIMITED, message, resolution)
        self.seconds = seconds


class TooBusy(Outcome):
    """The process has no capacity for more requests of this kind at once (503)."""


class NotFound(Outcome):
    """The object does not exist, or belongs to another account (404)."""


class StateConflict(Outcome):
    """The state of the object does not allow the operation (409)."""


class NotConfirmed(StateConflict):
    """The creator has not confirmed the draft in its current state."""

    def __init__(self, code: Code, message: str, resolution: str, draft_id: str) -> None:
        super().__init__(code, message, resolution)
        self.draft_id = draft_id


class SentBack(NotConfirmed):
    """The creator sent the draft back: the agent has to change it first."""


NAMED_AT_MOST = 10  # further wrong fields in one resolution
PATH_MAX_CHARS = 100
SHOWN_MAX_CHARS = 40  # of a value that was sent
SURROGATES = re.compile("[\ud800-\udfff]")
UNION_ARMS = {"text", "object"}  # of a question; paths leave them out
FOLLOW_UPS_GO = (
    " Prepared follow-ups are a body of their own, PUT /drafts/{draftId}/follow-ups, or the "
    "argument followUps of a tool that writes drafts."
)
OF_A_KEY = "[key]"  # follows a key that is invalid itself

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


def refusal(errors: Sequence[ErrorDetails], body_fields: Sequence[str]) -> InvalidInput:
    """Return a refusal with the first error as its message; the resolution names the others.

    body_fields  names to suggest for unknown fields
    """
    first = errors[0]
    field = path_of(first["loc"])
    code = _CODES.get(first["type"], ErrorCode.VALIDATION_FAILED)
    resolution = _hint(code, first, body_fields)
    if len(errors) > 1:  # there may be tens of thousands
        others = [path_of(error["loc"]) or "body" for error in errors[1 : NAMED_AT_MOST + 1]]
        resolution += f" Also wrong: {_list(others, len(errors) - 1 - len(others))}."
    return InvalidInput(code, f"{field or 'body'}: {_reason(first)}.", resolution, field=field)


def refused_character(character: str, place: int) -> str:
    """Return why a text is refused: the character, and its position, counted from 1."""
    return f"contains {_described(character)} at character {place}"


def sent(value: object) -> str:
    """Describe a JSON value in a sentence: short values as they are, others by their kind."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, str) and len(value) > SHOWN_MAX_CHARS:
        return "a longer text"
    is_visible = isinstance(value, str) and value.isprintable()
    shown = json.dumps(value, ensure_ascii=not is_visible)
    return shown if len(shown) <= SHOWN_MAX_CHARS * 6 else "a longer number"


def _reason(error: ErrorDetails) -> str:
    value, kind = error["input"], error["type"]
    if kind == "invalid_text":
        return refused_character(chr(error["ctx"]["code_point"]), error["ctx"]["place"])
    if kind == "string_unicode":
        found = SURROGATES.search(value)
        return refused_character(*(found[0], found.start() + 1) if found else ("\ud800", 1))
    if kind == "model_type" and error["loc"]:
        kind = "question_type"
    size = len(value) if isinstance(value, str | list | dict) else 0
    details = {"sent": sent(value), "size": size, **error.get("ctx", {})}
    if kind == "enum":
        details["expected"] = details["expected"].replace("'", '"')
    return _REASONS.get(kind, "has a value that is not allowed").format_map(details)


def _described(character: str) -> str:
    """Name a refused character by its kind and code point."""
    code_point = f"U+{ord(character):04X}"
    if SURROGATES.match(character):
        return f"half of a surrogate pair, {code_point},"
    if character > "\x9f":
        return f"the text-direction character {code_point}"
    return f"the control character {code_point}"


def _hint(code: ErrorCode, error: ErrorDetails, body_fields: Sequence[str]) -> str:
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
    """Return `a, b and c`, or `a, b and 7 more`."""
    *before, last = [*names, f"{more} more"] if more else names
    return f"{', '.join(before)} and {last}" if before else last


def path_of(location: tuple[int | str, ...]) -> str:
    """Return `questions[0].text`, truncated; names of the arms of a union are left out."""
    path = ""
    for before, step in zip((None, *location), location, strict=False):
        if isinstance(step, int):
            path += f"[{step}]"
        elif step != OF_A_KEY and not (isinstance(before, int) and step in UNION_ARMS):
            path += f".{_name(step)}" if path else _name(step)
    return path[:PATH_MAX_CHARS]


def _name(field: str) -> str:
    """Return the name of a field, quoted if parts of it would be invisible."""
    is_plain = field.isprintable() and field and field == field.strip()
    return field if is_plain else json.dumps(field[:PATH_MAX_CHARS])


UNSET: tuple[object, ...] = (None, "", [])  # serialisers write these for a value that is not set


class InputModel(pydantic.BaseModel):
    """A JSON object whose field names are in camel case; unknown fields are refused.

    CLEARED  the fields that an empty text clears
    """

    CLEARED: ClassVar[tuple[str, ...]] = ()

    model_config = pydantic.ConfigDict(
        extra="forbid",
        alias_generator=pydantic.AliasGenerator(validation_alias=to_camel),
        frozen=True,
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _drop_unset(cls, raw: object, info: pydantic.ValidationInfo) -> object:
        """Drop the values that serialisers write for unset optional fields."""
        if not isinstance(raw, dict) or not info.context:
            return raw
        fields = cls.model_fields.items()
        optional = {to_camel(name) for name, field in fields if not field.is_required()}
        unset = {name for name in optional & raw.keys() if raw[name] in UNSET}
        unset -= {name for name in cls.CLEARED if raw.get(name) == ""}
        return {name: value for name, value in raw.items() if name not in unset}


M = TypeVar("M", bound=InputModel)


def field_names(model: type[InputModel]) -> tuple[str, ...]:
    """Return the names of the fields as clients send them."""
    return tuple(map(to_camel, model.model_fields))


def parse_input(model: type[M], raw: object, *, drops_unset: bool = False) -> M:
    """Validate `raw` and return it as `model`.

    drops_unset  treat null, `""` and `[]` in an optional field as absent
    raises InvalidInput `unknown_field`, `invalid_text` or `validation_failed`, with the path
    """
    try:
        return model.model_validate(raw, context=drops_unset)
    except pydantic.ValidationError as problem:
        errors = problem.errors(include_url=False)
        raise refusal(errors, field_names(model)) from None

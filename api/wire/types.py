"""Base types of the objects that agents read, and times as agents send and read them.

mypy checks the types, the document shows them. Names and spelling are the contract's.
`api/openapi/fields.toml` describes the fields.
"""

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, with_config
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import TypedDict

from webapp.base.errors import ErrorCode, InvalidInput, sent, wrong_field

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Uri = Annotated[str, Field(json_schema_extra={"format": "uri"})]


@with_config(ConfigDict(extra="forbid"))
class Body(TypedDict):
    """An object without further fields."""


class CutPage(Body):
    """What may be too long for the result of a tool; `textsCut` where it was."""

    textsCut: NotRequired[bool]


class ItemPage(CutPage):
    """What holds a list that may go on, with the `cursor` of its next page."""

    nextCursor: NotRequired[str]


class Error(Body):
    """Every refusal and every failure, of every operation."""

    error: str
    code: str
    message: str
    resolution: str


class SchemaGenerator(GenerateJsonSchema):
    """Omits titles and defaults (nothing is filled in for callers); null is in the type array."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        return inner | {"type": [inner["type"], "null"]}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


_RFC_3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d):([0-5]\d|60)(?:\.(\d+))?(?:[Zz]|([+ -])(\d\d):([0-5]\d))",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (arithmetic on naive moments cannot overflow)
_SECOND = timedelta(seconds=1)
_FIRST_SECOND = (datetime.min - _EPOCH) // _SECOND  # noqa: DTZ901
_LAST_SECOND = (datetime.max - _EPOCH) // _SECOND  # noqa: DTZ901


def wire_time(millis: int) -> str:
    """Format milliseconds since the epoch as `2026-11-21T10:40:00.123Z`."""
    seconds, rest = divmod(millis, 1000)
    return f"{_second(seconds)}.{rest:03d}Z"


def wire_time_or_none(millis: int | None) -> str | None:
    """Format a time as `wire_time`; None for None."""
    return None if millis is None else wire_time(millis)


def parse_since(text: str | None, field: str = "since") -> int | None:
    """Return the whole milliseconds since the epoch of an RFC 3339 date-time; None for None.

    Accepts a space for `+`, because form decoding replaces it. An offset that leads out of the
    years 1 to 9999 gives the nearest moment inside. raises InvalidInput `invalid_since`, whose
    message begins with `field`
    """
    if text is None:
        return None
    found = _RFC_3339.fullmatch(text)
    if found is None:
        raise _invalid(text, field)
    day, minute, second, fraction, sign, hours, minutes = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{minute}:00")
    except ValueError:
        raise _invalid(text, field) from None
    if hours is not None and int(hours) > 23:
        raise _invalid(text, field)
    offset = (int(hours or 0) * 60 + int(minutes or 0)) * (-60 if sign == "-" else 60)
    seconds = (moment - _EPOCH) // _SECOND + int(second) - offset
    kept = min(max(seconds, _FIRST_SECOND), _LAST_SECOND)
    return kept * 1000 + int((fraction or "0")[:3].ljust(3, "0"))


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()


def _invalid(text: str, field: str) -> InvalidInput:
    problem = f"is {sent(text)}; an RFC 3339 date-time with an offset is needed"
    remedy = (
        "Send the nextSince of an earlier result unchanged, as 2026-11-21T10:40:00.123Z; "
        "leave since out as long as nextSince is null."
    )
    return wrong_field(field, problem, remedy, ErrorCode.INVALID_SINCE)

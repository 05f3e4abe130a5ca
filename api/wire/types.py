"""Base types of the objects that agents read, and times as agents read them.

mypy checks the types, the document shows them. Names and spelling are the contract's.
`api/openapi/fields.toml` describes the fields.
"""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, with_config
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import TypedDict

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


_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (arithmetic on naive moments cannot overflow)


def wire_time(millis: int) -> str:
    """Format milliseconds since the epoch as `2026-11-21T10:40:00.123Z`."""
    seconds, rest = divmod(millis, 1000)
    return f"{_second(seconds)}.{rest:03d}Z"


def wire_time_or_none(millis: int | None) -> str | None:
    """Format a time as `wire_time`; None for None."""
    return None if millis is None else wire_time(millis)


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()

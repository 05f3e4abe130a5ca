"""Values as both databases store them: times, closed sets of words, JSON.

Times are BIGINT milliseconds since the epoch, because clients re-parse dates to milliseconds.
"""

import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import orjson
from sqlalchemy import BigInteger, Dialect, Enum
from sqlalchemy.types import TypeDecorator


def to_millis(moment: datetime) -> int:
    """Milliseconds since the epoch of an aware datetime; finer parts are cut, not rounded."""
    if moment.tzinfo is None:
        raise ValueError("naive datetime")
    return (int(moment.timestamp()) * 1000) + moment.microsecond // 1000


def from_millis(millis: int) -> datetime:
    """Aware UTC datetime of milliseconds since the epoch."""
    seconds, rest = divmod(millis, 1000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest * 1000)


class UtcDateTime(TypeDecorator[datetime]):
    """Aware in, aware UTC out; stored as BIGINT milliseconds on both databases."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else to_millis(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else from_millis(value)


def enum_type(kind: type[StrEnum], name: str) -> Enum:
    """The column type of an enum: its value as text, with a CHECK constraint."""
    return Enum(
        kind,
        name=name,
        native_enum=False,
        create_constraint=True,
        length=32,
        values_callable=lambda members: [member.value for member in members],
    )


def to_json(value: Any) -> str:
    """Encode with orjson; with json what that refuses: lone surrogates, integers beyond 64 bits."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value)


def from_json(text: str | bytes) -> Any:
    """Decode with orjson; with json what that refuses."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)

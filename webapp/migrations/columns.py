"""Columns of migrations, as both databases store them."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

Column = sa.Column[Any]


def _of(kind: Any) -> Callable[..., Column]:
    def column(name: str, *, null: bool = False, default: Any = None, **more: Any) -> Column:
        return sa.Column(name, kind, nullable=null, server_default=default, **more)

    return column


text = _of(sa.Text())  # of any length
integer = _of(sa.Integer())  # 32 bits
big = _of(sa.BigInteger())  # 64 bits; moments are milliseconds since 1970
serial = _of(sa.BigInteger().with_variant(sa.Integer(), "sqlite"))  # counted by the database
boolean = _of(sa.Boolean())
json = _of(sa.JSON())
binary = _of(sa.LargeBinary())


def string(name: str, length: int, **more: Any) -> Column:
    """Text of at most so many characters."""
    return _of(sa.String(length))(name, **more)


def choice(name: str, *values: str, constraint: str = "", **more: Any) -> Column:
    """One of these words, which a constraint checks."""
    kind = sa.Enum(
        *values, name=constraint or name, native_enum=False, create_constraint=True, length=32
    )
    return _of(kind)(name, **more)

"""Columns of migrations, as both databases store them."""

from typing import Any

import sqlalchemy as sa


def _column(name: str, kind: Any, null: bool, default: Any, **more: Any) -> sa.Column[Any]:  # noqa: FBT001
    return sa.Column(name, kind, nullable=null, server_default=default, **more)


def string(name: str, length: int, *, null: bool = False, default: Any = None) -> sa.Column[Any]:
    """Text of at most so many characters."""
    return _column(name, sa.String(length), null, default)


def text(name: str, *, null: bool = False, default: Any = None) -> sa.Column[Any]:
    """Text of any length."""
    return _column(name, sa.Text(), null, default)


def integer(
    name: str, *, null: bool = False, default: Any = None, autoincrement: Any = "auto"
) -> sa.Column[Any]:
    """A number of 32 bits."""
    return _column(name, sa.Integer(), null, default, autoincrement=autoincrement)


def big(name: str, *, null: bool = False, default: Any = None) -> sa.Column[Any]:
    """A number of 64 bits; moments are milliseconds since 1970."""
    return _column(name, sa.BigInteger(), null, default)


def serial(name: str) -> sa.Column[Any]:
    """A number that the database counts."""
    return _column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), False, None)  # noqa: FBT003


def boolean(name: str, *, null: bool = False, default: Any = None) -> sa.Column[Any]:
    """True or false."""
    return _column(name, sa.Boolean(), null, default)


def json(name: str, *, null: bool = False, default: Any = None) -> sa.Column[Any]:
    """A JSON value."""
    return _column(name, sa.JSON(), null, default)


def binary(name: str) -> sa.Column[Any]:
    """Bytes."""
    return _column(name, sa.LargeBinary(), False, None)  # noqa: FBT003


def choice(
    name: str, *values: str, null: bool = False, default: Any = None, constraint: str = ""
) -> sa.Column[Any]:
    """One of these words, which a constraint checks."""
    kind = sa.Enum(
        *values, name=constraint or name, native_enum=False, create_constraint=True, length=32
    )
    return _column(name, kind, null, default)

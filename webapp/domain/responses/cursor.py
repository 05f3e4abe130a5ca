"""The cursor stamp: a moment that each answer and each completion of a form has for itself."""

from sqlalchemy import BigInteger, ColumnElement, bindparam, case

NOW = bindparam("now", type_=BigInteger)


def next_stamp(last_stamp: ColumnElement[int]) -> ColumnElement[int]:
    """`:now` in milliseconds, or the millisecond after the form's newest stamp if that is later.

    Taken by the UPDATE of the form's row, whose lock makes the order of stamps that of commits,
    also when a clock is set back.
    """
    return case((last_stamp < NOW, NOW), else_=last_stamp + 1)

"""Positions among the completed responses of a form, as subscribers keep them.

A position is the stamp of a completion. A cursor is one for the world outside: version, form and
position, signed, opaque to clients and the same for all subscribers of the form.
"""

import hashlib

from itsdangerous import BadData, URLSafeSerializer
from sqlalchemy import ColumnElement, bindparam, func, select

from webapp.database import read_rows
from webapp.domain.events.models import EventDelivery
from webapp.domain.forms.models import Form
from webapp.domain.shared.vocabulary import DeliveryState

CURSOR_MAX_CHARS = 256  # our choice: what clients have to keep
VERSION = 1


def write_cursor(key: bytes, form_id: str, position: int) -> str:
    """A cursor of URL-safe characters; `key` is the secret of the installation."""
    return str(_signer(key).dumps([VERSION, form_id, position]))


def read_cursor(key: bytes, form_id: str, cursor: str) -> int | None:
    """The position; None for an altered or unknown cursor, or one of another form."""
    if len(cursor) > CURSOR_MAX_CHARS or not cursor.isascii():
        return None
    try:
        version, form, position = _signer(key).loads(cursor)
    except (BadData, TypeError, ValueError):
        return None
    return int(position) if (version, form) == (VERSION, form_id) else None


def watermark(subscription_id: str, form_id: str) -> int:
    """The position up to which everything of a subscription is settled.

    One before its first unsettled event, else the newest completion of the form, 0 without one.
    """
    pending, sending, newest = read_rows(
        _UNSETTLED_AND_NEWEST, subscription=subscription_id, form=form_id
    )[0]
    unsettled = [position for position in (pending, sending) if position is not None]
    return min(unsettled) - 1 if unsettled else newest or 0


def _signer(key: bytes) -> URLSafeSerializer:
    return URLSafeSerializer(
        key, salt="cursor of a subscription", signer_kwargs={"digest_method": hashlib.sha256}
    )


def _first(state: DeliveryState) -> ColumnElement[int]:
    """Of one state, so that the index has it; envelopes have no position."""
    return (
        select(func.min(EventDelivery.position))
        .where(
            EventDelivery.subscription_id == bindparam("subscription"),
            EventDelivery.state == state,
            EventDelivery.position > 0,
        )
        .scalar_subquery()
    )


_UNSETTLED_AND_NEWEST = select(
    _first(DeliveryState.PENDING).label("pending"),
    _first(DeliveryState.SENDING).label("sending"),
    select(Form.completed_stamp).where(Form.id == bindparam("form")).scalar_subquery(),
)

"""Positions among the completed responses of a form, as subscribers keep them.

A position is the stamp of a completion. A cursor is one for the world outside: version, form and
position, signed, opaque to clients and the same for all subscribers of the form.
"""

import hashlib
from collections.abc import Iterator, Sequence

from itsdangerous import BadData, URLSafeSerializer
from sqlalchemy import BindParameter, Label, bindparam, func, select
from sqlalchemy.orm import InstrumentedAttribute

from webapp.database import read_rows
from webapp.domain.events.models import EventDelivery
from webapp.domain.events.outbox import DELIVERIES, UNSETTLED
from webapp.domain.forms.models import Form

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
    """The position up to which everything of a subscription is settled."""
    *lowest, newest = read_rows(_LOWEST_AND_NEWEST, subscription=subscription_id, form=form_id)[0]
    return settled_until(lowest, newest=newest or 0)


def lowest_unsettled(
    subscription_id: InstrumentedAttribute[str] | BindParameter[str],
    *,
    but: InstrumentedAttribute[int] | None = None,
) -> Iterator[Label[int | None]]:
    """Columns: the lowest position of the subscription in each unsettled state, by its index.

    but  a position that is left out, which one delivery of the subscription has
    Envelopes have no position.
    """
    for state in UNSETTLED:
        each = DELIVERIES.alias()
        lowest = select(func.min(each.c.position)).where(
            each.c.subscription_id == subscription_id, each.c.state == state, each.c.position > 0
        )
        if but is not None:
            lowest = lowest.where(each.c.position != but)
        yield lowest.correlate(EventDelivery).scalar_subquery().label(f"lowest_{state}")


def settled_until(lowest: Sequence[int | None], *, newest: int) -> int:
    """One before the first of the positions of `lowest_unsettled`; without any, the newest."""
    unsettled = [position for position in lowest if position is not None]
    return min(unsettled) - 1 if unsettled else newest


def _signer(key: bytes) -> URLSafeSerializer:
    return URLSafeSerializer(
        key, salt="cursor of a subscription", signer_kwargs={"digest_method": hashlib.sha256}
    )


_LOWEST_AND_NEWEST = select(
    *lowest_unsettled(bindparam("subscription")),
    select(Form.completed_stamp).where(Form.id == bindparam("form")).scalar_subquery(),
)

"""Cursors of events, what a subscriber has missed, and polling."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, cast

import sqlalchemy as sa
from itsdangerous import BadData, URLSafeSerializer
from sqlalchemy.orm import InstrumentedAttribute

from webapp.base.database import built_once, execute, insert_into, read_rows, to_millis
from webapp.base.vocabulary import DeliveryState
from webapp.events import outbox
from webapp.records.events import EventDelivery, EventSubscription
from webapp.records.forms import Form, get_form
from webapp.records.responses.models import ResponseSession

CURSOR_MAX_CHARS = 256  # what clients have to keep
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
    subscription_id: InstrumentedAttribute[str] | sa.BindParameter[str],
    *,
    but: InstrumentedAttribute[int] | None = None,
) -> Iterator[sa.Label[int | None]]:
    """Columns: the lowest position of the subscription in each unsettled state, by its index.

    but  a position that is left out, which one delivery of the subscription has
    Envelopes have no position.
    """
    for state in outbox.UNSETTLED:
        each = outbox.DELIVERIES.alias()
        lowest = sa.select(sa.func.min(each.c.position)).where(
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


_LOWEST_AND_NEWEST = sa.select(
    *lowest_unsettled(sa.bindparam("subscription")),
    sa.select(Form.completed_stamp).where(Form.id == sa.bindparam("form")).scalar_subquery(),
)


REPLAY_MAX_EVENTS = 500

_SESSIONS = cast(sa.Table, ResponseSession.__table__)
_SUBSCRIPTIONS = cast(sa.Table, EventSubscription.__table__)


def queue_missed(
    subscription_id: str,
    form_id: str,
    *,
    position: int,
    max_age_ms: int | None,
    now: datetime,
) -> bool:
    """Queue what was completed after a position, oldest first; what was settled waits again.

    At most the newest REPLAY_MAX_EVENTS, and none older than `max_age_ms`. True if anything
    was left out. The caller holds the row lock of the form, and commits.
    """
    oldest = 0 if max_age_ms is None else to_millis(now) - max_age_ms - 1
    after = max(position, oldest)
    left_out = execute(_LEFT_OUT, form=form_id, after=after).scalar_one_or_none()
    after = max(after, left_out or 0)
    execute(_queue(), subscription=subscription_id, form=form_id, after=after, now=to_millis(now))
    return any_between(form_id, position, after)


def any_between(form_id: str, since: int, until: int) -> bool:
    """Whether anything was completed after one position, and not after another."""
    return bool(execute(_ANY_BETWEEN, form=form_id, since=since, until=until).scalar_one())


_AFTER_EVENT = (
    _SESSIONS.c.form_id == sa.bindparam("form"),
    _SESSIONS.c.completed_stamp > sa.bindparam("after", type_=sa.BigInteger),
)
_LEFT_OUT = (
    sa.select(_SESSIONS.c.completed_stamp)
    .where(*_AFTER_EVENT)
    .order_by(_SESSIONS.c.completed_stamp.desc())
    .offset(REPLAY_MAX_EVENTS)
    .limit(1)
)
_ANY_BETWEEN = sa.select(
    sa.exists().where(
        _SESSIONS.c.form_id == sa.bindparam("form"),
        _SESSIONS.c.completed_stamp > sa.bindparam("since", type_=sa.BigInteger),
        _SESSIONS.c.completed_stamp <= sa.bindparam("until", type_=sa.BigInteger),
    )
)


def _build_queue() -> sa.Insert:
    missed = (
        sa.select(
            _SESSIONS.c.id,
            _SESSIONS.c.form_id,
            _SESSIONS.c.answer_count,
            _SESSIONS.c.completed_stamp,
            sa.func.row_number().over(order_by=_SESSIONS.c.completed_stamp.desc()).label("place"),
        )
        .where(*_AFTER_EVENT)
        .subquery("missed")
    )
    rows = outbox.delivery_rows(
        sa.func.substr(missed.c.id, 5),
        missed.c.answer_count,
        missed.c.completed_stamp,
        # all are due, the oldest for longest
        sa.bindparam("now", type_=sa.BigInteger) - missed.c.place,
    ).where(
        _SUBSCRIPTIONS.c.id == sa.bindparam("subscription"),
        _SUBSCRIPTIONS.c.form_id == missed.c.form_id,
    )
    added = insert_into(outbox.DELIVERIES).from_select(rows.selected_columns.keys(), rows)
    return added.on_conflict_do_update(
        index_elements=["subscription_id", "event_id"],
        set_={
            "state": DeliveryState.PENDING,
            "attempts": 0,
            "next_at": added.excluded.next_at,
            "lease_until": None,
            "settled_at": None,
        },
        where=outbox.DELIVERIES.c.state.not_in(outbox.UNSETTLED),
    )


_queue = built_once(_build_queue)


POLL_MAX_EVENTS = 100  # of a page


class Polled(NamedTuple):
    """The next events, oldest first.

    cursor     what to ask with next: it lies behind these events
    truncated  something after the cursor that was sent is left out
    """

    events: list[dict[str, object]]
    cursor: str
    truncated: bool
    has_more: bool


def poll(
    account_id: str,
    form_id: str,
    cursor: str | None,
    *,
    max_age_ms: int | None,
    most: int,
    cursor_key: bytes,
    now: datetime,
) -> Polled:
    """What was completed after the cursor, at most `most` or POLL_MAX_EVENTS.

    Without a cursor, or with one that is not of this form, it begins now. As a delivery, an event
    waits for its recordings to be written down, and those after it with it.
    raises  NotFound
    """
    head = get_form(account_id, form_id).completed_stamp or 0
    position = None if cursor is None else read_cursor(cursor_key, form_id, cursor)
    if position is None:
        fresh = write_cursor(cursor_key, form_id, head)
        return Polled([], fresh, truncated=cursor is not None, has_more=False)
    moment, limit = to_millis(now), min(most, POLL_MAX_EVENTS)
    after = max(position, 0 if max_age_ms is None else moment - max_age_ms - 1)
    found = read_rows(_AFTER, form=form_id, after=after, until=head, most=limit + 1)
    waits = (
        each.is_waiting and each.completed_stamp > moment - outbox.WORDS_MILLIS for each in found
    )
    stop = min(next((at for at, waiting in enumerate(waits) if waiting), len(found)), limit)
    kept = found[:stop]
    reached = kept[-1].completed_stamp if kept else position
    if len(found) == len(kept):
        reached = max(position, head)
    return Polled(
        [
            outbox.event(outbox.event_id_of(key), form_id, stamp, answers)
            for key, stamp, answers, _ in kept
        ],
        write_cursor(cursor_key, form_id, reached),
        truncated=after > position and any_between(form_id, position, after),
        has_more=len(found) > limit == stop,
    )


_AFTER = (
    sa.select(
        _SESSIONS.c.id,
        _SESSIONS.c.completed_stamp,
        _SESSIONS.c.answer_count,
        outbox.is_transcribing(_SESSIONS.c.id).label("is_waiting"),
    )
    .where(
        _SESSIONS.c.form_id == sa.bindparam("form"),
        _SESSIONS.c.completed_stamp > sa.bindparam("after", type_=sa.BigInteger),
        _SESSIONS.c.completed_stamp <= sa.bindparam("until", type_=sa.BigInteger),
    )
    .order_by(_SESSIONS.c.completed_stamp)
    .limit(sa.bindparam("most", type_=sa.Integer))
)

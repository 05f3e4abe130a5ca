"""Bounds of queues and of waits, and the purge of settled rows."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import and_, bindparam, case, exists, func, literal, or_, select, update

from webapp.database import UtcDateTime, execute, read_rows, tried_again, write_transaction
from webapp.domain.events.deliveries.retries import LONGEST_REST, LONGEST_RETRY
from webapp.domain.events.models import (
    CallbackEndpoint,
    DeliveryAttempt,
    EventDelivery,
    EventSubscription,
)
from webapp.domain.events.outbox import WORDS_MILLIS
from webapp.domain.shared.ownership import Owned, delete_in_batches, table_of
from webapp.domain.shared.vocabulary import DeliveryState

MAX_PENDING = 10_000  # deliveries of one subscription
KEPT_DAYS = 30  # after it was settled
FIRST_WAIT = timedelta(milliseconds=2 * WORDS_MILLIS)  # the clocks of machines differ

_D, _S, _E = EventDelivery, EventSubscription, CallbackEndpoint


def abandon_overflow(*, now: datetime, most: int = MAX_PENDING) -> int:
    """Abandon the oldest events of subscriptions with more than `most` pending; commits.

    Their next refresh says that something is missing. Returns how many were abandoned.
    """
    overfull = read_rows(_OVERFULL, most=most)
    return sum(_abandon_oldest(row.subscription_id, most, now) for row in overfull)


@tried_again
def _abandon_oldest(subscription_id: str, kept: int, now: datetime) -> int:
    """All but the newest; other processes may do the same."""
    oldest = (
        select(_D.id)
        .where(_D.subscription_id == subscription_id, _D.state == DeliveryState.PENDING)
        .order_by(_D.position.desc())
        .offset(kept)
    )
    with write_transaction():
        execute(update(_S).where(_S.id == subscription_id).values(dropped=True))
        given_up = update(_D).where(_D.id.in_(oldest), _D.state == DeliveryState.PENDING)
        return execute(given_up.values(state=DeliveryState.ABANDONED, settled_at=now)).rowcount


@tried_again
def bound_waits(*, now: datetime) -> None:
    """Shorten waits that exceed the longest delay, because a clock was ahead; commits."""
    latest = {"first": now + FIRST_WAIT, "later": now + LONGEST_RETRY, "rest": now + LONGEST_REST}
    if read_rows(_WAIT_TOO_LONG, **latest):
        with write_transaction():
            execute(_BOUND_RETRIES, **latest)
            execute(_BOUND_RESTS, **latest)


def purge_settled(now: datetime) -> Iterator[int]:
    """Delete what was settled KEPT_DAYS ago with its attempts; yields how many rows went."""
    latest = now - timedelta(days=KEPT_DAYS)
    deliveries, attempts = (
        table_of(Owned(model.__tablename__, "id")) for model in (_D, DeliveryAttempt)
    )
    old = deliveries.c.settled_at <= latest
    yield from delete_in_batches(
        attempts, attempts.c.delivery_id.in_(select(deliveries.c.id).where(old))
    )
    yield from delete_in_batches(deliveries, old)


_OVERFULL = (
    select(_D.subscription_id)
    .where(_D.state == DeliveryState.PENDING)
    .group_by(_D.subscription_id)
    .having(func.count() > bindparam("most"))
)
_FIRST, _LATER, _REST = (
    bindparam(name, type_=UtcDateTime()) for name in ("first", "later", "rest")
)
_LATEST = case((_D.attempts == 0, _FIRST), else_=_LATER)
_RETRY_TOO_LATE = and_(_D.state == DeliveryState.PENDING, _D.next_at > _LATEST)
_REST_TOO_LONG = _E.paused_until > _REST
_WAIT_TOO_LONG = select(literal(1)).where(
    or_(exists().where(_RETRY_TOO_LATE), exists().where(_REST_TOO_LONG))
)
_BOUND_RETRIES = update(_D).where(_RETRY_TOO_LATE).values(next_at=_LATEST)
_BOUND_RESTS = update(_E).where(_REST_TOO_LONG).values(paused_until=_REST)

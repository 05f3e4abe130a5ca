"""What ends without an attempt: queues that grew too long, and rows settled long ago."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, select, update

from webapp.database import execute, read_rows, tried_again, write_transaction
from webapp.domain.events.models import DeliveryAttempt, EventDelivery, EventSubscription
from webapp.domain.shared.ownership import Owned, delete_in_batches, table_of
from webapp.domain.shared.vocabulary import DeliveryState

MAX_PENDING = 10_000  # deliveries of one subscription
KEPT_DAYS = 30  # after it was settled

_D, _S = EventDelivery, EventSubscription


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

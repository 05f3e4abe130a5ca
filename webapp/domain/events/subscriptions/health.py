"""How a live subscription fares, as its subscriber is told when it refreshes it."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from webapp.database import UtcDateTime, from_millis, read_rows
from webapp.domain.events.models import DeliveryAttempt, EventDelivery
from webapp.domain.events.subscriptions.writes import StoredSubscription
from webapp.domain.shared.vocabulary import DeliveryFailure


class DeliveryStatus(NamedTuple):
    """`active` unless it is suspended.

    failed_since  when the first attempt after the last delivery failed; None if none did
    rests_for     how long nothing is sent to its address, which failed or asked for it
    """

    active: bool
    last_delivery_at: datetime | None
    last_failure: DeliveryFailure | None
    failed_since: datetime | None
    rests_for: timedelta | None


def read_status(key: str, before: StoredSubscription, *, now: datetime) -> DeliveryStatus:
    """Of the subscription as it was before, in any transaction or none."""
    rests_for = before.paused_until - now if before.paused_until else timedelta()
    return DeliveryStatus(
        active=before.suspended_at is None,
        last_delivery_at=before.last_delivery_at,
        last_failure=before.last_failure,
        failed_since=_failed_since(key, before) if before.last_failure else None,
        rests_for=rests_for if rests_for > timedelta() else None,
    )


def _failed_since(key: str, before: StoredSubscription) -> datetime | None:
    since = before.last_delivery_at or from_millis(0)
    found: datetime | None = read_rows(_FIRST_FAILED, subscription=key, since=since)[0][0]
    return found


_FIRST_FAILED = (
    select(func.min(DeliveryAttempt.started_at))
    .join(EventDelivery, EventDelivery.id == DeliveryAttempt.delivery_id)
    .where(
        EventDelivery.subscription_id == bindparam("subscription"),
        EventDelivery.body.is_not(None),  # thousands may wait that were never attempted
        DeliveryAttempt.failure.is_not(None),
        DeliveryAttempt.started_at > bindparam("since", type_=UtcDateTime),
    )
)

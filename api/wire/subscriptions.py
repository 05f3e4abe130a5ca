"""Subscriptions of a form, as agents read them."""

from collections.abc import Iterable
from typing import Any

from api.wire.timestamps import wire_time
from api.wire.types import Body, Moment
from webapp.base.database import to_millis
from webapp.events.subscriptions import Granted


class Subscription(Body):
    """What was granted. The same call again, in time, renews it."""

    subscriptionId: str
    refreshBefore: Moment
    cursor: str
    truncated: bool


def granted_subscription(granted: Granted) -> Subscription:
    """Return a subscription as it was granted."""
    return {
        "subscriptionId": granted.subscription_id,
        "refreshBefore": wire_time(to_millis(granted.refresh_before)),
        "cursor": granted.cursor,
        "truncated": granted.truncated,
    }


class SubscriptionSummary(Body):
    """A live subscription. Neither its secret nor its whole address is shown."""

    subscriptionId: str
    host: str
    active: bool
    lastDeliveryAt: Moment | None
    lastError: str | None
    refreshBefore: Moment


def _subscription(row: Any) -> SubscriptionSummary:
    sent_at = row.last_delivery_at
    return {
        "subscriptionId": row.id,
        "host": row.host,
        "active": row.active,
        "lastDeliveryAt": wire_time(to_millis(sent_at)) if sent_at else None,
        "lastError": row.last_failure,
        "refreshBefore": wire_time(to_millis(row.expires_at)),
    }


class SubscriptionList(Body):
    """The live subscriptions of a form, by any connection of the account."""

    subscriptions: list[SubscriptionSummary]


def subscription_list(rows: Iterable[Any]) -> SubscriptionList:
    """Return the live subscriptions of a form."""
    return {"subscriptions": [_subscription(row) for row in rows]}

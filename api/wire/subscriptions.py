"""Subscriptions of a form, as agents read them."""

from collections.abc import Iterable
from typing import Annotated

from api.wire.timestamps import wire_time
from api.wire.types import Body, moment, said
from webapp.base.database import to_millis
from webapp.events.subscribing import Granted, SubscriptionRow


class Subscription(Body):
    """What was granted. The same call again, in time, renews it."""

    subscriptionId: Annotated[
        str, said("The same for the same form and address. Every POST to the address names it.")
    ]
    refreshBefore: Annotated[str, moment("When it ends, unless it is renewed before.")]
    cursor: Annotated[
        str,
        said("Everything up to here is sent or given up. Opaque; keep the newest for a new start."),
    ]
    truncated: Annotated[
        bool,
        said(
            "True when not everything after the cursor, or since the last renewal, will be sent: "
            "read the responses with `since`."
        ),
    ]


def granted_subscription(granted: Granted) -> Subscription:
    """A subscription as it was granted."""
    return {
        "subscriptionId": granted.subscription_id,
        "refreshBefore": wire_time(to_millis(granted.refresh_before)),
        "cursor": granted.cursor,
        "truncated": granted.truncated,
    }


class SubscriptionSummary(Body):
    """A live subscription. Neither its secret nor its whole address is shown."""

    subscriptionId: Annotated[str, said("As subscribing answered it.")]
    host: Annotated[str, said("Host name and port of its address.")]
    active: Annotated[
        bool,
        said(
            "False while nothing is sent, because the address answered 410 again and again or "
            "failed for long; renewing it resumes."
        ),
    ]
    lastDeliveryAt: Annotated[
        str | None, moment("When it last took an event; null when it has taken none.")
    ]
    lastError: Annotated[
        str | None,
        said(
            "Why the last attempt failed: `connection_refused`, `timeout`, `tls_error`, "
            "`http_4xx`, `http_5xx` or `challenge_failed`; null when it did not. Expect further "
            "words."
        ),
    ]
    refreshBefore: Annotated[str, moment("When it ends, unless it is renewed before.")]


def _subscription(row: SubscriptionRow) -> SubscriptionSummary:
    sent_at = row.last_delivery_at
    return {
        "subscriptionId": row.id,
        "host": row.host,
        "active": row.active,
        "lastDeliveryAt": wire_time(to_millis(sent_at)) if sent_at else None,
        "lastError": row.last_failure,
        "refreshBefore": wire_time(to_millis(row.refresh_before)),
    }


class SubscriptionList(Body):
    """The live subscriptions of a form, by any connection of the account."""

    subscriptions: Annotated[list[SubscriptionSummary], said("Oldest first.")]


def subscription_list(rows: Iterable[SubscriptionRow]) -> SubscriptionList:
    """The live subscriptions of a form."""
    return {"subscriptions": [_subscription(row) for row in rows]}

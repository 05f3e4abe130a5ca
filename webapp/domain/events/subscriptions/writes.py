"""The rows that a subscription consists of: its address, its secrets, itself. All upserts."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple, cast

from sqlalchemy import Table, bindparam, select

from webapp.database import Base, execute, insert_into
from webapp.domain.events.callbacks.sealing import NoKey, Sealer
from webapp.domain.events.models import CallbackEndpoint, EventSubscription
from webapp.domain.shared.vocabulary import DeliveryFailure

ROTATED_FOR = timedelta(hours=24)  # our choice: how long the previous secret signs, too


class StoredSubscription(NamedTuple):
    """A subscription as it was before, its row locked; `paused_until` is that of its endpoint."""

    secret: str | None
    previous_secret: str | None
    previous_until: datetime | None
    expires_at: datetime
    ended_at: datetime | None
    dropped: bool
    suspended_at: datetime | None
    last_delivery_at: datetime | None
    last_failure: DeliveryFailure | None
    paused_until: datetime | None


class Secrets(NamedTuple):
    """The columns of the secrets, sealed."""

    secret: str
    previous_secret: str | None
    previous_until: datetime | None


_OF_SUBSCRIPTION = StoredSubscription._fields[:-1]
_LOCK = (
    select(
        *(getattr(EventSubscription, name) for name in _OF_SUBSCRIPTION),
        CallbackEndpoint.paused_until,
    )
    .join(CallbackEndpoint, CallbackEndpoint.id == EventSubscription.endpoint_id)
    .where(EventSubscription.id == bindparam("id"))
    .with_for_update(of=EventSubscription)
)


def secret_place(subscription_id: str) -> str:
    """The place that both secrets of a subscription are sealed for."""
    return f"event_subscriptions/{subscription_id}/secret"


def lock_subscription(subscription_id: str) -> StoredSubscription | None:
    """The subscription in any state, its row locked."""
    found = execute(_LOCK, id=subscription_id).one_or_none()
    return None if found is None else StoredSubscription._make(found)


def sealed_secrets(
    subscription_id: str,
    secret: str,
    before: StoredSubscription | None,
    sealer: Sealer,
    *,
    now: datetime,
) -> Secrets:
    """The secret, with the one before it for ROTATED_FOR if it has changed; of those just one.

    before  the live subscription that is refreshed
    """
    place = secret_place(subscription_id)
    sealed = sealer.seal(secret, place=place)
    if before is None or before.secret is None:
        return Secrets(sealed, None, None)
    try:
        changed = sealer.unseal(before.secret, place=place) != secret
    except NoKey:
        return Secrets(sealed, None, None)
    if changed:
        return Secrets(sealed, before.secret, now + ROTATED_FOR)
    return Secrets(sealed, before.previous_secret, before.previous_until)


def store_endpoint(
    endpoint_id: str, account_id: str, host: str, *, verified: bool, now: datetime
) -> None:
    """An address that has just answered a challenge needs no pause any more."""
    values = {
        "id": endpoint_id,
        "account_id": account_id,
        "host": host,
        "seen_at": now,
        "verified_at": now if verified else None,
        "failures": 0,
        "paused_until": None,
    }
    kept = {"id", "account_id", "host"}
    _upsert(CallbackEndpoint, values, values.keys() - kept if verified else {"seen_at"})


def store_subscription(values: dict[str, object], *, now: datetime) -> None:
    """A subscription that is alive and not suspended, whatever it was before.

    What the values leave out stays as it was.
    """
    values = values | {
        "created_at": now,
        "refreshed_at": now,
        "suspended_at": None,
        "gone_count": 0,
        "dropped": False,
        "ended_at": None,
        "end_reason": None,
    }
    kept = {"id", "account_id", "form_id", "created_at"}
    _upsert(EventSubscription, values, values.keys() - kept)


def _upsert(model: type[Base], values: dict[str, object], changed: Iterable[str]) -> None:
    adding = insert_into(cast(Table, model.__table__))
    set_ = {name: adding.excluded[name] for name in sorted(changed)}
    execute(adding.on_conflict_do_update(index_elements=["id"], set_=set_), **values)

"""The rows of subscriptions: identity, secrets, health, new keys."""

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from operator import add
from typing import NamedTuple, cast

import orjson
from sqlalchemy import Table, bindparam, func, not_, or_, select, update

from webapp.base import database
from webapp.base.sealing import NoKey, Sealer
from webapp.base.vocabulary import DeliveryFailure, ErrorProfile
from webapp.records.events import (
    EVENT_NAME,
    CallbackEndpoint,
    DeliveryAttempt,
    EventDelivery,
    EventSubscription,
    columns_of,
)


class Asked(NamedTuple):
    """A subscription as asked for, its values checked by the caller.

    url     verbatim: receivers tell their subscriptions apart by its query
    host    of the url, with its port
    cursor  a new or lapsed subscription replays what came after it
    error_profile  None where the client gets no numbers: what was known before stays
    """

    account_id: str
    form_id: str
    grant_id: str
    url: str
    host: str
    secret: str
    ttl_seconds: int | None = None
    cursor: str | None = None
    max_age_ms: int | None = None
    error_profile: ErrorProfile | None = None


def subscription_id(account_id: str, form_id: str, url: str) -> str:
    """`sub_` and 32 digits, the same for the same account, address, event and arguments."""
    return f"sub_{_digest(account_id, url, EVENT_NAME, {'formId': form_id})[:32]}"


def endpoint_id(account_id: str, url: str) -> str:
    """Of an address as an account uses it."""
    return _digest(account_id, url)


def _digest(*parts: object) -> str:
    """SHA-256 of the canonical JSON of the parts: sorted keys, no spaces, UTF-8."""
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


ROTATED_FOR = timedelta(hours=24)  # how long the previous secret signs, too


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


_LOCK = (
    select(*columns_of(StoredSubscription, EventSubscription, CallbackEndpoint))
    .join(CallbackEndpoint, CallbackEndpoint.id == EventSubscription.endpoint_id)
    .where(EventSubscription.id == bindparam("id"))
    .with_for_update(of=EventSubscription)
)


def secret_place(subscription_id: str) -> str:
    """The place that both secrets of a subscription are sealed for."""
    return f"event_subscriptions/{subscription_id}/secret"


def lock_subscription(subscription_id: str) -> StoredSubscription | None:
    """The subscription in any state, its row locked."""
    found = database.execute(_LOCK, id=subscription_id).one_or_none()
    return None if found is None else StoredSubscription._make(found)


def sealed_secrets(
    subscription_id: str,
    secret: str,
    before: StoredSubscription | None,
    sealer: Sealer,
    *,
    now: datetime,
) -> dict[str, object]:
    """The columns of the secret, and of the one before it, which signs for ROTATED_FOR, too.

    before  the live subscription that is refreshed
    """
    place = secret_place(subscription_id)
    previous: tuple[str | None, datetime | None] = None, None
    with suppress(NoKey):
        if before is not None and before.secret is not None:
            if sealer.unseal(before.secret, place=place) != secret:
                previous = before.secret, now + ROTATED_FOR
            else:
                previous = before.previous_secret, before.previous_until
    sealed = sealer.seal(secret, place=place)
    return {"secret": sealed, "previous_secret": previous[0], "previous_until": previous[1]}


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


def _upsert(model: type[database.Base], values: dict[str, object], changed: Iterable[str]) -> None:
    adding = database.insert_into(cast(Table, model.__table__))
    set_ = {name: adding.excluded[name] for name in sorted(changed)}
    database.execute(adding.on_conflict_do_update(index_elements=["id"], set_=set_), **values)


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
    since = before.last_delivery_at or database.from_millis(0)
    found: datetime | None = database.read_rows(_FIRST_FAILED, subscription=key, since=since)[0][0]
    return found


_FIRST_FAILED = (
    select(func.min(DeliveryAttempt.started_at))
    .join(EventDelivery, EventDelivery.id == DeliveryAttempt.delivery_id)
    .where(
        EventDelivery.subscription_id == bindparam("subscription"),
        EventDelivery.body.is_not(None),  # thousands may wait that were never attempted
        DeliveryAttempt.failure.is_not(None),
        DeliveryAttempt.started_at > bindparam("since", type_=database.UtcDateTime),
    )
)


BATCH_ROWS = 200  # in one transaction, of milliseconds: servers run meanwhile
SECRETS = (EventSubscription.secret, EventSubscription.previous_secret)


class Rekeyed(NamedTuple):
    """How many secrets were read, sealed anew by the first key, and opened by no key."""

    read: int = 0
    sealed: int = 0
    unopened: int = 0


def rekey(sealer: Sealer) -> Rekeyed:
    """Seal by the first key what others sealed, in short transactions; again changes nothing."""
    total, last = Rekeyed(), ""
    while batch := _rekey_batch(last, sealer):
        done, last = batch
        total = Rekeyed(*map(add, total, done))
    return total


def count_sealed_otherwise(key_ids: Sequence[str]) -> int:
    """How many secrets were sealed by none of these keys."""
    total = 0
    for column in SECRETS:
        known = or_(*(column.startswith(f"{key_id}:", autoescape=True) for key_id in key_ids))
        other = select(func.count(EventSubscription.id)).where(column.is_not(None), not_(known))
        total += int(database.execute(other).scalar_one())
    return total


@database.tried_again
def _rekey_batch(last: str, sealer: Sealer) -> tuple[Rekeyed, str] | None:
    """The next rows after an id, locked meanwhile, with the last id of them; None at the end."""
    read = sealed = unopened = 0
    with database.write_transaction():
        rows = database.execute(_BATCH, last=last).all()
        for key, *secrets in rows:
            place, changed = secret_place(key), {}
            for column, secret in zip(SECRETS, secrets, strict=True):
                if secret is None:
                    continue
                read += 1
                try:
                    plain = sealer.unseal(secret, place=place)
                except NoKey:
                    unopened += 1
                    continue
                if not sealer.is_current(secret):
                    changed[column.key] = sealer.seal(plain, place=place)
            if changed:
                sealed += len(changed)
                mine = update(EventSubscription).where(EventSubscription.id == key)
                database.execute(mine.values(changed))
    return (Rekeyed(read, sealed, unopened), rows[-1].id) if rows else None


_BATCH = (
    select(EventSubscription.id, *SECRETS)
    .where(
        EventSubscription.id > bindparam("last"), or_(*(column.is_not(None) for column in SECRETS))
    )
    .order_by(EventSubscription.id)
    .limit(BATCH_ROWS)
    .with_for_update()
)

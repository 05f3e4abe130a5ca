"""Subscriptions of agents to the completed responses of a form.

Whatever changes whether a subscription is alive holds the row lock of its form, as a completion
does: each completion finds it alive, or lies before the position at which it begins. Rows are
locked in one order: account, connection, form, endpoint, subscription, deliveries.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import String, bindparam, column, exists, func, select, table

from webapp.database import UtcDateTime, execute, read_rows, to_millis, write_transaction
from webapp.domain.accounts.models import Account
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event
from webapp.domain.events.callbacks.sealing import Sealer
from webapp.domain.events.cursors import read_cursor, watermark, write_cursor
from webapp.domain.events.models import CallbackEndpoint, EventDelivery, EventSubscription
from webapp.domain.events.outbox import alive, cancel_deliveries, unsettled
from webapp.domain.events.subscriptions.health import DeliveryStatus, read_status
from webapp.domain.events.subscriptions.identity import endpoint_id, subscription_id
from webapp.domain.events.subscriptions.replay import queue_missed
from webapp.domain.events.subscriptions.writes import (
    StoredSubscription,
    lock_subscription,
    sealed_secrets,
    store_endpoint,
    store_subscription,
)
from webapp.domain.forms.models import get_form, lock_form
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import StateConflict
from webapp.domain.shared.vocabulary import (
    DeliveryFailure,
    DeliveryKind,
    ErrorProfile,
)

SUBSCRIPTIONS_MAX = 100  # our choice: live ones of an account
VERIFIED_FOR = timedelta(hours=24)  # our choice: how long an address needs no further challenge


class Asked(NamedTuple):
    """A subscription as asked for, its values checked by the caller.

    url     verbatim: receivers tell their subscriptions apart by its query
    host    of the url, with its port
    cursor  a new or lapsed subscription replays what came after it
    error_profile  None where the client is told no numbers: what was known before stays
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


class TtlBounds(NamedTuple):
    """How long a subscription may last, in seconds."""

    minimum: int
    default: int
    maximum: int


class Granted(NamedTuple):
    """A subscription as granted.

    truncated  not everything after the cursor, or since the last refresh, will be sent
    refreshed  how it fared until this refresh, which resumes it; None for a new one. A challenge
               that its address answered for this refresh has ended its rest
    """

    subscription_id: str
    refresh_before: datetime
    cursor: str
    truncated: bool
    refreshed: DeliveryStatus | None


class SubscriptionRow(NamedTuple):
    """A live subscription as its subscriber reads it; `active` unless it is suspended."""

    id: str
    host: str
    active: bool
    last_delivery_at: datetime | None
    last_failure: DeliveryFailure | None
    refresh_before: datetime


def needs_challenge(asked: Asked, *, now: datetime) -> bool:
    """False if the address was verified for this account within VERIFIED_FOR.

    raises  NotFound `form_not_found`; StateConflict `too_many_subscriptions`
    """
    get_form(asked.account_id, asked.form_id)
    key = subscription_id(asked.account_id, asked.form_id, asked.url)
    _require_room(asked.account_id, key, now)
    endpoint = endpoint_id(asked.account_id, asked.url)
    return not read_rows(_IS_VERIFIED, id=endpoint, since=now - VERIFIED_FOR)[0][0]


def subscribe(  # noqa: PLR0913 - what the application holds, besides the request
    asked: Asked,
    *,
    verified: bool,
    sealer: Sealer,
    cursor_key: bytes,
    bounds: TtlBounds,
    grant_ends: datetime,
    now: datetime,
    by: Actor = SYSTEM,
) -> Granted:
    """Store a subscription or refresh it, in one transaction.

    verified    the address has just answered a challenge
    cursor_key  signs cursors
    grant_ends  when the connection that subscribes ends
    raises      NotFound `form_not_found`; StateConflict `too_many_subscriptions`, or
                `authentication_required` if the connection has just ended; NoKey if nothing can be
                sealed
    """
    key = subscription_id(asked.account_id, asked.form_id, asked.url)
    with write_transaction():
        execute(_LOCK_ACCOUNT, account=asked.account_id)
        _require_connection(asked.grant_id)
        head = lock_form(asked.account_id, asked.form_id)
        _require_room(asked.account_id, key, now)
        before = lock_subscription(key)
        lives = before is not None and _is_alive(before, max(to_millis(now), head))
        expires_at = _expiry(asked.ttl_seconds, bounds, grant_ends, now)
        _store(
            key, asked, before if lives else None, sealer, expires_at, verified=verified, now=now
        )
        if not lives:
            kind = AuditKind.SUBSCRIBED
            add_event(kind, asked.account_id, by=by, now=now, subject=asked.form_id)
        cancel_deliveries(unsettled([key]) & _IS_LAST_WORD, now=now)
        truncated = before is not None and before.dropped
        truncated |= _replay(key, asked, cursor_key, lives=lives, now=now)
        cursor = write_cursor(cursor_key, asked.form_id, watermark(key, asked.form_id))
    if before is None or not lives:
        return Granted(key, expires_at, cursor, truncated, None)
    if verified:
        before = before._replace(paused_until=None)
    return Granted(key, expires_at, cursor, truncated, read_status(key, before, now=now))


def list_subscriptions(account_id: str, form_id: str, *, now: datetime) -> list[SubscriptionRow]:
    """The live ones of a form, oldest first. raises NotFound"""
    get_form(account_id, form_id)
    return [SubscriptionRow._make(row) for row in read_rows(_LIST, form=form_id, now=now)]


def _require_connection(grant_id: str) -> None:
    """Hold the connection, so that its end waits and finds the subscription."""
    grant = execute(_HOLD_GRANT, grant=grant_id).one_or_none()
    if grant is None or grant.revoked_at is not None:
        raise StateConflict(
            ErrorCode.AUTHENTICATION_REQUIRED,
            "The connection of this access token has ended.",
            "Ask the creator for consent again.",
        )


def _is_alive(before: StoredSubscription, moment: int) -> bool:
    """Whether completions up to this moment, in milliseconds, have found it."""
    return before.ended_at is None and to_millis(before.expires_at) > moment


def _require_room(account_id: str, key: str, now: datetime) -> None:
    """Room for one more live subscription of the account besides this one."""
    ((others,),) = read_rows(_COUNT_OTHERS, account=account_id, id=key, now=now)
    if others >= SUBSCRIPTIONS_MAX:
        raise StateConflict(
            ErrorCode.TOO_MANY_SUBSCRIPTIONS,
            f"The account has {SUBSCRIPTIONS_MAX} live subscriptions, which is the limit.",
            "Wait until one expires, or unsubscribe where no event is needed any more.",
        )


def _expiry(
    ttl_seconds: int | None, bounds: TtlBounds, grant_ends: datetime, now: datetime
) -> datetime:
    asked = bounds.default if ttl_seconds is None else ttl_seconds
    seconds = min(max(asked, bounds.minimum), bounds.maximum)
    return min(now + timedelta(seconds=seconds), grant_ends)


def _store(  # noqa: PLR0913 - decided by the caller under its locks
    key: str,
    asked: Asked,
    before: StoredSubscription | None,
    sealer: Sealer,
    expires_at: datetime,
    *,
    verified: bool,
    now: datetime,
) -> None:
    """The subscription with its address; `before` is the live one that is refreshed."""
    endpoint = endpoint_id(asked.account_id, asked.url)
    store_endpoint(endpoint, asked.account_id, asked.host, verified=verified, now=now)
    secrets = sealed_secrets(key, asked.secret, before, sealer, now=now)
    values: dict[str, object] = {
        "id": key,
        "account_id": asked.account_id,
        "form_id": asked.form_id,
        "grant_id": asked.grant_id,
        "endpoint_id": endpoint,
        "url": asked.url,
        "host": asked.host,
        "expires_at": expires_at,
    }
    if asked.error_profile is not None:
        values["error_profile"] = asked.error_profile
    store_subscription(values | secrets._asdict(), now=now)


def _replay(key: str, asked: Asked, cursor_key: bytes, *, lives: bool, now: datetime) -> bool:
    """Queue what came after the cursor, unless all of that was queued; True if not all of it is."""
    if asked.cursor is None:
        return False
    position = read_cursor(cursor_key, asked.form_id, asked.cursor)
    if position is None:
        return True
    max_age = asked.max_age_ms
    return not lives and queue_missed(
        key, asked.form_id, position=position, max_age_ms=max_age, now=now
    )


# the model of connections belongs to a layer above
_GRANTS = table("oauth_grants", column("id", String), column("revoked_at", UtcDateTime))
_HOLD_GRANT = (
    select(_GRANTS.c.revoked_at)
    .where(_GRANTS.c.id == bindparam("grant"))
    .with_for_update(read=True)
)
_LOCK_ACCOUNT = (
    select(Account.id).where(Account.id == bindparam("account")).with_for_update(key_share=True)
)
_ALIVE = alive(bindparam("now", type_=UtcDateTime))
_IS_LAST_WORD = EventDelivery.kind == DeliveryKind.TERMINATED
_COUNT_OTHERS = select(func.count(EventSubscription.id)).where(
    EventSubscription.account_id == bindparam("account"),
    EventSubscription.id != bindparam("id"),
    _ALIVE,
)
_IS_VERIFIED = select(
    exists().where(
        CallbackEndpoint.id == bindparam("id"), CallbackEndpoint.verified_at > bindparam("since")
    )
)
_LIST = (
    select(
        EventSubscription.id,
        EventSubscription.host,
        EventSubscription.suspended_at.is_(None).label("active"),
        EventSubscription.last_delivery_at,
        EventSubscription.last_failure,
        EventSubscription.expires_at,
    )
    .where(EventSubscription.form_id == bindparam("form"), _ALIVE)
    .order_by(EventSubscription.created_at, EventSubscription.id)
)

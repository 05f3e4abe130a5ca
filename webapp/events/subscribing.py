"""Subscribing: the input, the limits of an account, and the row that is made or refreshed."""

from datetime import datetime, timedelta
from typing import Annotated, NamedTuple

from pydantic import Field, StrictStr
from sqlalchemy import bindparam, func, select

from webapp.base.database import UtcDateTime, read_rows, to_millis, write_transaction
from webapp.base.errors import ErrorCode, InputModel, InvalidInput, StateConflict
from webapp.base.outbound import URL_MAX_CHARS, Unreachable
from webapp.base.sealing import Sealer
from webapp.base.vocabulary import DeliveryFailure, DeliveryKind
from webapp.events.callbacks import (
    check_callback_url,
    lock_account,
    require_confirmed,
    require_connection,
    secret_key,
)
from webapp.events.outbox import alive, cancel_deliveries, unsettled
from webapp.events.polling import queue_missed, read_cursor, watermark, write_cursor
from webapp.events.subscription_rows import (
    Asked,
    DeliveryStatus,
    StoredSubscription,
    endpoint_id,
    lock_subscription,
    read_status,
    sealed_secrets,
    store_endpoint,
    store_subscription,
    subscription_id,
)
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.content.draft_input import STORABLE, whole_number
from webapp.records.events import EventDelivery, EventSubscription, columns_of
from webapp.records.forms import get_form, lock_form

SECONDS_MAX = 10**9  # some thirty years, which any clock can add
NAMED = (
    "Send the https address of a host name, on port 443 or 8443, without user name and fragment, "
    f"in at most {URL_MAX_CHARS} printable ASCII characters. Other origins have to be allowed by "
    "the operator of this server."
)
RANDOM = "Send whsec_ and 24 to 64 random bytes in base64, as Standard Webhooks has it."


class SubscriptionInput(InputModel):
    """A callback for the events of one form."""

    url: Annotated[
        StrictStr,
        Field(
            max_length=URL_MAX_CHARS,
            description=(
                "The https address that takes the events; it stays as it is sent and tells "
                "subscriptions of a form apart. Sends back a challenge, or is confirmed by "
                "the creator."
            ),
        ),
        STORABLE,
    ]
    secret: Annotated[
        StrictStr,
        Field(
            description=(
                "`whsec_` and 24 to 64 random bytes in base64 (Standard Webhooks), with which "
                "everything is signed. A new one replaces it; for 24 hours both sign."
            ),
        ),
        STORABLE,
    ]
    ttl_seconds: Annotated[
        Annotated[int, Field(ge=1, le=SECONDS_MAX), whole_number(SECONDS_MAX, 1)] | None,
        Field(
            description=(
                "How long the subscription should last. `refreshBefore` says how long it does: "
                "never longer than the server allows or the connection lasts."
            ),
        ),
    ] = None
    cursor: Annotated[
        Annotated[StrictStr, STORABLE] | None,
        Field(
            description=(
                "That of the last event or of an earlier answer: a new or lapsed subscription "
                "sends what came after it. Without it, what comes from here on."
            ),
        ),
    ] = None
    max_age_seconds: Annotated[
        Annotated[int, Field(ge=0, le=SECONDS_MAX), whole_number(SECONDS_MAX)] | None,
        Field(description="Of what came after `cursor`, send nothing older."),
    ] = None


def check_callback(url: str, secret: str, allowed_origins: frozenset[str]) -> str:
    """Its host and port. raises InvalidInput `validation_failed`, which does not name the secret"""
    try:
        host = check_callback_url(url, allowed_origins)
    except Unreachable:
        raise _refused("url", "is not an address that events are sent to", NAMED) from None
    try:
        secret_key(secret)
    except ValueError as reason:
        raise _refused("secret", str(reason), RANDOM) from None
    return host


def _refused(field: str, reason: str, resolution: str) -> InvalidInput:
    message = f"{field}: {reason}."
    return InvalidInput(ErrorCode.VALIDATION_FAILED, message, resolution, field=field)


SUBSCRIPTIONS_MAX = 100  # live ones of an account


class TtlBounds(NamedTuple):
    """How long a subscription may last, in seconds."""

    minimum: int
    default: int
    maximum: int


TTL_BOUNDS = TtlBounds(minimum=300, default=86_400, maximum=7 * 86_400)


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


def check_asked(asked: Asked, *, now: datetime) -> None:
    """Refuse what need not be asked of its address.

    raises  NotFound `form_not_found`; StateConflict `too_many_subscriptions`
    """
    get_form(asked.account_id, asked.form_id)
    key = subscription_id(asked.account_id, asked.form_id, asked.url)
    _require_room(asked.account_id, key, now)


def subscribe(  # noqa: PLR0913 - what the application holds, besides the request
    asked: Asked,
    *,
    confirmed: bool = False,
    sealer: Sealer,
    cursor_key: bytes,
    bounds: TtlBounds,
    grant_ends: datetime,
    now: datetime,
    by: Actor = SYSTEM,
) -> Granted:
    """Store a subscription or refresh it, in one transaction.

    confirmed   its creator has confirmed the address, which has answered no challenge
    cursor_key  signs cursors
    grant_ends  when the connection that subscribes ends
    raises      NotFound `form_not_found`; InvalidInput `callback_failed` if its creator has just
                taken it back; StateConflict `too_many_subscriptions`, or
                `authentication_required` if the connection has just ended; NoKey if nothing can be
                sealed
    """
    key = subscription_id(asked.account_id, asked.form_id, asked.url)
    with write_transaction():
        lock_account(asked.account_id)
        require_connection(asked.grant_id)
        head = lock_form(asked.account_id, asked.form_id)
        _require_room(asked.account_id, key, now)
        before = lock_subscription(key)
        if confirmed:
            require_confirmed(asked)
        lives = before is not None and _is_alive(before, max(to_millis(now), head))
        expires_at = _expiry(asked.ttl_seconds, bounds, grant_ends, now)
        _store(key, asked, before if lives else None, sealer, expires_at, now=now)
        if not lives:
            kind = AuditKind.SUBSCRIBED
            add_event(kind, asked.account_id, by=by, now=now, subject=asked.form_id)
        cancel_deliveries(unsettled([key]) & _IS_LAST_WORD, now=now)
        truncated = before is not None and before.dropped
        truncated |= _replay(key, asked, cursor_key, lives=lives, now=now)
        cursor = write_cursor(cursor_key, asked.form_id, watermark(key, asked.form_id))
    if before is None or not lives:
        return Granted(key, expires_at, cursor, truncated, None)
    return Granted(key, expires_at, cursor, truncated, read_status(key, before, now=now))


def list_subscriptions(account_id: str, form_id: str, *, now: datetime) -> list[SubscriptionRow]:
    """The live ones of a form, oldest first. raises NotFound"""
    get_form(account_id, form_id)
    return [SubscriptionRow._make(row) for row in read_rows(_LIST, form=form_id, now=now)]


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


def _store(
    key: str,
    asked: Asked,
    before: StoredSubscription | None,
    sealer: Sealer,
    expires_at: datetime,
    *,
    now: datetime,
) -> None:
    """The subscription with its address; `before` is the live one that is refreshed."""
    endpoint = endpoint_id(asked.account_id, asked.url)
    store_endpoint(endpoint, asked.account_id, asked.host, verified=False, now=now)
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
    store_subscription(values | secrets, now=now)


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


_ALIVE = alive(bindparam("now", type_=UtcDateTime))
_IS_LAST_WORD = EventDelivery.kind == DeliveryKind.TERMINATED
_COUNT_OTHERS = select(func.count(EventSubscription.id)).where(
    EventSubscription.account_id == bindparam("account"),
    EventSubscription.id != bindparam("id"),
    _ALIVE,
)
_LIST = (
    select(
        *columns_of(
            SubscriptionRow,
            EventSubscription,
            active=EventSubscription.suspended_at.is_(None),
            refresh_before=EventSubscription.expires_at,
        )
    )
    .where(EventSubscription.form_id == bindparam("form"), _ALIVE)
    .order_by(EventSubscription.created_at, EventSubscription.id)
)

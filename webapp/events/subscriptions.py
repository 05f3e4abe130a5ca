"""Subscriptions: the input of agents, creating and refreshing, sealed secrets, key rotation."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Annotated, Any, NamedTuple, cast

import sqlalchemy as sa
from pydantic import Field, StrictStr

from webapp.base import database, errors, outbound, sealing
from webapp.base.vocabulary import DeliveryKind
from webapp.events import callbacks, outbox, signatures
from webapp.events.callbacks import Asked
from webapp.records import events
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.content.draft_input import STORABLE, Text, whole_number
from webapp.records.forms import get_form

_S, _E = events.EventSubscription, events.CallbackEndpoint

SECONDS_MAX = 10**9  # about thirty years; safe to add to any date
NAMED = (
    "Send the https address of a host name, on port 443 or 8443, without user name and fragment, "
    f"in at most {outbound.URL_MAX_CHARS} printable ASCII characters. Other origins have to be "
    "allowed by the operator of this server."
)
RANDOM = "Send whsec_ and 24 to 64 random bytes in base64, as Standard Webhooks has it."


class SubscriptionInput(errors.InputModel):
    """A callback for the events of one form."""

    url: Annotated[StrictStr, Field(max_length=outbound.URL_MAX_CHARS), STORABLE] = Field(
        description=(
            "The https address that takes the events; it stays as it is sent and tells "
            "subscriptions of a form apart. Sends back a challenge, or is confirmed by "
            "the creator."
        )
    )
    secret: Text = Field(
        description=(
            "`whsec_` and 24 to 64 random bytes in base64 (Standard Webhooks), with which "
            "everything is signed. A new one replaces it; for 24 hours both sign."
        )
    )
    ttl_seconds: (
        Annotated[int, Field(ge=1, le=SECONDS_MAX), whole_number(SECONDS_MAX, 1)] | None
    ) = Field(
        default=None,
        description=(
            "How long the subscription should last. `refreshBefore` says how long it does: "
            "never longer than the server allows or the connection lasts."
        ),
    )
    cursor: Text | None = Field(
        default=None,
        description=(
            "That of the last event or of an earlier answer: a new or lapsed subscription "
            "sends what came after it. Without it, what comes from here on."
        ),
    )
    max_age_seconds: (
        Annotated[int, Field(ge=0, le=SECONDS_MAX), whole_number(SECONDS_MAX)] | None
    ) = Field(default=None, description="Of what came after `cursor`, send nothing older.")


def check_callback(url: str, secret: str, allowed_origins: frozenset[str]) -> str:
    """Return `host:port`. raises InvalidInput `validation_failed`, which omits the secret"""
    try:
        host = callbacks.check_callback_url(url, allowed_origins)
    except outbound.Unreachable:
        raise _refused("url", "is not an address that events are sent to", NAMED) from None
    try:
        signatures.secret_key(secret)
    except ValueError as reason:
        raise _refused("secret", str(reason), RANDOM) from None
    return host


def _refused(field: str, reason: str, resolution: str) -> errors.InvalidInput:
    message = f"{field}: {reason}."
    return errors.InvalidInput(errors.ErrorCode.VALIDATION_FAILED, message, resolution, field=field)


SUBSCRIPTIONS_MAX = 100  # live subscriptions of one account
TTL_LEAST, TTL_DEFAULT, TTL_MOST = 300, 86_400, 7 * 86_400  # seconds
ROTATED_FOR = timedelta(hours=24)  # how long the previous secret also signs


class Granted(NamedTuple):
    """The result of subscribing.

    truncated     some events after the cursor, or since the last refresh, will not be sent
    before        the row before this refresh, which resumes sending; None for a new subscription.
                  A challenge answered for this refresh has already ended the pause
    failed_since  start of the first failed attempt since the last delivery; None without one
    """

    subscription_id: str
    refresh_before: datetime
    cursor: str
    truncated: bool
    before: Any = None
    failed_since: datetime | None = None


def subscription_id(account_id: str, form_id: str, url: str) -> str:
    """Derive the id, `sub_` and 32 hex digits, from account, address, event and arguments."""
    return f"sub_{callbacks.digest(account_id, url, events.EVENT_NAME, {'formId': form_id})[:32]}"


def check_asked(asked: Asked, *, now: datetime) -> None:
    """Refuse a request that would fail anyway, before its address is challenged.

    raises  NotFound `form_not_found`; StateConflict `too_many_subscriptions`
    """
    get_form(asked.account_id, asked.form_id)
    _require_room(asked, subscription_id(asked.account_id, asked.form_id, asked.url), now)


def subscribe(
    asked: Asked,
    *,
    confirmed: bool = False,
    sealer: sealing.Sealer,
    cursor_key: bytes,
    grant_ends: datetime,
    now: datetime,
    by: Actor = SYSTEM,
) -> Granted:
    """Store a subscription or refresh it, in one transaction.

    confirmed   the creator's confirmation replaces an answered challenge
    cursor_key  signs cursors
    grant_ends  when the connection that subscribes ends
    raises      as `callbacks.hold`; InvalidInput `callback_failed` if the creator has just removed
                the address; StateConflict `too_many_subscriptions`; NoKey if sealing has no key
    """
    key = subscription_id(asked.account_id, asked.form_id, asked.url)
    with database.write_transaction():
        head = callbacks.hold(asked)
        _require_room(asked, key, now)
        before: Any = database.execute(_LOCK, id=key).one_or_none()
        if confirmed:
            callbacks.require_confirmed(asked)
        # live only if the newest completion also came before the expiry
        lives = before is not None and before.ended_at is None
        lives = lives and database.to_millis(before.expires_at) > max(database.to_millis(now), head)
        secrets = _sealed_secrets(key, asked.secret, before if lives else None, sealer, now)
        ttl = TTL_DEFAULT if asked.ttl_seconds is None else asked.ttl_seconds
        expires_at = now + timedelta(seconds=min(max(ttl, TTL_LEAST), TTL_MOST))
        expires_at = min(expires_at, grant_ends)
        _store(key, asked, secrets | {"expires_at": expires_at}, now)
        if not lives:
            add_event(AuditKind.SUBSCRIBED, asked.account_id, by=by, now=now, subject=asked.form_id)
        outbox.cancel_deliveries(outbox.unsettled([key]) & _IS_LAST_WORD, now=now)
        truncated = before is not None and before.dropped
        truncated |= _replay(key, asked, cursor_key, lives=lives, now=now)
        settled = outbox.watermark(key, asked.form_id)
        cursor = outbox.write_cursor(cursor_key, asked.form_id, settled)
    if not lives:
        return Granted(key, expires_at, cursor, truncated)
    return Granted(key, expires_at, cursor, truncated, before, _failed_since(key, before))


def list_subscriptions(account_id: str, form_id: str, *, now: datetime) -> Sequence[Any]:
    """List live subscriptions of a form, oldest first; `active`: not suspended. raises NotFound"""
    get_form(account_id, form_id)
    return database.read_rows(_LIST, form=form_id, now=now)


def _require_room(asked: Asked, key: str, now: datetime) -> None:
    """Refuse if the other live subscriptions of the account already reach the limit."""
    ((others,),) = database.read_rows(_COUNT_OTHERS, account=asked.account_id, id=key, now=now)
    if others >= SUBSCRIPTIONS_MAX:
        raise errors.StateConflict(
            errors.ErrorCode.TOO_MANY_SUBSCRIPTIONS,
            f"The account has {SUBSCRIPTIONS_MAX} live subscriptions, which is the limit.",
            "Wait until one expires, or unsubscribe where no event is needed any more.",
        )


def _store(key: str, asked: Asked, values: dict[str, object], now: datetime) -> None:
    """Store the subscription as live and not suspended; other columns keep their values."""
    values |= {
        "id": key,
        "account_id": asked.account_id,
        "form_id": asked.form_id,
        "grant_id": asked.grant_id,
        "endpoint_id": callbacks.store_endpoint(asked, now=now),
        "url": asked.url,
        "host": asked.host,
        "created_at": now,
        "refreshed_at": now,
        "suspended_at": None,
        "gone_count": 0,
        "dropped": False,
        "ended_at": None,
        "end_reason": None,
    }
    if asked.error_profile is not None:
        values["error_profile"] = asked.error_profile
    callbacks.upsert(_S, values, values.keys() - {"id", "account_id", "form_id", "created_at"})


def secret_place(subscription_id: str) -> str:
    """Return the place for which both secrets of a subscription are sealed."""
    return f"event_subscriptions/{subscription_id}/secret"


def _sealed_secrets(
    key: str, secret: str, before: Any, sealer: sealing.Sealer, now: datetime
) -> dict[str, object]:
    """Return the columns of the secret and the previous one, which also signs for ROTATED_FOR.

    before  the row of the live subscription that is being refreshed; None without one
    """
    place = secret_place(key)
    previous: tuple[str | None, datetime | None] = None, None
    with suppress(sealing.NoKey):
        if before is not None and before.secret is not None:
            if sealer.unseal(before.secret, place=place) != secret:
                previous = before.secret, now + ROTATED_FOR
            else:
                previous = before.previous_secret, before.previous_until
    sealed = sealer.seal(secret, place=place)
    return {"secret": sealed, "previous_secret": previous[0], "previous_until": previous[1]}


def _replay(key: str, asked: Asked, cursor_key: bytes, *, lives: bool, now: datetime) -> bool:
    """Queue events after the cursor unless the subscription is live; True if some are left out."""
    if asked.cursor is None:
        return False
    position = outbox.read_cursor(cursor_key, asked.form_id, asked.cursor)
    if position is None:
        return True
    max_age = asked.max_age_ms
    return not lives and outbox.queue_missed(
        key, asked.form_id, position=position, max_age_ms=max_age, now=now
    )


def _failed_since(key: str, before: Any) -> datetime | None:
    if not before.last_failure:
        return None
    since = before.last_delivery_at or database.from_millis(0)
    found = database.read_rows(_FIRST_FAILED, subscription=key, since=since)
    return cast(datetime | None, found[0][0])


_ALIVE = outbox.alive(sa.bindparam("now", type_=database.UtcDateTime()))
_IS_LAST_WORD = events.EventDelivery.kind == DeliveryKind.TERMINATED
_COUNT_OTHERS = sa.select(sa.func.count(_S.id)).where(
    _S.account_id == sa.bindparam("account"), _S.id != sa.bindparam("id"), _ALIVE
)
_LIST = (
    sa.select(*(_S.id, _S.host, _S.suspended_at.is_(None).label("active")))
    .add_columns(_S.last_delivery_at, _S.last_failure, _S.expires_at)
    .where(_S.form_id == sa.bindparam("form"), _ALIVE)
    .order_by(_S.created_at, _S.id)
)
_LOCK = (
    sa.select(
        *(_S.secret, _S.previous_secret, _S.previous_until, _S.expires_at, _S.ended_at, _S.dropped),
        *(_S.suspended_at, _S.last_delivery_at, _S.last_failure, _E.paused_until),
    )
    .join(_E, _E.id == _S.endpoint_id)
    .where(_S.id == sa.bindparam("id"))
    .with_for_update(of=_S)
)
_FIRST_FAILED = (
    sa.select(sa.func.min(events.DeliveryAttempt.started_at))
    .join(events.EventDelivery, events.EventDelivery.id == events.DeliveryAttempt.delivery_id)
    .where(
        events.EventDelivery.subscription_id == sa.bindparam("subscription"),
        events.EventDelivery.body.is_not(None),  # skips thousands that may wait without an attempt
        events.DeliveryAttempt.failure.is_not(None),
        events.DeliveryAttempt.started_at > sa.bindparam("since", type_=database.UtcDateTime()),
    )
)


SECRETS = (_S.secret, _S.previous_secret)


def rekey(sealer: sealing.Sealer) -> tuple[int, int, int]:
    """Reseal secrets of other keys by the first key, each in a transaction; idempotent.

    Returns how many secrets were read, how many resealed, and how many no key opens.
    """
    read = sealed = unopened = 0
    for column in SECRETS:
        stored = sa.select(_S.id, column).where(column.is_not(None))
        for key, secret in database.read_rows(stored):
            read += 1
            place = secret_place(key)
            try:
                plain = sealer.unseal(secret, place=place)
            except sealing.NoKey:
                unopened += 1
                continue
            if not sealer.is_current(secret):
                same = (_S.id == key, column == secret)  # a refresh may replace it meanwhile
                resealed = {column.key: sealer.seal(plain, place=place)}
                with database.write_transaction():
                    changed = database.execute(sa.update(_S).where(*same).values(resealed))
                sealed += changed.rowcount
    return read, sealed, unopened


def count_sealed_otherwise(key_ids: Sequence[str]) -> int:
    """Count the secrets that none of these keys sealed."""
    total = 0
    for column in SECRETS:
        known = (column.startswith(f"{key_id}:", autoescape=True) for key_id in key_ids)
        other = sa.select(sa.func.count()).where(column.is_not(None), ~sa.or_(sa.false(), *known))
        total += int(database.execute(other).scalar_one())
    return total

"""How subscriptions end: by their agent, by expiry, with a connection or an account."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import cast

import sqlalchemy as sa

from webapp.base.database import execute, read_rows, to_millis, write_transaction
from webapp.base.ownership import BATCH_ROWS, delete_in_batches
from webapp.base.vocabulary import DeliveryKind, DeliveryState, SubscriptionEnd
from webapp.events import outbox
from webapp.events.subscription_rows import subscription_id
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.events import (
    ERASED,
    FORGOTTEN,
    CallbackEndpoint,
    EventDelivery,
    EventSubscription,
)
from webapp.records.forms import Form, lock_form

NOTICE_WITHIN = timedelta(seconds=60)  # later the subscriber hears no more
ENDED_KEPT = timedelta(hours=24)  # without deliveries; with them, as long as those
UNUSED_KEPT = timedelta(hours=24)  # as long as an address counts as verified
WAITS_FOR = timedelta(days=7)  # how long an address waits for its creator

_SUBSCRIPTIONS = cast(sa.Table, EventSubscription.__table__)
_RETURNED = ("id", "account_id", "form_id", "endpoint_id", "host")
_ENDPOINTS = cast(sa.Table, CallbackEndpoint.__table__)


def end_subscriptions(grant_ids: Sequence[str], reason: SubscriptionEnd, *, now: datetime) -> None:
    """End the subscriptions of connections that end, and queue one last message to each.

    Confirmations of their callbacks end, too. The caller commits.
    """
    mine = sa.and_(EventSubscription.grant_id.in_(grant_ids), outbox.alive(now))
    _lock_forms(mine)
    ended = _end(mine, reason, now)
    execute(forget(CallbackEndpoint.grant_id.in_(grant_ids)))
    if ended:
        outbox.cancel_deliveries(outbox.unsettled(row.id for row in ended), now=now)
        execute(
            sa.insert(outbox.DELIVERIES).values([_terminated(row, reason, now) for row in ended])
        )


def end_subscriptions_at(endpoint_id: str, *, now: datetime) -> None:
    """End the subscriptions of a callback that its creator removes, without a last message.

    Under the lock of the account, so that none begins meanwhile. The caller commits.
    """
    mine = sa.and_(EventSubscription.endpoint_id == endpoint_id, outbox.alive(now))
    _lock_forms(mine)
    ended = _end(mine, SubscriptionEnd.DISCONNECTED, now, **ERASED)
    execute(forget(CallbackEndpoint.id == endpoint_id))
    outbox.cancel_deliveries(outbox.unsettled(row.id for row in ended), now=now)


def erase_subscriptions(account_id: str, *, now: datetime) -> None:
    """End all subscriptions of an account, telling nobody. The caller commits."""
    mine = EventSubscription.account_id == account_id
    _end(mine, SubscriptionEnd.DISCONNECTED, now)
    execute(sa.update(_SUBSCRIPTIONS).where(mine).values(ERASED))
    execute(forget(CallbackEndpoint.account_id == account_id))
    outbox.cancel_deliveries(EventDelivery.account_id == account_id, now=now)


def end_expired(now: datetime) -> Iterator[int]:
    """End what has expired and finish what has ended, in short transactions.

    Yields how many rows each of them changed; may be abandoned at any point, the next call
    continues.
    """
    for row in read_rows(_WITH_EXPIRED, now=now):
        yield _end_expired_of(row.form_id, now)
    for row in read_rows(_UNFINISHED, now=now, ended_since=now - NOTICE_WITHIN):
        while finished := _finish(row.id, now):
            yield finished


def note_unqueued(_now: datetime) -> Iterator[int]:
    """While events are off and nothing is queued: the next refresh of what lives says so.

    Yields how many subscriptions are concerned from now on.
    """
    if read_rows(_ANY_MISSING)[0][0]:
        ended_since = sa.update(_SUBSCRIPTIONS).where(*_MISSING).values(dropped=True)
        with write_transaction():
            yield execute(ended_since).rowcount


def purge_ended(now: datetime) -> Iterator[int]:
    """Delete ended subscriptions whose deliveries are gone, and addresses that nothing names.

    Secrets that sign no more after a rotation, and addresses that waited for their creator in
    vain, are erased first.
    """
    if forgotten := _forget_previous(now):
        yield forgotten
    with write_transaction():
        expired = execute(forget(CallbackEndpoint.asked_at <= now - WAITS_FOR)).rowcount
    if expired:
        yield expired
    yield from delete_in_batches(
        _SUBSCRIPTIONS,
        (EventSubscription.ended_at < now - ENDED_KEPT)
        & ~sa.exists().where(EventDelivery.subscription_id == EventSubscription.id),
    )
    yield from delete_in_batches(
        _ENDPOINTS,
        (CallbackEndpoint.seen_at < now - UNUSED_KEPT)
        & CallbackEndpoint.url.is_(None)
        & ~sa.exists().where(EventSubscription.endpoint_id == CallbackEndpoint.id),
    )


def _lock_forms(which: sa.ColumnElement[bool]) -> None:
    """Lock the forms of the subscriptions that match."""
    forms = sa.select(EventSubscription.form_id).where(which)
    execute(
        sa.select(Form.id)
        .where(Form.id.in_(forms))
        .order_by(Form.id)
        .with_for_update(key_share=True)
    )


def forget(which: sa.ColumnElement[bool]) -> sa.Update:
    """UPDATE that erases confirmations, and requests for them, of the callbacks that match."""
    return sa.update(_ENDPOINTS).where(which, CallbackEndpoint.url.is_not(None)).values(FORGOTTEN)


def _end(
    which: sa.ColumnElement[bool], reason: SubscriptionEnd, now: datetime, **values: None
) -> Sequence[sa.Row[*tuple[object, ...]]]:
    """The rows of those that had not ended before."""
    ended = (
        sa.update(_SUBSCRIPTIONS)
        .where(which, EventSubscription.ended_at.is_(None))
        .values(ended_at=now, end_reason=reason, **values)
    )
    return execute(ended.returning(*(_SUBSCRIPTIONS.c[name] for name in _RETURNED))).all()


def _terminated(
    row: sa.Row[*tuple[object, ...]], reason: SubscriptionEnd, now: datetime
) -> dict[str, object]:
    """The delivery that tells a subscriber of the end."""
    cause = f"{row.id} {reason} {to_millis(now)}"
    digits = hashlib.sha256(cause.encode()).hexdigest()[:24]
    return {
        "id": f"dlv_{digits}{outbox.digits_of(row.id)}",
        **{name: getattr(row, name) for name in _RETURNED[1:]},
        "subscription_id": row.id,
        "kind": DeliveryKind.TERMINATED,
        "event_id": f"msg_terminated_{digits}",
        "answer_count": 0,
        "position": 0,
        "state": DeliveryState.PENDING,
        "attempts": 0,
        "next_at": now,
        "created_at": now,
    }


def _end_expired_of(form_id: str, now: datetime) -> int:
    """In one form; its deliveries are cancelled later, without the lock that respondents wait
    for.
    """
    which = sa.and_(EventSubscription.form_id == form_id, EventSubscription.expires_at <= now)
    with write_transaction():
        execute(_LOCK_FORM, form=form_id)
        return len(_end(which, SubscriptionEnd.EXPIRED, now, **ERASED))


def _finish(subscription_id: str, now: datetime) -> int:
    """Cancel some of what an ended subscription still has to send, and erase its address.

    Its row is locked, so that it does not begin again meanwhile.
    """
    with write_transaction():
        if execute(_LOCK_ENDED, id=subscription_id).one_or_none() is None:
            return 0
        some = (
            sa.select(EventDelivery.id).where(outbox.unsettled([subscription_id])).limit(BATCH_ROWS)
        )
        cancelled = outbox.cancel_deliveries(EventDelivery.id.in_(some), now=now)
        erased = sa.update(_SUBSCRIPTIONS).where(
            EventSubscription.id == subscription_id, EventSubscription.url.is_not(None)
        )
        return cancelled + execute(erased.values(ERASED)).rowcount


def _forget_previous(now: datetime) -> int:
    over = sa.update(_SUBSCRIPTIONS).where(EventSubscription.previous_until <= now)
    with write_transaction():
        return execute(over.values(previous_secret=None, previous_until=None)).rowcount


_LOCK_FORM = (
    sa.select(Form.id).where(Form.id == sa.bindparam("form")).with_for_update(key_share=True)
)
_LOCK_ENDED = (
    sa.select(EventSubscription.id)
    .where(EventSubscription.id == sa.bindparam("id"), EventSubscription.ended_at.is_not(None))
    .with_for_update()
)
_WITH_EXPIRED = (
    sa.select(EventSubscription.form_id)
    .where(
        EventSubscription.ended_at.is_(None), EventSubscription.expires_at <= sa.bindparam("now")
    )
    .distinct()
)
_MISSING = (EventSubscription.ended_at.is_(None), EventSubscription.dropped.is_(False))
_ANY_MISSING = sa.select(sa.exists().where(*_MISSING))
_UNFINISHED = sa.select(EventSubscription.id).where(
    EventSubscription.ended_at <= sa.bindparam("now"),
    sa.or_(
        EventSubscription.ended_at <= sa.bindparam("ended_since"),
        EventSubscription.end_reason == SubscriptionEnd.EXPIRED,
    ),
    sa.or_(
        EventSubscription.url.is_not(None),
        *(
            sa.exists().where(
                EventDelivery.subscription_id == EventSubscription.id,
                EventDelivery.state == state,
            )
            for state in outbox.UNSETTLED
        ),
    ),
)


def unsubscribe(
    account_id: str, form_id: str, subscription_id: str, *, now: datetime, by: Actor = SYSTEM
) -> None:
    """End a subscription and cancel what it has to send; does nothing for an unknown one.

    raises  NotFound `form_not_found`
    """
    with write_transaction():
        lock_form(account_id, form_id)
        _unsubscribe(account_id, form_id, subscription_id, now, by)


def unsubscribe_address(
    account_id: str, form_id: str, url: str, *, now: datetime, by: Actor = SYSTEM
) -> bool:
    """End the subscription of an address, also while its form is in the trash; False if the account
    has none.
    """
    with write_transaction():
        execute(_LOCK_OWN_FORM, account=account_id, form=form_id)
        key = subscription_id(account_id, form_id, url)
        return _unsubscribe(account_id, form_id, key, now, by)


def _unsubscribe(account_id: str, form_id: str, key: str, now: datetime, by: Actor) -> bool:
    which = sa.and_(EventSubscription.id == key, EventSubscription.form_id == form_id)
    ended = _end(which, SubscriptionEnd.UNSUBSCRIBED, now, **ERASED)
    if ended:
        outbox.cancel_deliveries(outbox.unsettled([key]), now=now)
        add_event(AuditKind.UNSUBSCRIBED, account_id, by=by, now=now, subject=form_id)
    return bool(ended)


_LOCK_OWN_FORM = (
    sa.select(Form.id)
    .where(Form.id == sa.bindparam("form"), Form.account_id == sa.bindparam("account"))
    .with_for_update(key_share=True)
)

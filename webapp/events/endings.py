"""The end of subscriptions: by the agent, by expiry, with a connection, callback or account."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

import sqlalchemy as sa

from webapp.base.database import UtcDateTime, execute, read_rows, to_millis, write_transaction
from webapp.base.ownership import BATCH_ROWS, delete_in_batches
from webapp.base.vocabulary import DeliveryKind, DeliveryState, SubscriptionEnd
from webapp.events import callbacks, outbox
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.events import ERASED, CallbackEndpoint, EventDelivery, EventSubscription
from webapp.records.forms import Form

NOTICE_WITHIN = timedelta(seconds=60)  # after that, the subscriber is not notified
ENDED_KEPT = timedelta(hours=24)  # if it has no deliveries; else as long as they are kept
UNUSED_KEPT = timedelta(hours=24)  # as long as a verification is valid

_D, _S, _E = EventDelivery, EventSubscription, CallbackEndpoint


def end_subscriptions(grant_ids: Sequence[str], reason: SubscriptionEnd, *, now: datetime) -> None:
    """End the subscriptions of connections, and queue a termination message to each.

    Also erases the confirmations bound to these connections. The caller commits.
    """
    if ended := _end_live(_S.grant_id.in_(grant_ids), _E.grant_id.in_(grant_ids), reason, now):
        last = [_terminated(row, reason, now) for row in ended]
        execute(sa.insert(outbox.DELIVERIES).values(last))


def remove_callback(
    account_id: str, callback_id: str, *, now: datetime, by: Actor = SYSTEM
) -> None:
    """Remove an address for the creator and end its subscriptions without a message; idempotent.

    Locks the account, so that no new subscription begins meanwhile. raises NotFound
    """
    with write_transaction():
        row = callbacks.lock_callback(account_id, callback_id)
        if row.url is None:
            return
        reason = SubscriptionEnd.DISCONNECTED
        _end_live(_S.endpoint_id == callback_id, _E.id == callback_id, reason, now, **ERASED)
        add_event(AuditKind.CALLBACK_REMOVED, account_id, by=by, now=now, subject=row.asked_form_id)


def erase_subscriptions(account_id: str, *, now: datetime) -> None:
    """End all subscriptions of an account without termination messages. The caller commits."""
    mine = _S.account_id == account_id
    _end(mine, SubscriptionEnd.DISCONNECTED, now)
    execute(sa.update(_S).where(mine).values(ERASED))
    execute(callbacks.forget(_E.account_id == account_id))
    outbox.cancel_deliveries(_D.account_id == account_id, now=now)


def unsubscribe(
    account_id: str, form_id: str, subscription_id: str, *, now: datetime, by: Actor = SYSTEM
) -> bool:
    """End a subscription, even if its form is in the trash, and cancel its unsettled deliveries.

    Returns False if it has ended or is unknown.
    """
    with write_transaction():
        _lock_forms((Form.id == form_id) & (Form.account_id == account_id))
        which = (_S.id == subscription_id) & (_S.form_id == form_id) & (_S.account_id == account_id)
        ended = _end(which, SubscriptionEnd.UNSUBSCRIBED, now, **ERASED)
        if ended:
            outbox.cancel_deliveries(outbox.unsettled([subscription_id]), now=now)
            add_event(AuditKind.UNSUBSCRIBED, account_id, by=by, now=now, subject=form_id)
    return bool(ended)


def _end_live(
    which: sa.ColumnElement[bool],
    confirmed: sa.ColumnElement[bool],
    reason: SubscriptionEnd,
    now: datetime,
    **values: None,
) -> Sequence[Any]:
    """End live subscriptions under the locks of their forms and cancel their deliveries.

    confirmed  callbacks whose confirmation is erased
    """
    mine = which & outbox.alive(now)
    _lock_forms(Form.id.in_(sa.select(_S.form_id).where(mine)))
    ended = _end(mine, reason, now, **values)
    execute(callbacks.forget(confirmed))
    if ended:
        outbox.cancel_deliveries(outbox.unsettled(row.id for row in ended), now=now)
    return ended


def _lock_forms(which: sa.ColumnElement[bool]) -> None:
    forms = sa.select(Form.id).where(which).order_by(Form.id)
    execute(forms.with_for_update(key_share=True))


def _end(
    which: sa.ColumnElement[bool], reason: SubscriptionEnd, now: datetime, **values: None
) -> Sequence[Any]:
    """End subscriptions; returns the rows that had not ended before."""
    ended = sa.update(_S).where(which, _S.ended_at.is_(None))
    ended = ended.values(ended_at=now, end_reason=reason, **values)
    return execute(ended.returning(_S.id, _S.account_id, _S.form_id, _S.endpoint_id, _S.host)).all()


def _terminated(row: Any, reason: SubscriptionEnd, now: datetime) -> dict[str, object]:
    """Build the delivery of the termination message."""
    cause = f"{row.id} {reason} {to_millis(now)}"
    digits = hashlib.sha256(cause.encode()).hexdigest()[:24]
    return {
        "id": f"dlv_{digits}{outbox.digits_of(row.id)}",
        "account_id": row.account_id,
        "form_id": row.form_id,
        "endpoint_id": row.endpoint_id,
        "host": row.host,
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


def end_expired(now: datetime) -> Iterator[int]:
    """End expired subscriptions and clean up ended ones, in short transactions.

    Yields the number of rows that each transaction changed. The caller may stop at any point; the
    next call continues.
    """
    for row in read_rows(_WITH_EXPIRED, now=now):
        which = (_S.form_id == row.form_id) & (_S.expires_at <= now)
        with write_transaction():
            _lock_forms(Form.id == row.form_id)
            ended = _end(which, SubscriptionEnd.EXPIRED, now, **ERASED)
        yield len(ended)
    for row in read_rows(_UNFINISHED, now=now, ended_since=now - NOTICE_WITHIN):
        while finished := _finish(row.id, now):
            yield finished


def _finish(subscription_id: str, now: datetime) -> int:
    """Cancel up to BATCH_ROWS deliveries of an ended subscription, and erase its address.

    Locks the row, so that the subscription does not begin again meanwhile.
    """
    mine = _S.id == subscription_id
    ended = sa.select(_S.id).where(mine, _S.ended_at.is_not(None)).with_for_update()
    some = sa.select(_D.id).where(outbox.unsettled([subscription_id])).limit(BATCH_ROWS)
    erased = sa.update(_S).where(mine, _S.url.is_not(None)).values(ERASED)
    with write_transaction():
        if execute(ended).one_or_none() is None:
            return 0
        return outbox.cancel_deliveries(_D.id.in_(some), now=now) + execute(erased).rowcount


def note_unqueued(_now: datetime) -> Iterator[int]:
    """Note, while events are off, that live subscriptions miss events; a refresh reports it.

    Yields the number of subscriptions newly marked.
    """
    if read_rows(_ANY_MISSING)[0][0]:
        with write_transaction():
            yield execute(sa.update(_S).where(*_MISSING).values(dropped=True)).rowcount


def purge_ended(now: datetime) -> Iterator[int]:
    """Delete ended subscriptions without deliveries, and addresses no longer in use.

    First erases rotated secrets that no longer sign, and addresses that the creator never
    confirmed. Yields the number of rows of each transaction.
    """
    over = sa.update(_S).where(_S.previous_until <= now)
    for erased in (
        over.values(previous_secret=None, previous_until=None),
        callbacks.forget(_E.asked_at <= now - callbacks.WAITS_FOR),
    ):
        with write_transaction():
            changed = execute(erased).rowcount
        if changed:
            yield changed
    yield from delete_in_batches(
        cast(sa.Table, _S.__table__),
        (_S.ended_at < now - ENDED_KEPT) & ~sa.exists().where(_D.subscription_id == _S.id),
    )
    yield from delete_in_batches(
        cast(sa.Table, _E.__table__),
        (_E.seen_at < now - UNUSED_KEPT)
        & _E.url.is_(None)
        & ~sa.exists().where(_S.endpoint_id == _E.id),
    )


_TIME = UtcDateTime()
_WITH_EXPIRED = (
    sa.select(_S.form_id)
    .where(_S.ended_at.is_(None), _S.expires_at <= sa.bindparam("now", type_=_TIME))
    .distinct()
)
_MISSING = (_S.ended_at.is_(None), _S.dropped.is_(False))
_ANY_MISSING = sa.select(sa.exists().where(*_MISSING))
_UNFINISHED = sa.select(_S.id).where(
    _S.ended_at <= sa.bindparam("now", type_=_TIME),
    sa.or_(
        _S.ended_at <= sa.bindparam("ended_since", type_=_TIME),
        _S.end_reason == SubscriptionEnd.EXPIRED,
    ),
    sa.or_(
        _S.url.is_not(None),
        *(
            sa.exists().where(_D.subscription_id == _S.id, _D.state == state)
            for state in outbox.UNSETTLED
        ),
    ),
)

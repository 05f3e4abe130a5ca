"""What becomes of a delivery: the next state after an attempt, and the end of old ones."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar, cast

from sqlalchemy import (
    BindParameter,
    Connection,
    Table,
    and_,
    bindparam,
    case,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.orm import InstrumentedAttribute

from webapp.base.database import UtcDateTime, execute, read_rows, tried_again, write_transaction
from webapp.base.database.prepared_statements import all_rows
from webapp.base.ownership import Owned, delete_in_batches, table_of
from webapp.base.vocabulary import DeliveryFailure, DeliveryKind, DeliveryState
from webapp.events.claims import Claimed
from webapp.events.due import (
    LONGEST_REST,
    LONGEST_RETRY,
    OPEN_AFTER_FAILURES,
    Lane,
    asked_delay,
    lane_of,
    probe_delay,
    retry_delay,
)
from webapp.events.outbox import WORDS_MILLIS
from webapp.records.events import (
    ERASED,
    CallbackEndpoint,
    DeliveryAttempt,
    EventDelivery,
    EventSubscription,
)

REPLY_KEPT_BYTES = 2048
GONE_SUSPENDS = 3  # different events in a row that are answered 410
GONE, TOO_LARGE = 410, 413  # neither is tried again
T = TypeVar("T")

_D, _S, _E, _A = EventDelivery, EventSubscription, CallbackEndpoint, DeliveryAttempt


class AttemptResult(NamedTuple):
    """What one attempt brought.

    signature    the header as it was sent
    status       None: no answer
    failure      None: delivered
    retry_after  the header of the answer, as it came
    reply        the start of the answer
    """

    started_at: datetime
    duration_ms: int
    signature: str
    status: int | None
    failure: DeliveryFailure | None
    retry_after: str | None = None
    reply: bytes = b""


@tried_again
def settle(claimed: Claimed, result: AttemptResult, *, now: datetime) -> bool:
    """Note the attempt and what follows from it; commits.

    False, and nothing is changed, where the lease was lost to another attempt, or the delivery was
    cancelled meanwhile.
    """
    with write_transaction() as connection:
        mine = {"subscription": claimed.subscription_id}
        found = all_rows(connection, _LOCK_SUBSCRIPTION, _held(claimed) | mine)
        if not found:
            return False
        asked = asked_delay(result.retry_after, now=now)
        state, next_at = _next_state(claimed, result, asked, now)
        _note_subscription(connection, claimed, result, found[0].gone_count, now)
        _note_endpoint(connection, claimed, result, asked, now)
        _note_attempt(connection, claimed, result)
        _settle(connection, claimed, state, next_at, now)
    return True


@tried_again
def settle_broken(claimed: Claimed, *, now: datetime) -> None:
    """An error of ours used the attempt up; the next one is due by the schedule. Commits."""
    with write_transaction() as connection:
        _settle(connection, claimed, *_after_failure(claimed, None, now), now)


@tried_again
def suspend_unreadable(claimed: Claimed, *, now: datetime) -> None:
    """No key opens the secret: nothing is sent until the next refresh brings one; commits.

    The delivery waits for it, without an attempt.
    """
    held = _held(claimed)
    mine = {"subscription": claimed.subscription_id}
    with write_transaction() as connection:
        if all_rows(connection, _LOCK_SUBSCRIPTION, held | mine):
            all_rows(connection, _SUSPEND, mine | {"moment": now})
            all_rows(connection, _PUT_BACK, held)


def _next_state(
    claimed: Claimed, result: AttemptResult, asked: timedelta | None, now: datetime
) -> tuple[DeliveryState, datetime | None]:
    """The state after the attempt, and when the next one is due; None: settled."""
    if result.failure is None:
        return DeliveryState.DELIVERED, None
    if result.status in (GONE, TOO_LARGE):
        return DeliveryState.DROPPED, None
    return _after_failure(claimed, asked, now)


def _after_failure(
    claimed: Claimed, asked: timedelta | None, now: datetime
) -> tuple[DeliveryState, datetime | None]:
    """As `_next_state`, by the schedule, or later where the receiver asked for that."""
    delay = retry_delay(claimed.attempts)
    if delay is None or claimed.kind is DeliveryKind.TERMINATED:
        return DeliveryState.ABANDONED, None
    return DeliveryState.PENDING, now + max(delay, asked or delay)


def _held(claimed: Claimed) -> dict[str, object]:
    """What `_HELD` compares: a lease that was lost belongs to another attempt."""
    return {"row": claimed.id, "attempt": claimed.attempts}


def _settle(
    connection: Connection,
    claimed: Claimed,
    state: DeliveryState,
    next_at: datetime | None,
    now: datetime,
) -> None:
    settled_at = now if next_at is None else None
    changed = {"new_state": state, "due": next_at, "settled": settled_at}
    all_rows(connection, _SETTLE, _held(claimed) | changed)


def _note_subscription(
    connection: Connection,
    claimed: Claimed,
    result: AttemptResult,
    gone_count: int,
    now: datetime,
) -> None:
    """Its health as agents see it; the address and the secret of an ended one are erased."""
    row: dict[str, object] = {"subscription": claimed.subscription_id}
    if result.failure is None:
        all_rows(connection, _NOTE_DELIVERED, row | {"moment": now})
    else:
        if result.status == GONE and not all_rows(connection, _GONE_BEFORE, {"row": claimed.id}):
            gone_count += 1
        suspended_at = now if gone_count >= GONE_SUSPENDS else None
        noted = {"failed": result.failure, "gone": gone_count, "suspended": suspended_at}
        all_rows(connection, _NOTE_FAILED, row | noted)
    if claimed.kind is DeliveryKind.TERMINATED:
        all_rows(connection, _ERASE, row)


def _note_endpoint(
    connection: Connection,
    claimed: Claimed,
    result: AttemptResult,
    asked: timedelta | None,
    now: datetime,
) -> None:
    """Store the duration unless it was and is quick; then close the breaker or count the failure.

    410 and 413 do neither: they are clear answers.
    """
    row = {"endpoint": claimed.endpoint_id}
    if {Lane.QUICK} != {lane_of(claimed.duration_ms), lane_of(result.duration_ms)}:
        all_rows(connection, _MEASURE, row | {"took": result.duration_ms})
    if result.failure is None:
        all_rows(connection, _CLOSE_BREAKER, row)
    elif result.status not in (GONE, TOO_LARGE):
        failures, paused_until = all_rows(connection, _LOCK_ENDPOINT, row)[0]
        rests = paused_until is not None and paused_until > now
        if rests and failures >= OPEN_AFTER_FAILURES:
            return  # the probe alone makes it rest longer
        rest = max(filter(None, (asked, probe_delay(failures + 1))), default=None)
        if rest is not None:
            paused_until = max(now + rest, paused_until or now)
        counted = {"failed": failures + 1, "until": paused_until}
        all_rows(connection, _NOTE_UNWELL, row | counted)


def _note_attempt(connection: Connection, claimed: Claimed, result: AttemptResult) -> None:
    """Attempts are numbered through, also where an event is sent again."""
    reply = result.reply[:REPLY_KEPT_BYTES].decode(errors="replace").replace("\0", "\ufffd")
    values = {
        "row": claimed.id,
        "form_id": claimed.form_id,
        "started_at": result.started_at,
        "duration_ms": result.duration_ms,
        "signature": result.signature,
        "status": result.status,
        "failure": result.failure,
        "reply": reply if result.status is not None else None,
    }
    all_rows(connection, _NOTE_ATTEMPT, values)


def _bind(name: str, column: InstrumentedAttribute[T]) -> BindParameter[T]:
    return bindparam(name, type_=column.type)


_DELIVERIES, _SUBSCRIPTIONS, _ENDPOINTS, _ATTEMPTS = (
    cast(Table, model.__table__) for model in (_D, _S, _E, _A)
)
_HELD = and_(
    _D.id == bindparam("row"),
    _D.attempts == bindparam("attempt"),
    _D.state == DeliveryState.SENDING,
)
_LOCK_SUBSCRIPTION = (
    select(_S.gone_count)
    .where(_S.id == bindparam("subscription"), exists().where(_HELD))
    .with_for_update(key_share=True, of=_S)
)
_OF_SUBSCRIPTION = update(_SUBSCRIPTIONS).where(_S.id == bindparam("subscription"))
_NOTE_DELIVERED = _OF_SUBSCRIPTION.values(
    last_delivery_at=_bind("moment", _S.last_delivery_at), last_failure=None, gone_count=0
)
_NOTE_FAILED = _OF_SUBSCRIPTION.values(
    last_failure=_bind("failed", _S.last_failure),
    gone_count=_bind("gone", _S.gone_count),
    suspended_at=func.coalesce(_bind("suspended", _S.suspended_at), _S.suspended_at),
)
_ERASE = _OF_SUBSCRIPTION.where(_S.ended_at.is_not(None)).values(ERASED)
_OF_ENDPOINT = update(_ENDPOINTS).where(_E.id == bindparam("endpoint"))
_CLOSE_BREAKER = _OF_ENDPOINT.where(or_(_E.failures > 0, _E.paused_until.is_not(None))).values(
    failures=0, paused_until=None
)
_TOOK = _bind("took", _E.duration_ms)
_MEASURE = _OF_ENDPOINT.values(
    duration_ms=case((_E.duration_ms // 2 > _TOOK, _E.duration_ms // 2), else_=_TOOK)
)
_LOCK_ENDPOINT = (
    select(_E.failures, _E.paused_until)
    .where(_E.id == bindparam("endpoint"))
    .with_for_update(key_share=True)
)
_NOTE_UNWELL = _OF_ENDPOINT.values(
    failures=_bind("failed", _E.failures), paused_until=_bind("until", _E.paused_until)
)
_OF_DELIVERY = _A.delivery_id == bindparam("row")
_GONE_BEFORE = select(_A.id).where(_OF_DELIVERY, _A.status == GONE).limit(1)
_KEPT = ("form_id", "started_at", "duration_ms", "signature", "status", "failure", "reply")
_NOTE_ATTEMPT = insert(_ATTEMPTS).from_select(
    ["delivery_id", "number", *_KEPT],
    select(
        _bind("row", _A.delivery_id),
        func.coalesce(func.max(_A.number), 0) + 1,
        *(_bind(name, getattr(_A, name)) for name in _KEPT),
    ).where(_OF_DELIVERY),
)
_SETTLE = (
    update(_DELIVERIES)
    .where(_HELD)
    .values(
        state=_bind("new_state", _D.state),
        settled_at=_bind("settled", _D.settled_at),
        next_at=func.coalesce(_bind("due", _D.next_at), _D.next_at),
        lease_until=None,
        renewals=None,
    )
)
_PUT_BACK = (
    update(_DELIVERIES)
    .where(_HELD)
    .values(state=DeliveryState.PENDING, attempts=_D.attempts - 1, lease_until=None, renewals=None)
)
_SUSPEND = _OF_SUBSCRIPTION.values(suspended_at=_bind("moment", _S.suspended_at))


MAX_PENDING = 10_000  # deliveries of one subscription
KEPT_DAYS = 30  # after it was settled
FIRST_WAIT = timedelta(milliseconds=2 * WORDS_MILLIS)  # the clocks of machines differ

_D, _S, _E = EventDelivery, EventSubscription, CallbackEndpoint


def abandon_overflow(*, now: datetime, most: int = MAX_PENDING) -> int:
    """Abandon the oldest events of subscriptions with more than `most` pending; commits.

    Their next refresh says that something is missing. Returns how many were abandoned.
    """
    overfull = read_rows(_OVERFULL, most=most)
    return sum(_abandon_oldest(row.subscription_id, most, now) for row in overfull)


@tried_again
def _abandon_oldest(subscription_id: str, kept: int, now: datetime) -> int:
    """All but the newest; other processes may do the same."""
    oldest = (
        select(_D.id)
        .where(_D.subscription_id == subscription_id, _D.state == DeliveryState.PENDING)
        .order_by(_D.position.desc())
        .offset(kept)
    )
    with write_transaction():
        execute(update(_S).where(_S.id == subscription_id).values(dropped=True))
        given_up = update(_D).where(_D.id.in_(oldest), _D.state == DeliveryState.PENDING)
        return execute(given_up.values(state=DeliveryState.ABANDONED, settled_at=now)).rowcount


@tried_again
def bound_waits(*, now: datetime) -> None:
    """Shorten waits that exceed the longest delay, because a clock was ahead; commits."""
    latest = {"first": now + FIRST_WAIT, "later": now + LONGEST_RETRY, "rest": now + LONGEST_REST}
    if read_rows(_WAIT_TOO_LONG, **latest):
        with write_transaction():
            execute(_BOUND_RETRIES, **latest)
            execute(_BOUND_RESTS, **latest)


def purge_settled(now: datetime) -> Iterator[int]:
    """Delete what was settled KEPT_DAYS ago with its attempts; yields how many rows went."""
    latest = now - timedelta(days=KEPT_DAYS)
    deliveries, attempts = (
        table_of(Owned(model.__tablename__, "id")) for model in (_D, DeliveryAttempt)
    )
    old = deliveries.c.settled_at <= latest
    yield from delete_in_batches(
        attempts, attempts.c.delivery_id.in_(select(deliveries.c.id).where(old))
    )
    yield from delete_in_batches(deliveries, old)


_OVERFULL = (
    select(_D.subscription_id)
    .where(_D.state == DeliveryState.PENDING)
    .group_by(_D.subscription_id)
    .having(func.count() > bindparam("most"))
)
_FIRST, _LATER, _REST = (
    bindparam(name, type_=UtcDateTime()) for name in ("first", "later", "rest")
)
_LATEST = case((_D.attempts == 0, _FIRST), else_=_LATER)
_RETRY_TOO_LATE = and_(_D.state == DeliveryState.PENDING, _D.next_at > _LATEST)
_REST_TOO_LONG = _E.paused_until > _REST
_WAIT_TOO_LONG = select(literal(1)).where(
    or_(exists().where(_RETRY_TOO_LATE), exists().where(_REST_TOO_LONG))
)
_BOUND_RETRIES = update(_D).where(_RETRY_TOO_LATE).values(next_at=_LATEST)
_BOUND_RESTS = update(_E).where(_REST_TOO_LONG).values(paused_until=_REST)

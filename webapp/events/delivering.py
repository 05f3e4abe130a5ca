"""Work on deliveries: claim one, settle its attempt or retry it, abandon the oldest, purge."""

import random
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, cast

import orjson
import sqlalchemy as sa

from webapp.base import database
from webapp.base.database import execute, read_rows, tried_again, write_transaction
from webapp.base.database.prepared_statements import all_rows, run_each
from webapp.base.ownership import delete_in_batches
from webapp.base.vocabulary import DeliveryFailure, DeliveryKind, DeliveryState
from webapp.events import due, outbox
from webapp.records import events
from webapp.records.forms import Form

SILENT_LOOKS = 5  # one look a second; if all find a lease unchanged, its process is dead
ADVISORY_LOCK = 0x61736B64  # arbitrary; each claim holds it, on PostgreSQL only

_D, _S = events.EventDelivery, events.EventSubscription
_E, _A = events.CallbackEndpoint, events.DeliveryAttempt
_SENDING = _D.state == DeliveryState.SENDING
_PENDING = _D.state == DeliveryState.PENDING


class Claimed(NamedTuple):
    """A delivery that is leased to the caller for one attempt.

    attempts  their number, including this one
    secret    sealed, like `previous_secret`, which also signs until `previous_until`
    """

    id: str
    attempts: int
    kind: DeliveryKind
    event_id: str
    account_id: str
    form_id: str
    subscription_id: str
    endpoint_id: str
    url: str
    secret: str
    previous_secret: str | None
    previous_until: datetime | None
    duration_ms: int | None
    body: bytes


@tried_again
def claim(limit: int, room: due.Room, *, cursor_key: bytes, now: datetime) -> list[Claimed]:
    """Lease up to `limit` due deliveries that fit into `room`, and count the attempt; commits.

    Skips suspended and expired subscriptions, forms in the trash, disabled accounts and paused
    endpoints. The first attempt fixes the body. A lease occupies its place until the attempt is
    settled or `Leases` releases it.
    """
    with database.core_transaction() as connection:
        if not database.on_sqlite():
            all_rows(connection, _LOCK, {"number": ADVISORY_LOCK})
        unsettled = map(due.Unsettled._make, all_rows(connection, due.UNSETTLED, {"moment": now}))
        chosen = [each.id for each in room.choose(limit, unsettled)]
        if not chosen:
            return []
        claimed = []
        for row in all_rows(connection, _DETAILS, {"ids": chosen}):
            body = row.body or _made_body(row, cursor_key)
            claimed.append(Claimed._make((*row[: len(Claimed._fields) - 1], body.encode())))
        if claimed:
            leases = [{"row": each.id, "text": each.body.decode()} for each in claimed]
            run_each(connection, _LEASE, leases)
        return claimed


def _made_body(row: Any, cursor_key: bytes) -> str:
    """The JSON of an event, or of the message that a subscription was terminated."""
    if row.kind is DeliveryKind.TERMINATED:
        refusal, reason = events.EventError.FORBIDDEN, {"reason": "Access revoked"}
        code = refusal.code(row.error_profile)
        error = {"code": code, "message": refusal.message, "data": reason}
        return orjson.dumps({"type": "terminated", "error": error}).decode()
    # the cursor of an event comes after that event
    others = row.lowest_pending, row.lowest_sending
    settled = outbox.settled_until(others, newest=max(row.completed_stamp or 0, row.position))
    made = outbox.event(row.event_id, row.form_id, row.position, row.answer_count)
    cursor = outbox.write_cursor(cursor_key, row.form_id, settled)
    return orjson.dumps(made | {"cursor": cursor}).decode()


@tried_again
def renew(held: Iterable[Claimed], *, now: datetime) -> None:
    """Renew the leases of these attempts; commits. Skips locked rows: they are being settled."""
    mine = sa.tuple_(_D.id, _D.attempts).in_([(each.id, each.attempts) for each in held])
    unlocked = sa.select(_D.id).where(mine, _SENDING).with_for_update(skip_locked=True)
    with write_transaction():
        execute(sa.update(_D).where(_D.id.in_(unlocked)).values(renewals=_D.renewals + 1))


class Leases:
    """The leases of all processes, each with the number of looks that found it unchanged.

    It counts looks, not seconds: clocks differ between machines, and this process may itself have
    been paused or cut off from the database. A lease is (delivery id, attempts, renewals).
    """

    def __init__(self) -> None:
        self._looks: dict[tuple[str, int, int], int] = {}

    def look(self, *, now: datetime) -> None:
        """Put deliveries of dead processes back on the schedule; commits. Call once a second.

        After the last attempt a delivery is abandoned: it may be what kills the processes.
        """
        found = [tuple(row) for row in read_rows(_LEASES)]
        self._looks = {each: self._looks.get(each, -1) + 1 for each in found}
        for lease, looks in self._looks.items():
            if looks >= SILENT_LOOKS:
                _release(*lease, now)


@tried_again
def _release(delivery_id: str, attempts: int, renewals: int, now: datetime) -> None:
    delay = retry_delay(attempts)
    if delay is None:
        changed = {"state": DeliveryState.ABANDONED, "settled_at": now}
    else:
        changed = {"state": DeliveryState.PENDING, "next_at": now + delay}
    mine = (_D.id == delivery_id, _D.attempts == attempts, _D.renewals == renewals, _SENDING)
    with write_transaction():
        execute(sa.update(_D).where(*mine).values(renewals=None, **changed))


_LOCK = sa.text("SELECT pg_advisory_xact_lock(:number)")
_DETAILS = (
    sa.select(
        # the fields of Claimed
        *(_D.id, (_D.attempts + 1).label("attempts"), _D.kind, _D.event_id, _D.account_id),
        *(_D.form_id, _D.subscription_id, _D.endpoint_id, _S.url, _S.secret),
        *(_S.previous_secret, _S.previous_until, _E.duration_ms, _D.body),
        *(_D.position, _D.answer_count, _S.error_profile, Form.completed_stamp),
        *outbox.lowest_unsettled(_D.subscription_id, but=_D.position),
    )
    .join(_S, _S.id == _D.subscription_id)
    .join(_E, _E.id == _D.endpoint_id)
    .join(Form, Form.id == _D.form_id)
    .where(database.among(_D.id, "ids"), _PENDING)
    # a locked row is probably being cancelled
    .with_for_update(of=_D, skip_locked=True)
)
_LEASE = (
    sa.update(outbox.DELIVERIES)
    .where(_D.id == sa.bindparam("row"))
    .values(
        state=DeliveryState.SENDING,
        attempts=_D.attempts + 1,
        body=sa.func.coalesce(_D.body, sa.bindparam("text", type_=sa.String)),
        renewals=0,
    )
)
_LEASES = sa.select(_D.id, _D.attempts, _D.renewals).where(_SENDING)


REPLY_KEPT_BYTES = 2048
GONE_SUSPENDS = 3  # different events in a row answered with 410
GONE, TOO_LARGE = 410, 413  # neither is retried


# waits after the first attempt, the second and so on; the attempt after the last wait is final
RETRY_SECONDS = (1, 5, 30, 120, 600, 1800, 3600, 7200)
JITTER = 0.2  # share of each wait, in both directions
RETRY_AFTER_SECONDS = (1, 3600)  # the shortest and longest wait that a receiver may ask for
PROBE_SECONDS = 60  # until the first probe; doubled after each failed one
PROBE_SECONDS_MAX = 900
# any later moment was written while a clock was ahead
LONGEST_RETRY = timedelta(seconds=max(RETRY_SECONDS) * (1 + JITTER))
LONGEST_PAUSE = timedelta(seconds=RETRY_AFTER_SECONDS[1])


def retry_delay(attempts: int) -> timedelta | None:
    """Return the wait after this many attempts, varied by JITTER; None after the last one."""
    if attempts > len(RETRY_SECONDS):
        return None
    varied = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 (no secret)
    return timedelta(seconds=RETRY_SECONDS[attempts - 1] * varied)


def asked_delay(retry_after: str | None, *, now: datetime) -> timedelta | None:
    """Return the wait that `Retry-After` asks for, within bounds (RFC 9110 section 10.2.3).

    None without the header, or if it cannot be parsed.
    """
    asked = (retry_after or "").strip()
    if re.fullmatch("-?[0-9]+", asked):
        seconds: float = int(asked[:12])
    else:
        try:
            moment = parsedate_to_datetime(asked)
        except (ValueError, OverflowError):
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
    least, most = RETRY_AFTER_SECONDS
    return timedelta(seconds=min(max(seconds, least), most))


def probe_delay(failures: int) -> timedelta | None:
    """Return the pause of an endpoint after this many failures in a row; None: breaker closed.

    After the pause, the endpoint gets a single attempt, the probe.
    """
    doubled = failures - due.OPEN_AFTER_FAILURES
    if doubled < 0:
        return None
    return timedelta(seconds=min(PROBE_SECONDS * 2 ** min(doubled, 10), PROBE_SECONDS_MAX))


class AttemptResult(NamedTuple):
    """The outcome of one attempt.

    signature    the header that was sent
    status       None without a reply
    failure      None if the event was delivered
    retry_after  the header of the reply, unparsed
    reply        the beginning of its body
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
    """Store the attempt and its consequences; commits.

    Returns False and changes nothing if another attempt has taken the lease or the delivery was
    cancelled.
    """
    with write_transaction():
        gone_count = _lock_subscription(claimed)
        if gone_count is None:
            return False
        if {due.Lane.QUICK} != {due.lane_of(claimed.duration_ms), due.lane_of(result.duration_ms)}:
            took = result.duration_ms
            halved = sa.case((_E.duration_ms // 2 > took, _E.duration_ms // 2), else_=took)
            mine = sa.update(_E).where(_E.id == claimed.endpoint_id)
            execute(mine.values(duration_ms=halved))
        if result.failure is None:
            execute(_NOTE_DELIVERED, subscription=claimed.subscription_id, moment=now)
            execute(_CLOSE_BREAKER, endpoint=claimed.endpoint_id)
            _settle(claimed, DeliveryState.DELIVERED, now)
        else:
            _note_failure(claimed, result, gone_count, now)
        if claimed.kind is DeliveryKind.TERMINATED:
            ended = (_S.id == claimed.subscription_id, _S.ended_at.is_not(None))
            execute(sa.update(_S).where(*ended).values(events.ERASED))
        _note_attempt(claimed, result)
    return True


@tried_again
def settle_broken(claimed: Claimed, *, now: datetime) -> None:
    """Schedule the next attempt after an error on our side, which counts as one; commits."""
    with write_transaction():
        _try_again(claimed, None, now)


@tried_again
def suspend_unreadable(claimed: Claimed, *, now: datetime) -> None:
    """Suspend a subscription whose secret no key opens, until it is refreshed; commits.

    The delivery becomes pending again, and the attempt does not count.
    """
    with write_transaction():
        if _lock_subscription(claimed) is not None:
            execute(sa.update(_S).where(_S.id == claimed.subscription_id).values(suspended_at=now))
            _settle(claimed, DeliveryState.PENDING)
            execute(sa.update(_D).where(_D.id == claimed.id).values(attempts=claimed.attempts - 1))


def _try_again(claimed: Claimed, asked: timedelta | None, now: datetime) -> None:
    """Schedule a retry, later if the receiver asked for it; abandon after the last attempt."""
    delay = retry_delay(claimed.attempts)
    if delay is None or claimed.kind is DeliveryKind.TERMINATED:
        _settle(claimed, DeliveryState.ABANDONED, now)
    else:
        _settle(claimed, DeliveryState.PENDING, next_at=now + max(delay, asked or delay))


def _settle(
    claimed: Claimed,
    state: DeliveryState,
    settled_at: datetime | None = None,
    next_at: datetime | None = None,
) -> None:
    changed = {"new_state": state, "settled": settled_at, "due": next_at}
    execute(_SETTLE, row=claimed.id, attempt=claimed.attempts, **changed)


def _lock_subscription(claimed: Claimed) -> int | None:
    """Return how many events in a row got 410 before; None if the lease was lost."""
    held = {"row": claimed.id, "attempt": claimed.attempts}
    found = execute(_LOCK_SUBSCRIPTION, subscription=claimed.subscription_id, **held).first()
    return found.gone_count if found else None


def _note_failure(claimed: Claimed, result: AttemptResult, gone_count: int, now: datetime) -> None:
    """Note a failure for the agent; schedule a retry, unless after 410 or 413.

    These two leave the breaker alone: they show that the endpoint works.
    """
    before = sa.select(_A.id).where(_A.delivery_id == claimed.id, _A.status == GONE).limit(1)
    if result.status == GONE and execute(before).first() is None:
        gone_count += 1
    suspended = {"suspended_at": now} if gone_count >= GONE_SUSPENDS else {}
    mine = sa.update(_S).where(_S.id == claimed.subscription_id)
    execute(mine.values(last_failure=result.failure, gone_count=gone_count, **suspended))
    if result.status in (GONE, TOO_LARGE):
        _settle(claimed, DeliveryState.DROPPED, now)
        return
    asked = asked_delay(result.retry_after, now=now)
    _count_failure(claimed.endpoint_id, asked, now)
    _try_again(claimed, asked, now)


def _count_failure(endpoint_id: str, asked: timedelta | None, now: datetime) -> None:
    """Count a failure of the endpoint; pause it if it asked for that or fails too often."""
    mine = _E.id == endpoint_id
    locked = sa.select(_E.failures, _E.paused_until).where(mine).with_for_update(key_share=True)
    failures, paused_until = execute(locked).one()
    if failures >= due.OPEN_AFTER_FAILURES and paused_until is not None and paused_until > now:
        return  # only a failed probe extends the pause
    rest = max(filter(None, (asked, probe_delay(failures + 1))), default=None)
    if rest is not None:
        paused_until = max(now + rest, paused_until or now)
    counted = {"failures": failures + 1, "paused_until": paused_until}
    execute(sa.update(_E).where(mine).values(counted))


def _note_attempt(claimed: Claimed, result: AttemptResult) -> None:
    """Store the attempt; numbers continue when an event is sent again."""
    reply = result.reply[:REPLY_KEPT_BYTES].decode(errors="replace").replace("\0", "\ufffd")
    values = result._asdict() | {"row": claimed.id, "form_id": claimed.form_id}
    values["reply"] = None if result.status is None else reply
    del values["retry_after"]
    execute(_NOTE_ATTEMPT, **values)


# built once, because every attempt runs them
_IS_HELD = sa.and_(
    _D.id == sa.bindparam("row"),
    _D.attempts == sa.bindparam("attempt"),  # after a lost lease the row has another number
    _SENDING,
)
_LOCK_SUBSCRIPTION = (
    sa.select(_S.gone_count)
    .where(_S.id == sa.bindparam("subscription"), sa.exists().where(_IS_HELD))
    .with_for_update(key_share=True, of=_S)
)
_MOMENT = database.UtcDateTime()
_NOTE_DELIVERED = (
    sa.update(cast(sa.Table, _S.__table__))
    .where(_S.id == sa.bindparam("subscription"))
    .values(last_delivery_at=sa.bindparam("moment", type_=_MOMENT), last_failure=None, gone_count=0)
)
_CLOSE_BREAKER = (
    sa.update(cast(sa.Table, _E.__table__))
    .where(_E.id == sa.bindparam("endpoint"), sa.or_(_E.failures > 0, _E.paused_until.is_not(None)))
    .values(failures=0, paused_until=None)
)
_NOTED = ("form_id", "started_at", "duration_ms", "signature", "status", "failure", "reply")
_NOTE_ATTEMPT = sa.insert(cast(sa.Table, _A.__table__)).from_select(
    ["delivery_id", "number", *_NOTED],
    sa.select(
        sa.bindparam("row", type_=sa.String),
        sa.func.coalesce(sa.func.max(_A.number), 0) + 1,
        *(sa.bindparam(name, type_=getattr(_A, name).type) for name in _NOTED),
    ).where(_A.delivery_id == sa.bindparam("row")),
)
_SETTLE = (
    sa.update(outbox.DELIVERIES)
    .where(_IS_HELD)
    .values(
        state=sa.bindparam("new_state", type_=_D.state.type),
        settled_at=sa.bindparam("settled", type_=_MOMENT),
        next_at=sa.func.coalesce(sa.bindparam("due", type_=_MOMENT), _D.next_at),
        renewals=None,
    )
)


MAX_PENDING = 10_000  # deliveries of one subscription
KEPT_DAYS = 30  # after a delivery was settled


def abandon_overflow(*, now: datetime, most: int = MAX_PENDING) -> int:
    """Abandon the oldest events of subscriptions with more than `most` pending; commits.

    Returns how many were abandoned. The next refresh reports to the agent that events are missing.
    """
    overfull = read_rows(_OVERFULL, most=most)
    return sum(_abandon_oldest(row.subscription_id, most, now) for row in overfull)


@tried_again
def _abandon_oldest(subscription_id: str, kept: int, now: datetime) -> int:
    """Abandon all but the newest `kept`; other processes may do the same at the same time."""
    mine = sa.select(_D.id).where(_D.subscription_id == subscription_id, _PENDING)
    oldest = mine.order_by(_D.position.desc()).offset(kept)
    with write_transaction():
        execute(sa.update(_S).where(_S.id == subscription_id).values(dropped=True))
        given_up = sa.update(_D).where(_D.id.in_(oldest), _PENDING)
        return execute(given_up.values(state=DeliveryState.ABANDONED, settled_at=now)).rowcount


@tried_again
def bound_waits(*, now: datetime) -> None:
    """Shorten waits beyond the longest one, written while a clock was ahead; commits."""
    latest, resumed = now + LONGEST_RETRY, now + LONGEST_PAUSE
    with write_transaction():
        execute(sa.update(_D).where(_PENDING, _D.next_at > latest).values(next_at=latest))
        execute(sa.update(_E).where(_E.paused_until > resumed).values(paused_until=resumed))


def purge_settled(now: datetime) -> Iterator[int]:
    """Delete deliveries settled KEPT_DAYS ago and their attempts; yields the rows of each batch."""
    deliveries, attempts = (cast(sa.Table, model.__table__) for model in (_D, _A))
    old = deliveries.c.settled_at <= now - timedelta(days=KEPT_DAYS)
    theirs = attempts.c.delivery_id.in_(sa.select(deliveries.c.id).where(old))
    yield from delete_in_batches(attempts, theirs)
    yield from delete_in_batches(deliveries, old)


_OVERFULL = (
    sa.select(_D.subscription_id)
    .where(_PENDING)
    .group_by(_D.subscription_id)
    .having(sa.func.count() > sa.bindparam("most"))
)

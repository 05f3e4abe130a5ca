"""Which deliveries are due, when they are tried again, and how accounts share the places."""

import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import Enum
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import sqlalchemy as sa

from webapp.base.database import UtcDateTime, execute
from webapp.base.vocabulary import DeliveryKind, DeliveryState
from webapp.records.accounts.models import Account
from webapp.records.events import CallbackEndpoint, EventDelivery, EventSubscription
from webapp.records.forms import Form

AT_ONCE_PER_ENDPOINT = 2
_D, _S, _E = EventDelivery, EventSubscription, CallbackEndpoint
_NOW = sa.bindparam("moment", type_=UtcDateTime())


class Unsettled(NamedTuple):
    """A delivery that waits for an attempt at an endpoint that may be called, or is leased to one.

    failures, duration_ms  of its endpoint
    """

    state: DeliveryState
    id: str
    account_id: str
    endpoint_id: str
    host: str
    failures: int
    duration_ms: int | None
    next_at: datetime


def read_queue_state(now: datetime) -> Any:
    """As operators look at it: how many are `due`, the `oldest` of them, `resting` endpoints."""
    return execute(_QUEUED, moment=now).one()


def _waiting() -> sa.CTE:
    """The subscriptions that have pending deliveries, by one look at the index for each of them."""
    pending = _D.state == DeliveryState.PENDING
    first = sa.select(sa.func.min(_D.subscription_id).label("id")).where(pending)
    found = first.cte("waiting", recursive=True)
    following = sa.select(sa.func.min(_D.subscription_id)).where(
        pending, _D.subscription_id > found.c.id
    )
    return found.union_all(sa.select(following.scalar_subquery()).where(found.c.id.is_not(None)))


def _served() -> sa.CTE:
    """Those of them that may be served, and what kind of deliveries they get."""
    waiting, kinds = _waiting(), _D.__table__.c.kind.type
    kind = sa.case(
        (_S.ended_at.is_(None), sa.literal(DeliveryKind.EVENT, kinds)),
        else_=sa.literal(DeliveryKind.TERMINATED, kinds),
    )
    return (
        sa.select(_S.id, _S.endpoint_id, _E.host, _E.failures, _E.duration_ms, kind.label("kind"))
        .join_from(waiting, _S, _S.id == waiting.c.id)
        .join(_E, _E.id == _S.endpoint_id)
        .join(Form, Form.id == _S.form_id)
        .join(Account, Account.id == _S.account_id)
        .where(
            sa.or_(_S.ended_at.is_not(None), _S.expires_at > _NOW),
            _S.suspended_at.is_(None),
            _S.url.is_not(None),
            _S.secret.is_not(None),
            sa.or_(_E.paused_until.is_(None), _E.paused_until <= _NOW),
            Form.deleted_at.is_(None),
            Account.disabled_at.is_(None),
        )
        .cte("served")
    )


def _unsettled() -> sa.CompoundSelect[*tuple[object, ...]]:
    """The oldest AT_ONCE_PER_ENDPOINT of each subscription, and what is in flight.

    Left out are subscriptions that are suspended or have expired, forms in the trash, disabled
    accounts, and endpoints that rest. One statement, because claims of all processes wait for each
    other.
    """
    served = _served()
    oldest = (
        sa.select(_D.id)
        .where(
            _D.state == DeliveryState.PENDING,
            _D.subscription_id == served.c.id,
            _D.next_at <= _NOW,
            _D.kind == served.c.kind,
        )
        .order_by(_D.next_at, _D.id)  # else one of several is the first and the second
        .limit(1)
    )
    ranks = (
        sa.select(served, oldest.offset(rank).scalar_subquery().label("oldest"))
        for rank in range(AT_ONCE_PER_ENDPOINT)
    )
    each = sa.union_all(*ranks).subquery()
    due = sa.select(
        *(_D.state, _D.id, _D.account_id, each.c.endpoint_id, each.c.host),
        *(each.c.failures, each.c.duration_ms, _D.next_at),
    ).join(each, each.c.oldest == _D.id)
    in_flight = sa.select(
        *(_D.state, _D.id, _D.account_id, _D.endpoint_id, _D.host),
        *(sa.literal(0), sa.literal(0), _D.next_at),
    ).where(_D.state == DeliveryState.SENDING)
    return sa.union_all(due, in_flight)


def _queued() -> sa.Select[*tuple[object, ...]]:
    served = _served()
    resting = sa.select(sa.func.count()).where(_E.paused_until > _NOW).scalar_subquery()
    found = sa.select(
        sa.func.count().label("due"),
        sa.func.min(_D.next_at).label("oldest"),
        resting.label("resting"),
    ).join(served, (served.c.id == _D.subscription_id) & (served.c.kind == _D.kind))
    return found.where(_D.state == DeliveryState.PENDING, _D.next_at <= _NOW)


UNSETTLED = _unsettled()
_QUEUED = _queued()


# after the first attempt, the second and so on; after as many attempts a delivery is abandoned
RETRY_SECONDS = (1, 5, 30, 120, 600, 1800, 3600, 7200)
JITTER = 0.2  # of the schedule, to both sides
RETRY_AFTER_SECONDS = (1, 3600)  # the least and the most that a receiver may ask for
OPEN_AFTER_FAILURES = 5  # in a row: the circuit breaker of the endpoint opens
PROBE_SECONDS = 60  # until its first probe; doubled with each that fails
PROBE_SECONDS_MAX = 900
# a later moment was written while a clock was ahead
LONGEST_RETRY = timedelta(seconds=max(RETRY_SECONDS) * (1 + JITTER))
LONGEST_REST = timedelta(seconds=max(*RETRY_AFTER_SECONDS, PROBE_SECONDS_MAX))


def retry_delay(attempts: int) -> timedelta | None:
    """How long to wait after so many attempts, varied by JITTER; None: that was the last one."""
    if attempts > len(RETRY_SECONDS):
        return None
    varied = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 (no secret)
    return timedelta(seconds=RETRY_SECONDS[attempts - 1] * varied)


def asked_delay(retry_after: str | None, *, now: datetime) -> timedelta | None:
    """What a `Retry-After` header asks for, within bounds (RFC 9110 section 10.2.3).

    None if there is none, or nothing that can be understood.
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
    """For how long an endpoint rests after so many failures in a row; None: its breaker is closed.

    One that rested gets a single attempt, the probe.
    """
    doubled = failures - OPEN_AFTER_FAILURES
    if doubled < 0:
        return None
    return timedelta(seconds=min(PROBE_SECONDS * 2 ** min(doubled, 10), PROBE_SECONDS_MAX))


AT_ONCE_PER_HOST = 8  # host name and port; an account with none there gets one more
SLOW_MS = 1000
KEPT_TURNS = 10_000  # accounts and endpoints whose last turn a process remembers


class Lane(Enum):
    """Kinds of endpoints; each may take the places of a process divided by its value."""

    QUICK = 1
    SLOW = 2
    NEW = 4  # it never answered yet


def lane_of(duration_ms: int | None) -> Lane:
    """The lane of an endpoint with this duration; None: unknown."""
    if duration_ms is None:
        return Lane.NEW
    return Lane.SLOW if duration_ms >= SLOW_MS else Lane.QUICK


class Room:
    """What a process may claim now.

    running  account and lane of each attempt of this process
    served   when accounts and endpoints were served last; updated here
    """

    def __init__(
        self,
        places: int,
        running: Iterable[tuple[str, Lane]] = (),
        served: dict[str, int] | None = None,
    ) -> None:
        self._all = _Shares(places)
        self._lanes = {lane: _Shares(max(1, places // lane.value)) for lane in Lane}
        for account_id, lane in running:
            self._all.take(account_id)
            self._lanes[lane].take(account_id)
        self._hosts = defaultdict[str, _Shares](partial(_Shares, AT_ONCE_PER_HOST, least=1))
        self._accounts, self._endpoints = Counter[str](), Counter[str]()
        self._served = {} if served is None else served

    def choose(self, limit: int, unsettled: Iterable[Unsettled]) -> list[Unsettled]:
        """Up to `limit` of those that are due, given those that are in flight in all processes."""
        waiting = []
        for each in unsettled:
            if each.state is DeliveryState.PENDING:
                waiting.append(each)
            else:
                self._count(each)
        queue = [(self._turn(each), each) for each in waiting]
        heapify(queue)
        chosen: dict[str, Unsettled] = {}
        while queue and len(chosen) < limit:
            turn, each = heappop(queue)
            if each.id in chosen or not self._has_place(each):
                continue
            later = self._turn(each)
            if later > turn:  # others of its account came first
                heappush(queue, (later, each))
                continue
            chosen[each.id] = each
            self._take(each)
        return list(chosen.values())

    def _turn(self, due: Unsettled) -> tuple[object, ...]:
        return (
            self._accounts[due.account_id],
            self._served.get(due.account_id, 0),
            self._endpoints[due.endpoint_id],
            self._served.get(due.endpoint_id, 0),
            due.next_at,
        )

    def _has_place(self, due: Unsettled) -> bool:
        lane = lane_of(due.duration_ms)
        is_probed = lane is Lane.NEW or due.failures >= OPEN_AFTER_FAILURES
        return (
            self._endpoints[due.endpoint_id] < (1 if is_probed else AT_ONCE_PER_ENDPOINT)
            and self._hosts[due.host].has_one_for(due.account_id)
            and self._all.has_one_for(due.account_id)
            and self._lanes[lane].has_one_for(due.account_id)
        )

    def _take(self, due: Unsettled) -> None:
        self._count(due)
        self._all.take(due.account_id)
        self._lanes[lane_of(due.duration_ms)].take(due.account_id)
        if len(self._served) > KEPT_TURNS:
            self._served.clear()
        self._served[due.account_id] = self._served[due.endpoint_id] = time.monotonic_ns()

    def _count(self, each: Unsettled) -> None:
        self._accounts[each.account_id] += 1
        self._endpoints[each.endpoint_id] += 1
        self._hosts[each.host].take(each.account_id)


class _Shares:
    """Places, and who takes them; an account always gets `least`, even if none is free."""

    def __init__(self, places: int, *, least: int = 0) -> None:
        self._free, self._least = places, least
        self._taken_by = Counter[str]()

    def has_one_for(self, account_id: str) -> bool:
        return self._taken_by[account_id] < max(self._free, self._least)

    def take(self, account_id: str) -> None:
        self._free -= 1
        self._taken_by[account_id] += 1

"""Due deliveries, and fair shares of sending places for accounts."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime
from enum import Enum
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import sqlalchemy as sa

from webapp.base.database import UtcDateTime, execute
from webapp.base.vocabulary import DeliveryState
from webapp.records.events import CallbackEndpoint, EventDelivery

AT_ONCE_PER_ENDPOINT = 2
_D = EventDelivery


class Unsettled(NamedTuple):
    """A delivery that may be attempted now, or is leased to an attempt.

    failures, duration_ms  figures of its endpoint
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
    """Return the figures for operators: deliveries `due`, the `oldest`, endpoints `resting`."""
    return execute(_QUEUED, moment=now).one()


def _by_moment(words: str) -> sa.TextClause:
    return sa.text(words).bindparams(sa.bindparam("moment", type_=UtcDateTime()))


# Finds the subscriptions with pending deliveries by one index look-up each, and keeps those that
# may be served, with the kind of delivery they get. Suspended and expired subscriptions, forms in
# the trash, disabled accounts and paused endpoints are left out.
_SERVED = """
WITH RECURSIVE waiting (id) AS (
  SELECT min(subscription_id) FROM event_deliveries WHERE state = 'pending'
  UNION ALL SELECT (
    SELECT min(subscription_id) FROM event_deliveries
    WHERE state = 'pending' AND subscription_id > waiting.id
  ) FROM waiting WHERE id IS NOT NULL
), served AS (
  SELECT s.id, s.endpoint_id, e.host, e.failures, e.duration_ms,
    CASE WHEN s.ended_at IS NULL THEN 'event' ELSE 'terminated' END AS kind
  FROM waiting
  JOIN event_subscriptions s ON s.id = waiting.id
  JOIN callback_endpoints e ON e.id = s.endpoint_id
  JOIN forms f ON f.id = s.form_id
  JOIN accounts a ON a.id = s.account_id
  WHERE (s.ended_at IS NOT NULL OR s.expires_at > :moment)
    AND s.suspended_at IS NULL AND s.url IS NOT NULL AND s.secret IS NOT NULL
    AND (e.paused_until IS NULL OR e.paused_until <= :moment)
    AND f.deleted_at IS NULL AND a.disabled_at IS NULL
)
"""
# the oldest of a subscription; ordered by id, too, or ties could put one row at both ranks
_OLDEST = """
SELECT served.*, (
  SELECT d.id FROM event_deliveries d
  WHERE d.state = 'pending' AND d.subscription_id = served.id AND d.kind = served.kind
    AND d.next_at <= :moment
  ORDER BY d.next_at, d.id LIMIT 1 OFFSET {rank}
) AS oldest FROM served
"""
_EACH = " UNION ALL ".join(_OLDEST.format(rank=rank) for rank in range(AT_ONCE_PER_ENDPOINT))
# one statement, because the claims of all processes wait for each other
UNSETTLED = _by_moment(f"""{_SERVED}
SELECT d.state, d.id, d.account_id, o.endpoint_id, o.host, o.failures, o.duration_ms, d.next_at
FROM event_deliveries d JOIN ({_EACH}) o ON o.oldest = d.id
UNION ALL
SELECT state, id, account_id, endpoint_id, host, 0, 0, next_at
FROM event_deliveries WHERE state = 'sending'
""").columns(  # noqa: S608 (constants)
    *(_D.state, _D.id, _D.account_id, _D.endpoint_id, _D.host),
    *(CallbackEndpoint.failures, CallbackEndpoint.duration_ms, _D.next_at),
)
_QUEUED = _by_moment(f"""{_SERVED}
SELECT count(*) AS due, min(d.next_at) AS oldest,
  (SELECT count(*) FROM callback_endpoints WHERE paused_until > :moment) AS resting
FROM event_deliveries d JOIN served ON served.id = d.subscription_id AND served.kind = d.kind
WHERE d.state = 'pending' AND d.next_at <= :moment
""").columns(due=sa.Integer, oldest=UtcDateTime, resting=sa.Integer)  # noqa: S608 (constants)


OPEN_AFTER_FAILURES = 5  # failures in a row that open the endpoint's circuit breaker
AT_ONCE_PER_HOST = 8  # per host and port; an account without an attempt there gets one more
SLOW_MS = 1000
KEPT_TURNS = 10_000  # accounts and endpoints whose last turn a process remembers


class Lane(Enum):
    """Kinds of endpoints; each may take the places of a process divided by its value."""

    QUICK = 1
    SLOW = 2
    NEW = 4  # has never answered


def lane_of(duration_ms: int | None) -> Lane:
    """Return the lane of an endpoint by its duration; None: never measured."""
    if duration_ms is None:
        return Lane.NEW
    return Lane.SLOW if duration_ms >= SLOW_MS else Lane.QUICK


class Room:
    """The places that a process may fill with claims now.

    running  account and lane of each attempt of this process
    served   times when accounts and endpoints were last served; updated here
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
        self._hosts = defaultdict[str, _Shares](lambda: _Shares(AT_ONCE_PER_HOST, least=1))
        self._accounts, self._endpoints = Counter[str](), Counter[str]()
        self._served = {} if served is None else served

    def choose(self, limit: int, unsettled: Iterable[Unsettled]) -> list[Unsettled]:
        """Choose up to `limit` pending deliveries; leased ones of all processes take up places."""
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
            if later > turn:  # its account or endpoint has been served meanwhile
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
    """Places and their holders; an account always gets `least`, even if none is free."""

    def __init__(self, places: int, *, least: int = 0) -> None:
        self._free, self._least = places, least
        self._taken_by = Counter[str]()

    def has_one_for(self, account_id: str) -> bool:
        return self._taken_by[account_id] < max(self._free, self._least)

    def take(self, account_id: str) -> None:
        self._free -= 1
        self._taken_by[account_id] += 1

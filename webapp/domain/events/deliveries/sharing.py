"""Which due deliveries are sent next: accounts share the places for sending.

A process has places, of which slow and new endpoints may take a part, and so has each host. One
rule holds for all three: an account takes at most as many as it leaves free. Accounts take turns,
then endpoints: least in flight first, then least recently served.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from enum import Enum
from functools import partial
from heapq import heapify, heappop, heappush

from webapp.domain.events.deliveries.due import AT_ONCE_PER_ENDPOINT, Due, InFlight
from webapp.domain.events.deliveries.retries import OPEN_AFTER_FAILURES

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

    def choose(self, limit: int, due: Iterable[Due], in_flight: Iterable[InFlight]) -> list[Due]:
        """Up to `limit` due deliveries, given what is in flight in all processes."""
        for sent in in_flight:
            self._count(sent.account_id, sent.endpoint_id, sent.host)
        queue = [(self._turn(each), each) for each in due]
        heapify(queue)
        chosen: dict[str, Due] = {}
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

    def _turn(self, due: Due) -> tuple[object, ...]:
        return (
            self._accounts[due.account_id],
            self._served.get(due.account_id, 0),
            self._endpoints[due.endpoint_id],
            self._served.get(due.endpoint_id, 0),
            due.next_at,
        )

    def _has_place(self, due: Due) -> bool:
        is_new = lane_of(due.duration_ms) is Lane.NEW
        is_probed = is_new or due.failures >= OPEN_AFTER_FAILURES
        return (
            self._endpoints[due.endpoint_id] < (1 if is_probed else AT_ONCE_PER_ENDPOINT)
            and self._hosts[due.host].has_one_for(due.account_id)
            and self._all.has_one_for(due.account_id)
            and self._lanes[lane_of(due.duration_ms)].has_one_for(due.account_id)
        )

    def _take(self, due: Due) -> None:
        self._count(due.account_id, due.endpoint_id, due.host)
        self._all.take(due.account_id)
        self._lanes[lane_of(due.duration_ms)].take(due.account_id)
        if len(self._served) > KEPT_TURNS:
            self._served.clear()
        self._served[due.account_id] = self._served[due.endpoint_id] = time.monotonic_ns()

    def _count(self, account_id: str, endpoint_id: str, host: str) -> None:
        self._accounts[account_id] += 1
        self._endpoints[endpoint_id] += 1
        self._hosts[host].take(account_id)


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

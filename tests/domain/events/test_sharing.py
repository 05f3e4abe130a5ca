"""Who is chosen of those that are due: places shared by account and by measured duration."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import count

import pytest

from webapp.base.database import utc_now
from webapp.base.vocabulary import DeliveryState
from webapp.events.due import Lane, Room, Unsettled, lane_of

PENDING = DeliveryState.PENDING
QUICK, SLOW, UNKNOWN = 20, 9000, None
PLACES = 16
_numbers = count()


def due(
    account: str,
    endpoints: int = 1,
    each: int = 1,
    *,
    takes: int | None = QUICK,
    at: datetime | None = None,
) -> list[Unsettled]:
    found = []
    for _ in range(endpoints):
        endpoint = f"{account}/{next(_numbers)}"
        for _ in range(each):
            row = f"dlv_{next(_numbers)}"
            rest = 0, takes, at or utc_now()
            found.append(Unsettled(PENDING, row, account, endpoint, endpoint, *rest))
    return found


def chosen(
    waiting: Iterable[Unsettled], *, running: Sequence[tuple[str, Lane]] = (), limit: int = PLACES
) -> Counter[str]:
    room = Room(PLACES, running)
    return Counter(each.account_id for each in room.choose(limit, waiting))


@pytest.mark.parametrize("takes", [QUICK, SLOW, UNKNOWN])
@pytest.mark.parametrize("strangers", [1, 14])
def test_whatever_strangers_have_running_one_place_is_left(
    strangers: int, takes: int | None
) -> None:
    running: list[tuple[str, Lane]] = []
    for _ in range(PLACES):  # in any number of claims
        waiting = [row for n in range(strangers) for row in due(f"stranger {n}", 50, takes=takes)]
        took = chosen(waiting, running=running)
        running += [(account, lane_of(takes)) for account in took.elements()]

    assert len(running) < PLACES
    assert chosen(due("live"), running=running) == {"live": 1}


@pytest.mark.parametrize(("takes", "most"), [(SLOW, 8), (1000, 8), (UNKNOWN, 4), (999, 16)])
def test_slow_and_new_endpoints_leave_places_to_others(takes: int | None, most: int) -> None:
    waiting = [row for n in range(100) for row in due(f"stranger {n}", 3, takes=takes)]
    running = [(f"stranger {n}", lane_of(takes)) for n in range(most)]

    assert chosen(waiting).total() == most
    assert chosen(waiting, running=running).total() == 0
    if most < PLACES:
        others = {"live": QUICK, "new": SLOW if takes is UNKNOWN else UNKNOWN}
        waiting += [row for name, other in others.items() for row in due(name, takes=other)]
        assert chosen(waiting, running=running) == {"live": 1, "new": 1}

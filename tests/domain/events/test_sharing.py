"""Who is chosen of those that are due: places shared by account and by measured duration."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
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
    """So many deliveries to each of so many new endpoints."""
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
    """How many of each account a process with PLACES claims beside what it sends."""
    room = Room(PLACES, running)
    return Counter(each.account_id for each in room.choose(limit, waiting))


@pytest.mark.parametrize("takes", [QUICK, SLOW, UNKNOWN])
@pytest.mark.parametrize("strangers", [1, 2, 5, 14])
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


def test_of_slow_places_an_account_leaves_as_many_as_it_takes() -> None:
    assert chosen(due("stranger", 50, takes=SLOW)) == {"stranger": 4}
    running = [("stranger", Lane.SLOW)] * 4
    assert chosen(due("other", 50, takes=SLOW), running=running) == {"other": 2}
    assert chosen(due("other", 50, takes=UNKNOWN), running=running) == {"other": 2}


def test_an_endpoint_that_never_answered_gets_one_at_a_time() -> None:
    assert chosen(due("a", each=9, takes=UNKNOWN)) == {"a": 1}
    assert chosen(due("a", each=9)) == {"a": 2}


@pytest.mark.parametrize("places", [1, 2, 3])
def test_few_places_are_used(places: int) -> None:
    for takes in (QUICK, SLOW, UNKNOWN):
        assert len(Room(places).choose(places, due("a", 9, takes=takes))) >= 1


def test_places_go_round_by_account_then_by_endpoint() -> None:
    long_ago = utc_now() - timedelta(hours=1)
    busy, quiet = due("busy", 3, each=2, at=long_ago), due("quiet", 2, each=2)

    first = Room(PLACES).choose(5, busy + quiet)

    assert [each.account_id for each in first] == ["busy", "quiet", "busy", "quiet", "busy"]
    assert len({each.endpoint_id for each in first}) == 5


def test_with_one_place_the_least_recently_served_is_next() -> None:
    served: dict[str, int] = {}
    waiting = due("busy", 2, each=50, at=utc_now() - timedelta(hours=1)) + due("quiet", 2, each=9)
    turns = []
    for _ in range(8):
        (taken_now,) = Room(1, served=served).choose(1, waiting)
        waiting.remove(taken_now)
        turns.append(taken_now)

    assert [each.account_id for each in turns] == ["busy", "quiet"] * 4
    for account in ("busy", "quiet"):
        endpoints = [each.endpoint_id for each in turns if each.account_id == account]
        assert endpoints[0] == endpoints[2] != endpoints[1] == endpoints[3]


def test_endpoints_for_which_there_is_no_room_cost_their_account_no_turn() -> None:
    waiting = due("other", 9) + due("live", 50, takes=SLOW) + due("live")
    running = [(f"stranger {n}", Lane.SLOW) for n in range(8)]

    assert chosen(waiting, running=running, limit=2) == {"other": 1, "live": 1}

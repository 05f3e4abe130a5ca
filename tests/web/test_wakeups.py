"""Waiting requests wake on time, are bounded in number, and never miss what they wait for."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from webapp.web.wakeups import NoPlace, Waiting


def never() -> bool:
    return False


@pytest.fixture
def room() -> Waiting:
    return Waiting(most=2)


def test_what_is_already_there_is_returned_at_once(room: Waiting) -> None:
    assert (
        room.wait_until("key", lambda: "found", seconds=20, account_id="acc", gone=never) == "found"
    )


def test_a_notification_wakes_the_waiter(room: Waiting) -> None:
    looked = threading.Event()
    written: list[str] = []

    def look() -> str | None:
        looked.set()
        return written[0] if written else None

    with ThreadPoolExecutor() as pool:
        waiter = pool.submit(room.wait_until, "key", look, seconds=20, account_id="acc", gone=never)
        looked.wait(5)
        written.append("news")
        began = time.monotonic()
        room.notify("key")

        assert waiter.result(5) == "news"
        assert time.monotonic() - began < 0.5


def test_a_notification_between_the_look_and_the_sleep_is_not_lost(room: Waiting) -> None:
    looks: list[int] = []

    def look() -> str | None:
        looks.append(1)
        if len(looks) == 1:
            room.notify("key")
            return None
        return "news"

    began = time.monotonic()
    found = room.wait_until("key", look, seconds=20, account_id="acc", gone=never)

    assert found == "news"
    assert time.monotonic() - began < 0.5


def test_without_any_notification_it_looks_each_second(room: Waiting) -> None:
    looks: list[float] = []

    assert (
        room.wait_until("key", lambda: looks.append(1), seconds=2.5, account_id="acc", gone=never)
        is None
    )
    assert len(looks) == 4


def test_a_client_that_has_gone_is_not_waited_for(room: Waiting) -> None:
    began = time.monotonic()

    assert (
        room.wait_until("key", lambda: None, seconds=20, account_id="acc", gone=lambda: True)
        is None
    )
    assert time.monotonic() - began < 0.5


def places(room: Waiting, account_id: str, wanted: int) -> tuple[ExitStack, int]:
    """As many places as there are up to `wanted`, with what frees them."""
    held = ExitStack()
    for got in range(wanted):
        try:
            held.enter_context(room.place(account_id))
        except NoPlace:
            return held, got
    return held, wanted


def test_who_finds_no_place_is_told_at_once(room: Waiting) -> None:
    held, got = places(room, "acc", 3)
    began = time.monotonic()

    with held, pytest.raises(NoPlace):
        room.wait_until("key", lambda: None, seconds=20, account_id="acc", gone=never)

    assert got == 2
    assert time.monotonic() - began < 0.5


def test_one_account_leaves_places_to_others() -> None:
    room = Waiting(most=128)
    greedy, got = places(room, "greedy", 135)
    with greedy:
        others = [places(room, str(number), 20) for number in range(9)]

    assert (got, [taken for _, taken in others]) == (16, [16] * 7 + [0, 0])


def test_a_place_is_free_again_after_its_use(room: Waiting) -> None:
    for _ in range(3):
        held, got = places(room, "acc", 2)
        with held:
            assert got == 2
    assert dict(room._held) == {}


def test_after_a_stop_there_is_no_place(room: Waiting) -> None:
    room.stop()

    with pytest.raises(NoPlace):
        room.wait_until("key", lambda: None, seconds=20, account_id="acc", gone=never)


def test_a_stop_sends_everybody_home(room: Waiting) -> None:
    with ThreadPoolExecutor() as pool:
        waiter = pool.submit(
            room.wait_until, "key", lambda: None, seconds=20, account_id="acc", gone=never
        )
        time.sleep(0.1)
        began = time.monotonic()
        room.stop()

        assert waiter.result(5) is None
        assert time.monotonic() - began < 0.5


def test_nothing_is_kept_of_a_wait_that_is_over(room: Waiting) -> None:
    room.wait_until("key", lambda: None, 0.01, account_id="acc", gone=never)

    assert room._waiters == {}

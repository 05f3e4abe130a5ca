"""Waiting requests wake on time, are bounded in number, and never miss what they wait for."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from webapp.waiting import Waiting


def never() -> bool:
    return False


@pytest.fixture
def room() -> Waiting:
    return Waiting(most=2)


def test_what_is_already_there_is_returned_at_once(room: Waiting) -> None:
    assert room.wait_until("key", lambda: "found", seconds=20, gone=never) == "found"


def test_a_notification_wakes_the_waiter(room: Waiting) -> None:
    looked = threading.Event()
    written: list[str] = []

    def look() -> str | None:
        looked.set()
        return written[0] if written else None

    with ThreadPoolExecutor() as pool:
        waiter = pool.submit(room.wait_until, "key", look, seconds=20, gone=never)
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
    found = room.wait_until("key", look, seconds=20, gone=never)

    assert found == "news"
    assert time.monotonic() - began < 0.5


def test_without_any_notification_it_looks_each_second(room: Waiting) -> None:
    looks: list[float] = []

    assert room.wait_until("key", lambda: looks.append(1), seconds=2.5, gone=never) is None
    assert len(looks) == 4


def test_a_client_that_has_gone_is_not_waited_for(room: Waiting) -> None:
    began = time.monotonic()

    assert room.wait_until("key", lambda: None, seconds=20, gone=lambda: True) is None
    assert time.monotonic() - began < 0.5


def test_who_finds_no_place_is_answered_at_once(room: Waiting) -> None:
    with room.place() as first, room.place() as second, room.place() as third:
        began = time.monotonic()
        found = room.wait_until("key", lambda: None, seconds=20, gone=never)

    assert [first, second, third] == [True, True, False]
    assert found is None
    assert time.monotonic() - began < 0.5


def test_a_place_is_free_again_after_its_use(room: Waiting) -> None:
    for _ in range(3):
        with room.place() as first, room.place() as second:
            assert first
            assert second


def test_a_stop_sends_everybody_home(room: Waiting) -> None:
    with ThreadPoolExecutor() as pool:
        waiter = pool.submit(room.wait_until, "key", lambda: None, seconds=20, gone=never)
        time.sleep(0.1)
        began = time.monotonic()
        room.stop()

        assert waiter.result(5) is None
        assert time.monotonic() - began < 0.5


def test_nothing_is_kept_of_a_wait_that_is_over(room: Waiting) -> None:
    room.wait_for("key", 0.01)

    assert room._waiters == {}

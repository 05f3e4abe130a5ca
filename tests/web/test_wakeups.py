"""Wakeups requests wake on time, are bounded in number, and never miss what they wait for."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from flask import Flask

from webapp.web.wakeups import THREADS, NoSlot, Wakeups


def never() -> bool:
    return False


@pytest.fixture
def wakeups() -> Wakeups:
    return Wakeups(most=2)


def test_an_available_result_is_returned_immediately(wakeups: Wakeups) -> None:
    assert (
        wakeups.wait_until("key", lambda: "found", seconds=20, account_id="acc", gone=never)
        == "found"
    )


def test_a_notification_wakes_the_waiter(wakeups: Wakeups) -> None:
    looked = threading.Event()
    written: list[str] = []

    def look() -> str | None:
        looked.set()
        return written[0] if written else None

    with ThreadPoolExecutor() as pool:
        waiter = pool.submit(
            wakeups.wait_until, "key", look, seconds=20, account_id="acc", gone=never
        )
        looked.wait(5)
        written.append("news")
        began = time.monotonic()
        wakeups.notify("key")

        assert waiter.result(5) == "news"
        assert time.monotonic() - began < 0.5


def test_a_notification_between_the_read_and_the_sleep_is_not_lost(wakeups: Wakeups) -> None:
    looks: list[int] = []

    def look() -> str | None:
        looks.append(1)
        if len(looks) == 1:
            wakeups.notify("key")
            return None
        return "news"

    began = time.monotonic()
    found = wakeups.wait_until("key", look, seconds=20, account_id="acc", gone=never)

    assert found == "news"
    assert time.monotonic() - began < 0.5


def test_without_a_notification_it_reads_each_second(wakeups: Wakeups) -> None:
    looks: list[float] = []

    assert (
        wakeups.wait_until(
            "key", lambda: looks.append(1), seconds=2.5, account_id="acc", gone=never
        )
        is None
    )
    assert len(looks) == 4


def test_a_client_that_has_gone_is_not_waited_for(wakeups: Wakeups) -> None:
    began = time.monotonic()

    assert (
        wakeups.wait_until("key", lambda: None, seconds=20, account_id="acc", gone=lambda: True)
        is None
    )
    assert time.monotonic() - began < 0.5


def take_slots(wakeups: Wakeups, account_id: str, wanted: int) -> tuple[ExitStack, int]:
    """As many slots as are free, up to `wanted`, and what releases them."""
    held = ExitStack()
    for got in range(wanted):
        try:
            held.enter_context(wakeups.slot(account_id))
        except NoSlot:
            return held, got
    return held, wanted


def test_a_wait_without_a_slot_is_refused_at_once(wakeups: Wakeups) -> None:
    held, got = take_slots(wakeups, "acc", 3)
    began = time.monotonic()

    with held, pytest.raises(NoSlot):
        wakeups.wait_until("key", lambda: None, seconds=20, account_id="acc", gone=never)

    assert got == 2
    assert time.monotonic() - began < 0.5


def test_one_account_leaves_slots_to_others() -> None:
    wakeups = Wakeups(most=128)
    greedy, got = take_slots(wakeups, "greedy", 135)
    with greedy:
        others = [take_slots(wakeups, str(number), 20) for number in range(9)]

    assert (got, [taken for _, taken in others]) == (16, [16] * 7 + [0, 0])


def test_waits_and_calls_of_models_together_hold_half_of_the_threads(app: Flask) -> None:
    held, got = take_slots(app.extensions["wakeups"], "acc", 16)
    with held:
        models = [take_slots(app.extensions["wakeups"], str(number), 16) for number in range(9)]
        for each, _ in models:
            each.close()

    assert got + sum(taken for _, taken in models) == THREADS / 2


def test_a_slot_is_free_again_after_its_use(wakeups: Wakeups) -> None:
    for _ in range(3):
        held, got = take_slots(wakeups, "acc", 2)
        with held:
            assert got == 2
    assert dict(wakeups._held) == {}


def test_after_a_stop_new_waits_are_rejected(wakeups: Wakeups) -> None:
    wakeups.stop()

    with pytest.raises(NoSlot):
        wakeups.wait_until("key", lambda: None, seconds=20, account_id="acc", gone=never)


def test_a_stop_wakes_all_waiters(wakeups: Wakeups) -> None:
    with ThreadPoolExecutor() as pool:
        waiter = pool.submit(
            wakeups.wait_until, "key", lambda: None, seconds=20, account_id="acc", gone=never
        )
        time.sleep(0.1)
        began = time.monotonic()
        wakeups.stop()

        assert waiter.result(5) is None
        assert time.monotonic() - began < 0.5


def test_a_finished_wait_leaves_no_state(wakeups: Wakeups) -> None:
    wakeups.wait_until("key", lambda: None, 0.01, account_id="acc", gone=never)

    assert wakeups._waiters == {}

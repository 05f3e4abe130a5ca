"""Waits are woken on time, bounded in number, and never miss what they wait for."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from flask import Flask

from webapp.web.wakeups import MOST, OF_ACCOUNT, WAITED, NoSlot, Parked, Wakeups


@pytest.fixture
def wakeups() -> Wakeups:
    return Wakeups(most=2)


@pytest.fixture
def wait(app: Flask, wakeups: Wakeups) -> Callable[..., object]:
    """A wait as another server than ours would have it: in its thread."""

    def waiting(look: Callable[[], object], seconds: float = 20) -> object:
        with app.test_request_context("/"):
            return wakeups.wait_until("key", look, seconds, account_id="acc")

    return waiting


def test_a_notification_wakes_a_wait_also_between_look_and_sleep(
    wakeups: Wakeups, wait: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.web.wakeups.LOOK_SECONDS", 60)
    looks: list[int] = []

    def look() -> str | None:
        looks.append(1)
        if len(looks) == 1:
            wakeups.notify("key")
        return "news" if len(looks) > 1 else None

    assert wait(look) == "news"
    assert wakeups._held == {}
    assert wakeups._listeners == {}


def test_a_stop_wakes_waits_and_refuses_new_ones(
    wakeups: Wakeups, wait: Callable[..., object]
) -> None:
    looked = threading.Event()
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(wait, lambda: looked.set())
        assert looked.wait(5)
        wakeups.stop()

        assert waiting.result(5) is None
    with pytest.raises(NoSlot):
        wait(lambda: None)


def test_behind_our_server_a_wait_leaves_its_view_and_is_asked_when_it_runs_again(
    app: Flask, wakeups: Wakeups
) -> None:
    with app.test_request_context("/", environ_base={WAITED: {}}) as context:
        with pytest.raises(Parked) as parked:
            wakeups.wait_until("key", lambda: "first", 20, account_id="acc")
        context.request.environ[WAITED]["key"] = parked.value.wait
        parked.value.wait.release()

        assert wakeups.wait_until("key", lambda: "second", 20, account_id="acc") == "first"
        assert wakeups._held == {}


def taken(wakeups: Wakeups, account_id: str, wanted: int, held: ExitStack) -> int:
    """How many slots an account gets of so many."""
    for got in range(wanted):
        try:
            held.enter_context(wakeups.slot(account_id))
        except NoSlot:
            return got
    return wanted


def test_one_account_leaves_slots_to_others() -> None:
    wakeups = Wakeups(MOST)
    with ExitStack() as held:
        greedy = taken(wakeups, "greedy", MOST, held)
        others = [taken(wakeups, str(number), 20, held) for number in range(9)]

    assert (greedy, others) == (OF_ACCOUNT, [OF_ACCOUNT] * 7 + [0, 0])
    assert wakeups._held == {}

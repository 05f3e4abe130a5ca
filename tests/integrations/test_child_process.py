"""A child is started when needed, asked one thing at a time, ended when idle or stuck."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from tests.services import wait_until
from webapp.voice import child_process
from webapp.voice.child_process import (
    PROGRAM,
    ChildBusy,
    ChildFailed,
    ChildKilled,
    ChildProcess,
    Turns,
)

MODULE = "tests.integrations.obedient_child"

NewChild = Callable[..., ChildProcess]


@pytest.fixture
def new_child() -> Iterator[NewChild]:
    made: list[ChildProcess] = []

    def new(module: str = MODULE, **changed: Any) -> ChildProcess:
        made.append(ChildProcess(module, **changed))
        return made[-1]

    yield new
    for child in made:
        child.end()


def ask(child: ChildProcess, **request: float) -> int:
    return int(child.call(request, [], seconds=5)["pid"])


def is_gone(pid: int) -> bool:
    """Whether no process has that id, not even as a zombie."""
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return False
    return True


def test_it_gets_no_secret_of_the_environment(
    new_child: NewChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "a secret")
    monkeypatch.setenv("NAMED", "a setting of its library")
    child = new_child(environment=["NAMED"])
    assert child.pid is None
    names = str(child.call({}, [], seconds=5)["read"]).split(",")

    assert "NAMED" in names
    assert "SECRET_KEY" not in names
    assert ask(child) == ask(child) == child.pid


def test_an_idle_one_ends_and_leaves_no_zombie(new_child: NewChild) -> None:
    child = new_child(idle_seconds=0.2)
    pid = ask(child)

    wait_until(lambda: is_gone(pid), "its end", 5)
    assert child.pid is None
    assert ask(child) != pid


@pytest.mark.parametrize(
    ("request_", "seconds", "reason"),
    [({"sleep": 60}, 0.2, "longer than"), ({"status": 3}, 5, "3")],
)
def test_one_that_hangs_or_breaks_is_ended_and_another_serves(
    new_child: NewChild, request_: dict[str, float], seconds: float, reason: str
) -> None:
    child = new_child()
    pid = ask(child)
    with pytest.raises(ChildKilled, match=reason):
        child.call(request_, [], seconds=seconds)

    assert is_gone(pid)
    assert ask(child) != pid


def test_one_that_cannot_start_says_why(new_child: NewChild) -> None:
    child = new_child("tests.integrations.no_child")

    with pytest.raises(ChildFailed, match="ModuleNotFoundError: .*no_child"):
        ask(child)
    assert child.pid is None


def test_one_that_takes_too_long_to_start_is_killed(
    new_child: NewChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "START_SECONDS", 0.5)
    child = new_child(fixed={"PREPARE_SECONDS": "60"})
    with pytest.raises(ChildFailed):
        ask(child)

    assert child.pid is None


def test_the_end_of_the_service_leaves_it_time_to_answer(new_child: NewChild) -> None:
    child = new_child()
    pid = ask(child)
    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(ask, child, sleep=0.5)
        time.sleep(0.2)
        os.kill(pid, signal.SIGTERM)
        assert call.result() == pid


def test_only_so_many_requests_wait(new_child: NewChild) -> None:
    child = new_child(at_once=3)
    ask(child)
    with ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(ask, child, sleep=0.3) for _ in range(4)]
        results = [type(call.exception()) for call in calls]

    assert (results.count(ChildBusy), results.count(type(None))) == (1, 3)


def test_turns_go_in_the_order_of_arrival_and_nobody_waits_for_ever() -> None:
    turns = Turns(5, wait_seconds=5)
    came: list[str] = []

    def come(name: str) -> None:
        with turns.turn():
            came.append(name)

    waiting = [threading.Thread(target=come, args=(name,)) for name in ("first", "second")]
    with turns.turn():
        for number, each in enumerate(waiting, 2):
            each.start()
            wait_until(lambda number=number: len(turns._line) == number, "its turn", 5)  # type: ignore[misc]
        with pytest.raises(ChildBusy), turns.turn(wait_seconds=0.01):
            pass
    come("last")
    for each in waiting:
        each.join()

    assert came == ["first", "second", "last"]
    with turns.turn(0):
        assert len(turns._line) == 1


def test_the_end_of_the_parent_ends_it_at_work() -> None:
    code = (
        "from webapp.voice.child_process import ChildProcess\n"
        f"child = ChildProcess({MODULE!r})\n"
        "print(child.call({}, [], seconds=5)['pid'], flush=True)\n"
        "child.call({'sleep': 60}, [], seconds=60)\n"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.2)
        parent.kill()

    wait_until(lambda: is_gone(pid), "its end", 5)


def test_a_request_that_nobody_ends_ends_by_itself() -> None:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", PROGRAM, MODULE, "60"]
    with ours, theirs, subprocess.Popen(command, stdin=theirs.fileno()) as process:
        assert ours.recv(100) == b"{}\n"
        ours.send(b'{"sleep": 60, "seconds": -0.8}\n')
        assert process.wait(5) == -signal.SIGALRM

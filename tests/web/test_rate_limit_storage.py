"""Limits hold in each process whatever its Redis does: full, read-only, hanging, gone."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

import pytest
import redis
from flask import Flask
from limits import parse
from limits.strategies import MovingWindowRateLimiter

from tests.oauth.flow import EMAIL, PASSWORD, sign_in
from tests.services import free_port, redis_server
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.records.accounts import invites
from webapp.web.limiter import BREATH_SECONDS, LimitStorage, limiter

LIMIT = parse("5/minute")


@dataclass
class Server:
    """A Redis that does what a test wants."""

    url: str
    connection: redis.Redis
    pid: int

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)


Fault = Callable[[Server], object]


def full(server: Server) -> None:
    server.connection.config_set("maxmemory", "1")


def read_only(server: Server) -> None:
    server.connection.replicaof("127.0.0.1", free_port())


def without_replicas(server: Server) -> None:
    server.connection.config_set("min-replicas-to-write", "1")


def hung(server: Server) -> None:
    server.signal(signal.SIGSTOP)


def dead(server: Server) -> None:
    server.signal(signal.SIGKILL)


FAULTS = [full, read_only, without_replicas, hung, dead]
PAUSED, AWAKE = float("inf"), 0.0


@pytest.fixture
def server() -> Iterator[Server]:
    with redis_server() as url, redis.from_url(url) as connection:
        yield Server(url, connection, connection.info()["process_id"])


@pytest.fixture
def settings(settings: Settings, server: Server) -> Settings:
    return settings.model_copy(update={"redis_url": server.url})


class Process(MovingWindowRateLimiter):
    """What counts in one server process."""

    storage: Any

    def __init__(self, server: Server) -> None:
        super().__init__(LimitStorage(redis_url=server.url))

    def passed(self, calls: int, *, paused: float = AWAKE) -> int:
        """How many of so many parallel calls of one key are let through."""
        self.storage._paused_until = paused
        with ThreadPoolExecutor(calls) as threads:
            passed = sum(threads.map(lambda _: self.hit(LIMIT, "key"), range(calls)))
        if paused:
            self.storage._paused_until = AWAKE
        return passed

    def give_back(self) -> None:
        self.storage.give_back(LIMIT.key_for("key"))


def test_processes_share_a_limit_through_redis(server: Server) -> None:
    first, second = Process(server), Process(server)

    assert (first.passed(3), second.passed(9), first.passed(9)) == (3, 2, 0)
    for _ in range(2):
        second.give_back()
    assert first.passed(9) == 2  # what was refused is not counted here


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("before", "paused"), [(2, AWAKE), (4, PAUSED)])
def test_each_process_lets_its_limit_pass(
    fault: Fault, server: Server, before: int, paused: float
) -> None:
    limiter = Process(server)
    limiter.passed(before, paused=paused)

    fault(server)

    assert before + limiter.passed(30) == LIMIT.amount


def test_three_errors_in_a_row_pause_redis_and_an_answer_resets_their_count(
    server: Server,
) -> None:
    other, limiter = Process(server), Process(server)
    other.passed(LIMIT.amount)

    full(server)
    for key, pauses in (("a", 0), ("b", 0), ("key", 0), ("c", 0), ("d", 0), ("e", 1)):
        limiter.storage._paused_until = AWAKE
        limiter.hit(LIMIT, key)
        until = limiter.storage._paused_until
        assert (until > time.monotonic() + BREATH_SECONDS) == bool(pauses)
    server.connection.config_set("maxmemory", "0")
    assert (limiter.passed(1), other.passed(1)) == (0, 0)  # it counts again


def test_a_call_is_uncounted_where_it_was_counted_and_no_other_is(server: Server) -> None:
    first, second = Process(server), Process(server)
    first.passed(5)
    first.give_back()
    assert (second.passed(9), first.passed(9)) == (1, 0)

    server.connection.flushall()
    first, second = Process(server), Process(server)
    second.passed(5)
    first.passed(1, paused=PAUSED)
    first.give_back()
    assert first.passed(9) == 0


def test_a_call_that_redis_refuses_uncounts_no_other(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Process(server), Process(server)
    ask = first.storage._ask
    second.passed(4)

    def after_another_call(question: Callable[..., bool]) -> bool | None:
        monkeypatch.setattr(first.storage, "_ask", ask)
        assert first.passed(1) == 1
        answer: bool | None = ask(question)
        return answer

    monkeypatch.setattr(first.storage, "_ask", after_another_call)
    assert first.passed(1) == 0
    first.give_back()

    assert second.passed(9) == 1


def test_a_write_waits_at_most_half_a_second_for_a_redis_that_hangs(
    server: Server, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks once, for as long as connecting and answering may take."""
    storage = cast(Any, limiter.storage)
    pool, ask = storage._redis.storage.connection_pool.connection_kwargs, storage._ask
    waited: list[float] = []

    def count(question: Callable[[Any], Any]) -> Any:
        def counted(redis: Any) -> Any:
            waited.append(pool["socket_connect_timeout"] + pool["socket_timeout"])
            return question(redis)

        return ask(counted)

    monkeypatch.setattr(storage, "_ask", count)
    monkeypatch.setattr("webapp.web.limiter.BREATH_SECONDS", 60)
    hung(server)

    sign_in(app.test_client(), password="wrong")  # which several limits count

    assert sum(waited) == 0.5


def storm(server: Server, seconds: float) -> list[int]:
    """How many calls of one key two processes let through, while Redis is full, hangs and is well
    again a few times each second.
    """
    limit, end, stop = parse("40/hour"), time.monotonic() + seconds, threading.Event()

    def flap() -> None:
        while not stop.wait(0.1):
            server.connection.config_set("maxmemory", "1")
            time.sleep(0.1)
            server.connection.config_set("maxmemory", "0")
            hung(server)
            time.sleep(0.3)
            server.signal(signal.SIGCONT)

    def call(limiter: Process) -> int:
        passed = 0
        while time.monotonic() < end:
            passed += limiter.hit(limit, "key")
            time.sleep(0.01)
        return passed

    processes = [Process(server), Process(server)]
    with ThreadPoolExecutor(17) as threads:
        threads.submit(flap)
        runs = [threads.map(call, [each] * 8) for each in processes]
        counts = [sum(run) for run in runs]
        stop.set()
    return counts


@pytest.mark.parametrize("seconds", [2, pytest.param(60, marks=pytest.mark.prove)])
def test_each_process_keeps_its_limit_while_redis_flaps(seconds: float, server: Server) -> None:
    first, second = storm(server, seconds)

    assert max(first, second) <= 40 <= first + second


@pytest.mark.parametrize("fault", [hung, dead])
def test_people_sign_in_and_guessing_stays_limited(
    fault: Fault, server: Server, app: Flask
) -> None:
    with app.app_context():
        for email in (EMAIL, "bob@example.com"):
            invites.create_account(email, "Ann", PASSWORD, now=utc_now())

    def guess(_number: int) -> int:
        return sign_in(app.test_client(), "bob@example.com", "wrong").status_code

    before = guess(0)
    fault(server)
    with ThreadPoolExecutor(10) as threads:
        statuses = [before, *threads.map(guess, range(30))]

    assert (statuses.count(422), statuses.count(429)) == (5, 26)
    assert sign_in(app.test_client()).status_code == 303

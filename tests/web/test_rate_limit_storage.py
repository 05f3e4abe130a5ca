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
Fault = Callable[[Server], None]


@pytest.fixture
def server() -> Iterator[Server]:
    with redis_server() as url, redis.from_url(url) as connection:
        yield Server(url, connection, connection.info()["process_id"])


@pytest.fixture
def settings(settings: Settings, server: Server) -> Settings:
    return settings.model_copy(update={"redis_url": server.url})


def process(server: Server) -> MovingWindowRateLimiter:
    """What counts in one server process."""
    return MovingWindowRateLimiter(LimitStorage(redis_url=server.url))


def passed(limiter: MovingWindowRateLimiter, calls: int) -> int:
    """How many of so many parallel calls of one key are let through."""
    with ThreadPoolExecutor(calls) as threads:
        return sum(threads.map(lambda _: limiter.hit(LIMIT, "key"), range(calls)))


def test_processes_share_a_limit_through_redis(server: Server) -> None:
    first, second = process(server), process(server)

    assert (passed(first, 3), passed(second, 9), passed(first, 9)) == (3, 2, 0)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_process_lets_its_limit_pass(fault: Fault, server: Server) -> None:
    limiter = process(server)
    before = passed(limiter, 2)

    fault(server)

    assert before + passed(limiter, 30) == LIMIT.amount


@pytest.mark.parametrize("fault", FAULTS)
def test_an_unreliable_redis_lets_no_more_calls_pass(fault: Fault, server: Server) -> None:
    limiter = process(server)
    limiter.storage._paused_until = float("inf")  # type: ignore[attr-defined]
    before = passed(limiter, 4)
    limiter.storage._paused_until = 0.0  # type: ignore[attr-defined]

    fault(server)

    assert before + passed(limiter, 9) == LIMIT.amount


def test_three_errors_in_a_row_pause_redis_and_an_answer_resets_their_count(
    server: Server,
) -> None:
    other, limiter = process(server), process(server)
    passed(other, LIMIT.amount)
    storage: Any = limiter.storage

    full(server)
    for key, pauses in (("a", 0), ("b", 0), ("key", 0), ("c", 0), ("d", 0), ("e", 1)):
        storage._paused_until = 0.0
        limiter.hit(LIMIT, key)
        assert (storage._paused_until > time.monotonic() + BREATH_SECONDS) == bool(pauses)


def test_after_the_pause_redis_counts_again(server: Server) -> None:
    first, second = process(server), process(server)
    full(server)
    for key in "abc":
        first.storage._paused_until = 0.0  # type: ignore[attr-defined]
        first.hit(LIMIT, key)
    server.connection.config_set("maxmemory", "0")
    first.storage._paused_until = 0.0  # type: ignore[attr-defined]

    assert (passed(first, 1), passed(first, 3), passed(second, 9)) == (1, 3, 1)


def test_a_call_is_uncounted_where_it_was_counted(server: Server) -> None:
    first, second = process(server), process(server)
    passed(first, 5)

    first.storage.give_back(LIMIT.key_for("key"))  # type: ignore[attr-defined]

    assert (passed(second, 9), passed(first, 9)) == (1, 0)


def test_a_call_not_counted_by_redis_uncounts_no_other(server: Server) -> None:
    first, second = process(server), process(server)
    passed(second, 5)
    first.storage._paused_until = float("inf")  # type: ignore[attr-defined]
    passed(first, 1)
    first.storage._paused_until = 0.0  # type: ignore[attr-defined]

    first.storage.give_back(LIMIT.key_for("key"))  # type: ignore[attr-defined]

    assert passed(first, 9) == 0


def test_a_call_that_redis_refuses_uncounts_no_other(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = process(server), process(server)
    ask = first.storage._ask  # type: ignore[attr-defined]
    passed(second, 4)

    def after_another_call(question: Callable[..., bool]) -> bool | None:
        monkeypatch.setattr(first.storage, "_ask", ask)
        assert passed(first, 1) == 1
        answer: bool | None = ask(question)
        return answer

    monkeypatch.setattr(first.storage, "_ask", after_another_call)
    assert passed(first, 1) == 0
    first.storage.give_back(LIMIT.key_for("key"))  # type: ignore[attr-defined]

    assert passed(second, 9) == 1


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


def flap(server: Server, stop: threading.Event) -> None:
    """Full, hanging and well again, a few times each second."""
    while not stop.wait(0.1):
        server.connection.config_set("maxmemory", "1")
        time.sleep(0.1)
        server.connection.config_set("maxmemory", "0")
        server.signal(signal.SIGSTOP)
        time.sleep(0.3)
        server.signal(signal.SIGCONT)


def storm(server: Server, seconds: float) -> list[int]:
    """How many calls of one key two processes let through meanwhile."""
    limit, end, stop = parse("40/hour"), time.monotonic() + seconds, threading.Event()

    def call(limiter: MovingWindowRateLimiter) -> int:
        passed = 0
        while time.monotonic() < end:
            passed += limiter.hit(limit, "key")
            time.sleep(0.01)
        return passed

    processes = [process(server), process(server)]
    with ThreadPoolExecutor(17) as threads:
        threads.submit(flap, server, stop)
        runs = [threads.map(call, [each] * 8) for each in processes]
        counts = [sum(run) for run in runs]
        stop.set()
    return counts


@pytest.mark.parametrize("seconds", [2, pytest.param(60, marks=pytest.mark.prove)])
def test_each_process_keeps_its_limit_while_redis_flaps(seconds: float, server: Server) -> None:
    first, second = storm(server, seconds)

    assert max(first, second) <= 40 <= first + second


@pytest.mark.parametrize("fault", FAULTS)
def test_guessing_stays_limited(fault: Fault, server: Server, app: Flask) -> None:
    with app.app_context():
        invites.create_account(EMAIL, "Ann", PASSWORD, now=utc_now())

    def guess(_number: int) -> int:
        return sign_in(app.test_client(), password="wrong").status_code

    before = guess(0)
    fault(server)
    with ThreadPoolExecutor(10) as threads:
        statuses = [before, *threads.map(guess, range(30))]

    assert (statuses.count(422), statuses.count(429)) == (5, 26)

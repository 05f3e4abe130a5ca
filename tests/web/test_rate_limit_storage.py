"""Limits hold in each process whatever its Redis does: full, read-only, hanging, gone."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
import redis
from limits import parse
from limits.strategies import MovingWindowRateLimiter

from tests.services import redis_server
from webapp.web.limiter import LimitStorage

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


def hung(server: Server) -> None:
    server.signal(signal.SIGSTOP)


def dead(server: Server) -> None:
    server.signal(signal.SIGKILL)


PAUSED, AWAKE = float("inf"), 0.0


@pytest.fixture
def server() -> Iterator[Server]:
    with redis_server() as url, redis.from_url(url) as connection:
        yield Server(url, connection, connection.info()["process_id"])


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


def test_processes_share_a_limit_through_redis(server: Server) -> None:
    first, second = Process(server), Process(server)

    assert (first.passed(3), second.passed(9), first.passed(9)) == (3, 2, 0)
    for _ in range(2):
        second.storage.give_back(LIMIT.key_for("key"))
    assert first.passed(9) == 2  # what was refused is not counted here


@pytest.mark.parametrize("fault", [full, hung, dead])
@pytest.mark.parametrize(("before", "paused"), [(2, AWAKE), (4, PAUSED)])
def test_each_process_lets_its_limit_pass(
    fault: Fault, server: Server, before: int, paused: float
) -> None:
    limiter = Process(server)
    limiter.passed(before, paused=paused)

    fault(server)

    assert before + limiter.passed(30) == LIMIT.amount

"""Limits hold in each process whatever its Redis does: full, read-only, hanging, gone."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
import redis
from flask import Flask
from limits import parse
from limits.strategies import MovingWindowRateLimiter

from tests.oauth.flow import EMAIL, PASSWORD, sign_in
from tests.services import redis_server
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.records.accounts import invites
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

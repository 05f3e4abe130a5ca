"""Redis hangs, dies and comes back empty under respondents: nobody sees it, all is delivered."""

import os
import signal
import time
from dataclasses import dataclass, field

import pytest
import redis
from flask import Flask

from tests.factories import make_account, make_form
from tests.jobs.receiving import Receivers, subscribe
from tests.jobs.test_processes import (
    POSTGRESQL,
    THREE_QUESTIONS,
    Production,
    all_delivered,
    beside,
    place,
    states,
    variables,
)
from tests.proof.killing import Respondents
from tests.services import free_port, redis_server, wait_until

__all__ = ["beside", "place", "variables"]


@dataclass
class Timed(Production):
    """Notes how long each exchange took, and when it ended."""

    exchanges: list[tuple[float, float]] = field(default_factory=list)

    def send(self, method: str, path: str, body: str, cookie: str = "") -> int:
        began = time.monotonic()
        try:
            return super().send(method, path, body, cookie)
        finally:
            self.exchanges.append((time.monotonic(), time.monotonic() - began))

    def p99(self, since: float) -> float:
        took = sorted(seconds for ended, seconds in self.exchanges if ended >= since)
        return took[int(len(took) * 0.99)]


@POSTGRESQL
@pytest.mark.parametrize(
    "seconds",
    [pytest.param(1.5, marks=pytest.mark.timeout(300)), pytest.param(60, marks=pytest.mark.prove)],
)
def test_nobody_who_answers_notices(
    beside: Flask, variables: dict[str, str], place: Receivers, seconds: float
) -> None:
    port = free_port()
    with redis_server(port) as url:
        target = Timed(variables, redis_url=url)
        with beside.app_context():
            form = make_form(make_account().id, questions=THREE_QUESTIONS)
            subscribe(form, f"{place.origin}/all")
        respondents = Respondents(target, form.share_token)
        with redis.Redis.from_url(url) as look:
            process_id = look.info("server")["process_id"]
        with target.up():
            with respondents.at_work():
                respondents.wait_for(40)
                time.sleep(seconds / 6)
                before = target.p99(since=0)
                lost_at = time.monotonic()
                os.kill(process_id, signal.SIGSTOP)
                time.sleep(seconds)
                os.kill(process_id, signal.SIGKILL)
                time.sleep(seconds / 3)
                without = target.p99(since=lost_at)
            with redis_server(port):
                wait_until(lambda: all_delivered(beside), "delivering the rest", seconds=60)

    print(f"p99 {before * 1000:.0f} ms, without Redis {without * 1000:.0f} ms, {states(beside)}")
    assert respondents.refusals == []
    assert states(beside)
    assert without - before <= (0.4 if seconds == 60 else 1)

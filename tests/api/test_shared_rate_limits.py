"""Write limits of two server processes with a real Redis that hangs, stops and restarts."""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
import redis
from flask import Flask

from tests.command import DATA_KEYS, start
from tests.factories import make_account
from tests.services import free_port, postgresql_database, redis_server, wait_until
from webapp.app.factory import create_app
from webapp.base.config_environment import read_settings
from webapp.base.database import db, schema, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token

LIMIT = 6
MINUTE = 60
ON_A_BUSY_MACHINE = 2.5  # seconds of a write that waits for nothing but its turn


class Write(NamedTuple):
    """The response to a write, and its seconds."""

    status: int
    seconds: float
    retry_after: str | None


@dataclass
class Installation:
    """Two server processes on one PostgreSQL and one Redis; `app` works beside them."""

    app: Flask
    ports: tuple[int, int]
    client: httpx.Client
    redis: redis.Redis
    redis_pid: int

    def new_token(self) -> str:
        """An access token of a new account, with no write counted yet."""
        with self.app.app_context():
            api_url = self.app.config["SETTINGS"].api_url
            return issue_token(make_account().id, [Scope.FORMS_WRITE], api_url, now=utc_now())

    def writes(self, token: str, servers: Sequence[int]) -> list[Write]:
        """One write at each of these servers after another."""
        return [self._write(server, token) for server in servers]

    def wait_for_redis(self, server: int) -> None:
        """Wait until this server uses Redis again, which it pauses for 5 s after three errors."""
        before = self.redis.dbsize()

        def counted() -> bool:
            time.sleep(0.2)
            self._write(server, self.new_token())  # one that has reached its limit asks nobody
            return self.redis.dbsize() > before

        wait_until(counted, "coming back to Redis")

    def signal_redis(self, number: signal.Signals) -> None:
        os.kill(self.redis_pid, number)

    def _write(self, server: int, token: str) -> Write:
        began = time.monotonic()
        answer = self.client.post(
            f"http://127.0.0.1:{self.ports[server]}/api/drafts",
            headers={"Authorization": f"Bearer {token}"},
            json={},
        )
        seconds = time.monotonic() - began
        return Write(answer.status_code, seconds, answer.headers.get("Retry-After"))


@contextmanager
def running(environment: dict[str, str], port: int) -> Iterator[None]:
    """`askback web` on this port."""
    server = start("web", **environment | {"PORT": str(port)})
    try:
        wait_until(lambda: is_ready(port) or server.poll() is not None, "starting a server")
        yield
    finally:
        server.kill()
        server.communicate()


def is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=2).is_success
    except httpx.TransportError:
        return False


@contextmanager
def installation(postgresql_url: str, data: Path) -> Iterator[Installation]:
    with ExitStack() as stack:
        database = stack.enter_context(postgresql_database(postgresql_url))
        redis_url = stack.enter_context(redis_server())
        ports = free_port(), free_port()
        environment = {
            "DATABASE_URL": database,
            "SECRET_KEY": "Zk3vQ9xTq1LwY7uB5nHs2RfDcM8aJp4E",
            "DATA_KEYS": DATA_KEYS,
            "PUBLIC_URL": f"http://127.0.0.1:{ports[0]}",
            "LIMIT_CREATE_DRAFT": f"{LIMIT}/minute",
            "ASKBACK_DATA": str(data),
        }
        app = create_app(read_settings(environment))
        with app.app_context():
            schema.upgrade()
        for port in ports:
            changed = {"PORT": str(port), "REDIS_URL": redis_url}
            stack.enter_context(running(environment | changed, port))
        client = stack.enter_context(httpx.Client(timeout=30))
        with redis.from_url(redis_url) as connection:
            yield Installation(app, ports, client, connection, connection.info()["process_id"])
        with app.app_context():
            db.engine.dispose()


Record = dict[str, list[Write]]


@pytest.fixture(scope="module")
def record(postgresql_url: str, tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The responses to eight writes in each state of Redis."""
    alternating, one_server = [0, 1] * 4, [1] * 8
    record: Record = {}
    with installation(postgresql_url, tmp_path_factory.mktemp("limits")) as here:
        record["well"] = here.writes(here.new_token(), alternating)
        here.signal_redis(signal.SIGSTOP)
        record["hung"] = here.writes(here.new_token(), one_server)
        here.signal_redis(signal.SIGCONT)
        here.wait_for_redis(server=1)
        record["back"] = here.writes(here.new_token(), alternating)
        here.signal_redis(signal.SIGKILL)
        record["dead"] = here.writes(here.new_token(), one_server)
    return record


@pytest.mark.parametrize("state", ["well", "back"])
def test_limits_hold_across_processes(state: str, record: Record) -> None:
    assert [write.status for write in record[state]] == [201] * LIMIT + [429] * 2


@pytest.mark.parametrize("state", ["hung", "dead"])
def test_limits_hold_in_each_process_without_redis(state: str, record: Record) -> None:
    assert [write.status for write in record[state]] == [201] * LIMIT + [429] * 2


@pytest.mark.parametrize("state", ["hung", "dead"])
def test_a_write_waits_at_most_half_a_second_for_redis(state: str, record: Record) -> None:
    assert max(write.seconds for write in record[state]) < 0.5 + ON_A_BUSY_MACHINE


@pytest.mark.parametrize("state", ["well", "hung", "back", "dead"])
def test_only_a_refusal_says_how_long_to_wait(state: str, record: Record) -> None:
    waits = [write.retry_after for write in record[state]]

    assert waits[:LIMIT] == [None] * LIMIT
    assert [1 <= int(seconds or 0) <= MINUTE for seconds in waits[LIMIT:]] == [True] * 2

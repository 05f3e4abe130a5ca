"""Figures of streams: from an answer's request to its event at the client, and memory of each."""

import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from statistics import median
from typing import Any

import pytest
from flask import Flask

from api.wire.event_stream import OF_HOLDER
from tests.bench.figures import Table
from tests.bench.servers import answers, end, resident_mib, start
from tests.bench.work import DRAFT, connected, respondent
from tests.databases import both_databases, on_postgresql
from tests.factories import make_form
from tests.services import wait_until
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.drafts.agent_tokens import make_agent_token

pytestmark = pytest.mark.bench

ALONE = 200  # answers to one stream
TO_MANY = 30
SETTLE_SECONDS = 2.0


class Streams:
    """Open streams of one form; all are read by this thread."""

    def __init__(self, port: int, form_id: str, tokens: list[str], count: int) -> None:
        self._selector = selectors.DefaultSelector()
        for number in range(count):
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
            lines = [
                f"GET /api/agent/asks/{form_id}/stream HTTP/1.1",
                "Host: 127.0.0.1",
                f"Authorization: Bearer {tokens[number // OF_HOLDER]}",
            ]
            connection.sendall("\r\n".join([*lines, "", ""]).encode())
            assert b"event: form_status" in _until(connection, b"event: form_status")
            self._selector.register(connection, selectors.EVENT_READ)

    def receive(self, began: float) -> list[float]:
        """The seconds after which each stream had an answer."""
        waiting = {each.fileobj for each in self._selector.get_map().values()}
        found = []
        while waiting:
            for key, _ in self._selector.select(20):
                if b"event: answer" in key.fileobj.recv(65_536):  # type: ignore[union-attr]
                    found.append(time.perf_counter() - began)
                    waiting.discard(key.fileobj)
        return found

    def close(self) -> None:
        for each in list(self._selector.get_map().values()):
            each.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()


def _until(connection: socket.socket, words: bytes) -> bytes:
    found = b""
    while words not in found:
        got = connection.recv(65_536)
        assert got, found
        found += got
    return found


@contextmanager
def process(settings: Settings) -> Iterator[tuple[int, int]]:
    """Process id and port."""
    server, port = start("tests.bench.serve", "askback", settings)
    try:
        wait_until(lambda: answers(port), "starting askback")
        yield server.pid, port
    finally:
        end(server)


@contextmanager
def streams(app: Flask, port: int, form: Any, count: int) -> Iterator[Streams]:
    now = utc_now()
    with app.app_context():
        tokens = [
            make_agent_token(
                form.account_id, form.id, label="", expires_at=now + timedelta(1), now=now
            ).token
            for _ in range(-(-count // OF_HOLDER))
        ]
    opened = Streams(port, form.id, tokens, count)
    try:
        yield opened
    finally:
        opened.close()


def latencies(app: Flask, port: int, form: Any, opened: Streams, times: int) -> list[float]:
    """From sending each of so many answers to each of the streams, in milliseconds."""
    found: list[float] = []
    with app.app_context():
        requests = [one for _ in range(-(-times // 10)) for one in respondent(form.share_token)]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        for one in requests[:times]:
            began = time.perf_counter()
            connection.sendall(one)
            found += opened.receive(began)
            _until(connection, b"\r\n\r\n")
            time.sleep(0.05)
            connection.settimeout(0)
            with suppress(BlockingIOError):
                connection.recv(1 << 20)  # the rest of the page
            connection.settimeout(20)
    return sorted(1000 * each for each in found)


def quantile(found: list[float], share: float) -> float:
    return found[min(len(found) - 1, int(share * len(found)))]


@pytest.fixture
def form(app: Flask, settings: Settings) -> Any:
    work = connected(app, settings.api_url)
    with app.app_context():
        return make_form(work.account_id, **DRAFT)


def name(settings: Settings) -> str:
    return "SQLite" if settings.database_url.startswith("sqlite") else "PostgreSQL"


@both_databases
def test_an_answer_to_a_stream_of_the_same_process(
    app: Flask, settings: Settings, form: Any
) -> None:
    with process(settings) as (_, port), streams(app, port, form, 1) as opened:
        found = latencies(app, port, form, opened, ALONE)
    detail = f"p99 {quantile(found, 0.99):.1f} ms"
    table = Table(name(settings))
    table.add("answer → stream, one process", f"p50 {median(found):.1f} ms", "≤ 20 ms", detail)


@on_postgresql
def test_an_answer_to_a_stream_of_another_process(
    app: Flask, settings: Settings, form: Any
) -> None:
    with ExitStack() as stack:
        _, here = stack.enter_context(process(settings))
        _, there = stack.enter_context(process(settings))
        opened = stack.enter_context(streams(app, there, form, 1))
        found = latencies(app, here, form, opened, ALONE)
    detail = f"p99 {quantile(found, 0.99):.1f} ms"
    table = Table(name(settings))
    table.add("answer → stream, two processes", f"p50 {median(found):.1f} ms", "≤ 250 ms", detail)


@both_databases
@pytest.mark.parametrize(("count", "goal"), [(200, 50), (1_000, 150)])
def test_one_answer_to_many_streams(
    app: Flask, settings: Settings, form: Any, count: int, goal: int
) -> None:
    with process(settings) as (process_id, port):
        with streams(app, port, form, 1) as warm:
            latencies(app, port, form, warm, 20)
        before = resident_mib(process_id)
        with streams(app, port, form, count) as opened:
            time.sleep(SETTLE_SECONDS)
            each = 1024 * (resident_mib(process_id) - before) / count
            found = latencies(app, port, form, opened, TO_MANY)
    table = Table(name(settings))
    detail = f"p50 {median(found):.1f} ms"
    reached = f"p99 {quantile(found, 0.99):.1f} ms"
    table.add(f"one answer to {count:,} streams", reached, f"≤ {goal} ms", detail)
    if count == 1_000:
        table.add("memory of a stream, at 1,000", f"{each:.1f} KiB", "≤ 25 KiB", "")

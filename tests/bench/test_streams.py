"""Figures of streams: from an answer's request to its event at the client, and memory of each."""

import secrets
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from statistics import median
from typing import Any

import pytest
from flask import Flask

from api.wire.event_stream import OF_HOLDER
from tests.bench.figures import Table, quantile
from tests.bench.load import request
from tests.bench.servers import resident_mib, served
from tests.bench.work import Work, new_form, respondent
from tests.databases import both_databases, on_postgresql
from tests.event_factories import make_agent_token
from webapp.base.config import Settings
from webapp.base.text import token_hash

pytestmark = pytest.mark.bench

Opened = selectors.DefaultSelector
ALONE = 200  # answers to one stream
TO_MANY = 30
SETTLE_SECONDS = 2.0


@contextmanager
def streams(app: Flask, port: int, form: Any, count: int) -> Iterator[Opened]:
    """So many open streams of one form; all are read by this thread."""
    with app.app_context(), ExitStack() as stack:
        opened = stack.enter_context(selectors.DefaultSelector())
        for number in range(count):
            if number % OF_HOLDER == 0:
                token = f"askag_{secrets.token_hex(32)}"
                make_agent_token(form, token_hash=token_hash(token))
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
            stack.enter_context(connection)
            bearer = f"Authorization: Bearer {token}"
            connection.sendall(request("GET", f"/api/agent/asks/{form.id}/stream", bearer))
            read_until(connection, b"event: form_status")
            opened.register(connection, selectors.EVENT_READ)
        yield opened


def receive(opened: Opened, began: float) -> list[float]:
    """The milliseconds after which each stream had an answer."""
    waiting = {each.fileobj for each in opened.get_map().values()}
    found = []
    while waiting:
        for key, _ in opened.select(20):
            if b"event: answer" in key.fileobj.recv(65_536):  # type: ignore[union-attr]
                found.append(1000 * (time.perf_counter() - began))
                waiting.discard(key.fileobj)
    return found


def read_until(connection: socket.socket, words: bytes) -> None:
    found = b""
    while words not in found:
        got = connection.recv(65_536)
        assert got, found
        found += got


def latencies(app: Flask, port: int, form: Any, opened: Opened, times: int) -> list[float]:
    """From sending each of so many answers to each of the streams, in milliseconds."""
    found: list[float] = []
    with app.app_context():
        requests = [one for _ in range(-(-times // 10)) for one in respondent(form.share_token)]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        for one in requests[:times]:
            began = time.perf_counter()
            connection.sendall(one)
            found += receive(opened, began)
            read_until(connection, b"\r\n\r\n")
            time.sleep(0.05)
            connection.settimeout(0)
            with suppress(BlockingIOError):
                connection.recv(1 << 20)  # the rest of the page
            connection.settimeout(20)
    return sorted(found)


@pytest.fixture
def form(work: Work) -> Any:
    return new_form(work)


@both_databases
def test_an_answer_to_a_stream_of_the_same_process(
    app: Flask, settings: Settings, form: Any, table: Table
) -> None:
    with served("askback", 1, settings) as ports:
        measure(app, form, table, "one process", "≤ 20 ms", *ports, *ports)


@on_postgresql
def test_an_answer_to_a_stream_of_another_process(
    app: Flask, settings: Settings, form: Any, table: Table
) -> None:
    with served("askback", 2, settings) as ports:
        measure(app, form, table, "two processes", "≤ 250 ms", *ports)


def measure(
    app: Flask, form: Any, table: Table, name: str, goal: str, answered: int, streamed: int
) -> None:
    with streams(app, streamed, form, 1) as opened:
        found = latencies(app, answered, form, opened, ALONE)
    reached, detail = f"p50 {median(found):.1f} ms", f"p99 {quantile(found, 0.99):.1f} ms"
    table.add(f"answer → stream, {name}", reached, goal, detail)


@both_databases
@pytest.mark.parametrize(("count", "goal"), [(200, 50), (1_000, 150)])
def test_one_answer_to_many_streams(
    app: Flask, settings: Settings, form: Any, table: Table, count: int, goal: int
) -> None:
    with served("askback", 1, settings) as processes:
        ((port, process_id),) = processes.items()
        with streams(app, port, form, 1) as warm:
            latencies(app, port, form, warm, 20)
        before = resident_mib(process_id)
        with streams(app, port, form, count) as opened:
            time.sleep(SETTLE_SECONDS)
            each = 1024 * (resident_mib(process_id) - before) / count
            found = latencies(app, port, form, opened, TO_MANY)
    reached, detail = f"p99 {quantile(found, 0.99):.1f} ms", f"p50 {median(found):.1f} ms"
    table.add(f"one answer to {count:,} streams", reached, f"≤ {goal} ms", detail)
    if count == 1_000:
        table.add("memory of a stream, at 1,000", f"{each:.1f} KiB", "≤ 25 KiB")

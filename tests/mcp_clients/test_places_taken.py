"""Hosts that discover and read while others hold every place of waits and a writer the database."""

import json
import select
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.bench.load import request
from tests.factories import make_account, make_form
from tests.proof.loaded import Server
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.web.wakeups import MOST, OF_ACCOUNT, RETRY_SECONDS

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
PLACES = MOST
HELD_SECONDS = 2.0
PER_SECOND = 20  # discoveries, each followed by another read
READS = ["tools/list", "list_forms", "get_form", "get_form_responses"]


@dataclass(frozen=True)
class Host:
    """An account with a form, and its token."""

    port: int
    token: str
    form_id: str

    def message(self, method: str, tool: str = "", **arguments: Any) -> bytes:
        """The bytes of a request of the newest protocol."""
        meta = {f"{META}protocolVersion": VERSION, f"{META}clientCapabilities": {}}
        params: dict[str, Any] = {"_meta": meta}
        headers = [f"Authorization: Bearer {self.token}", "Content-Type: application/json"]
        headers += [f"MCP-Protocol-Version: {VERSION}", f"Mcp-Method: {method}"]
        if tool:
            params |= {"name": tool, "arguments": arguments}
            headers.append(f"Mcp-Name: {tool}")
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        host = f"127.0.0.1:{self.port}"
        return request("POST", "/mcp/app", *headers, body=body.encode(), host=host)

    def read(self, name: str) -> bytes:
        """A read that waits for nothing."""
        if "/" in name:
            return self.message(name)
        given = {} if name == "list_forms" else {"formId": self.form_id}
        return self.message("tools/call", name, **given)

    def wait(self) -> bytes:
        return self.message("tools/call", "watch_ask", formId=self.form_id, timeoutSeconds=25)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=40)


def exchange(connection: socket.socket, sent: bytes) -> tuple[Any, float]:
    """The result, and the seconds until it was there."""
    began = time.monotonic()
    connection.sendall(sent)
    return result(connection), time.monotonic() - began


def result(connection: socket.socket) -> Any:
    received = b""
    while True:
        part = connection.recv(65_536)
        assert part, received
        received += part
        head, _, body = received.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
        if len(body) >= length > 0:
            return json.loads(body)["result"]


@contextmanager
def waiting(hosts: list[Host]) -> Iterator[list[socket.socket]]:
    """As many waits of each as one account may have."""
    with ExitStack() as stack:
        waits = []
        for host in hosts:
            for _ in range(OF_ACCOUNT):
                waits.append(stack.enter_context(closing(host.connect())))
                waits[-1].sendall(host.wait())
        time.sleep(1)
        yield waits


@contextmanager
def held(database: Path) -> Iterator[None]:
    """A writer of another program holds SQLite."""
    with closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        yield
        writer.execute("ROLLBACK")


def readings(host: Host) -> dict[str, list[float]]:
    """The seconds of discoveries and of other reads, at a fixed rate while the writer holds on.

    A discovery counts from the moment at which it was due: a slow answer delays those after it.
    """
    seconds: dict[str, list[float]] = {"server/discover": [], "others": []}
    with closing(host.connect()) as connection:
        began = time.monotonic()
        for number in range(int(HELD_SECONDS * PER_SECOND)):
            due = began + number / PER_SECOND
            time.sleep(max(0, due - time.monotonic()))
            exchange(connection, host.read("server/discover"))
            seconds["server/discover"].append(time.monotonic() - due)
            _, took = exchange(connection, host.read(READS[number % len(READS)]))
            seconds["others"].append(took)
    return seconds


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(f"sqlite:///{tmp_path}/busy.sqlite3", tmp_path)
    with server.up():
        yield server


def hosts(server: Server, count: int) -> list[Host]:
    with server.app.app_context():
        mcp_url = f"http://127.0.0.1:{server.port}/mcp/app"
        scopes = (Scope.FORMS_READ, Scope.RESPONSES_READ)
        made = []
        for _ in range(count):
            account_id = make_account().id
            token = issue_token(account_id, scopes, mcp_url, now=utc_now())
            made.append(Host(server.port, token, make_form(account_id).id))
        db.session.remove()
        db.engine.dispose()
        return made


def refused_at_once(host: Host, at_most: float) -> None:
    """A wait for which there is no place."""
    with closing(host.connect()) as connection:
        found, took = exchange(connection, host.wait())
    assert found["structuredContent"]["timedOut"] is True
    assert found["structuredContent"]["retryAfterMs"] == 1000 * RETRY_SECONDS
    assert took < at_most


@pytest.mark.parametrize(
    ("accounts", "rounds", "at_most"),
    [
        # below the 15 s that a writer is waited for, and the 25 s of a wait
        pytest.param(1, 1, 10, id="one account"),
        pytest.param(PLACES // OF_ACCOUNT, 5, 0.1, id="all", marks=pytest.mark.prove),
    ],
)
def test_discovery_and_reads_wait_neither_for_waits_nor_for_a_writer(
    accounts: int, rounds: int, at_most: float, server: Server, tmp_path: Path
) -> None:
    *full, other = hosts(server, accounts + 1)
    seconds: dict[str, list[float]] = {"server/discover": [], "others": []}
    with waiting(full) as waits:
        for _ in range(rounds):
            with held(tmp_path / "busy.sqlite3"):
                for kind, found in readings(other).items():
                    seconds[kind] += found
                refused_at_once(full[0], at_most)
        assert not select.select(waits, [], [], 0)[0]
    for kind, found in seconds.items():
        p99 = sorted(found)[int(0.99 * len(found))]
        print(f"{accounts} accounts, {kind}: {len(found)}, p99 {1000 * p99:.0f} ms")
        assert p99 < at_most, (kind, sorted(found)[-5:])

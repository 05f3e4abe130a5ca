"""The table of HTTP requests on a running server: what is executed, answered, and closed."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.journey.installation import embedded
from tests.runtime.http_requests import FRAMING, REQUESTS, Sent, post

PROBE = b"GET /healthz HTTP/1.1\r\nHost: @host\r\nConnection: close\r\n\r\n"
PIECE_BYTES = 7
numbers = count()


class Server(NamedTuple):
    """A process that serves on this port of this machine, and its log."""

    port: int
    log: Path

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def bytes_of(self, data: bytes, mark: str = "") -> bytes:
        return data.replace(b"@host", b"127.0.0.1:%d" % self.port).replace(b"@id", mark.encode())

    def executed(self, mark: str) -> int:
        """How many requests with this mark the application has logged."""
        return self.log.read_text().count(f'"request_id":"{mark}"')


class Response(NamedTuple):
    status: int
    headers: str
    body: bytes


def read(connection: socket.socket) -> list[Response]:
    """All responses until the server closes; none has chunks."""
    data, found = b"", []
    with suppress(ConnectionError):
        while got := connection.recv(65_536):
            data += got
    while data:
        first, _, data = data.partition(b"\r\n\r\n")
        headers = first.decode("latin-1")
        length = int((re.search(r"(?i)content-length: (\d+)", headers) or "00")[1])
        found.append(Response(int(headers.split()[1]), headers, data[:length]))
        data = data[length:]
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`askback run`, in which nothing goes wrong."""
    with embedded(tmp_path_factory.mktemp("run"), WRITE_LIMITS="off") as running:
        found = Server(int(running.variables["PORT"]), *running.logs)
        yield found
        assert '"level":"error"' not in found.log.read_text()


@pytest.mark.parametrize(
    ("sent", "step"),
    [
        *(pytest.param(each, 20_000, id=each.name) for each in REQUESTS),
        *(pytest.param(each, PIECE_BYTES, id=f"{each.name}, in pieces") for each in FRAMING),
    ],
)
def test_a_request_of_the_table(server: Server, sent: Sent, step: int) -> None:
    mark = f"request-{next(numbers):05}"
    data = server.bytes_of(sent.data if sent.closed else sent.data + PROBE, mark)
    with server.connect() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        step = step if len(data) < 20_000 else len(data)
        with suppress(ConnectionError):  # refused before all was sent
            for start in range(0, len(data), step):
                connection.sendall(data[start : start + step])
        responses = read(connection)
    if not responses:  # lost with the connection
        assert sent.closed
        assert step == PIECE_BYTES
        assert server.executed(mark) == sent.executed
        return
    *before, last = responses
    if not sent.closed:
        assert last.status == 200
        *before, last = before

    assert last.status in sent.statuses
    assert {each.status for each in before} <= {401, 405}
    assert server.executed(mark) == sent.executed
    if sent.closed and not sent.executed:
        assert not before
        assert "connection: close" in last.headers.lower()
        if last.body:  # else granian has refused it
            assert_ours(last, sent.data)


def assert_ours(refusal: Response, data: bytes) -> None:
    """The body has the form that the address of the request tells."""
    found = re.match(rb"\s*\S+ (?:http://[^/]*)?(/\S+)", data)
    path = found[1] if found else b""
    if path.startswith(b"/api/"):
        body = json.loads(refusal.body)
        assert sorted(body) == ["code", "error", "message", "resolution"]
        assert body["code"] in {"validation_failed", "payload_too_large"}
        assert refusal.status == 400
    elif path.startswith(b"/mcp/"):
        body = json.loads(refusal.body)
        assert (body["jsonrpc"], body["id"], body["error"]["code"]) == ("2.0", None, -32600)
    elif path.startswith((b"/login", b"/r/")):
        assert b"<h1" in refusal.body
    assert b"Traceback" not in refusal.body


def test_expect_gets_no_continue_where_the_request_is_refused(server: Server) -> None:
    with server.connect() as connection:
        data = post("Expect: 100-continue", "Content-Length: 99999999")
        connection.sendall(server.bytes_of(data, "expects-it"))
        (only,) = read(connection)
    assert only.status in {400, 413}

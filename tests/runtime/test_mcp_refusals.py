"""What the HTTP server refuses at the MCP endpoint is a JSON-RPC error."""

import socket
from collections.abc import Iterator
from contextlib import suppress

import orjson
import pytest
from flask import Flask

from tests.serving import connect, exchange, new_app, serving
from webapp.base.config import Settings

MIB = 1024 * 1024
POST = "POST /mcp/app HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def served(settings: Settings) -> Iterator[Flask]:
    app = new_app(settings)
    with serving(app):
        yield app


def refusal(answer: bytes) -> tuple[int, int]:
    """Status and code; the body is JSON-RPC without an id."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/json\r\n" in head.lower() + b"\r\n"
    found = orjson.loads(body)
    assert (found["jsonrpc"], found["id"]) == ("2.0", None)
    assert found["error"]["message"]
    return int(head.split()[1]), found["error"]["code"]


def test_nothing_of_a_chunked_body_is_read_beyond_its_limit(served: Flask) -> None:
    with connect(served) as connection:
        connection.sendall(f"{POST}Transfer-Encoding: chunked\r\n\r\n".encode())
        sent = send_chunks(connection, 8 * MIB)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))

    assert refusal(answer) == (413, -32600)
    assert sent > MIB


def send_chunks(connection: socket.socket, size: int) -> int:
    """How many bytes were sent until the server closed, at most `size`."""
    sent = 0
    with suppress(OSError):
        while sent < size:
            connection.sendall(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")
            sent += 0x8000
    return sent


def test_a_body_of_the_largest_size_reaches_the_application(served: Flask) -> None:
    head = f"{POST}Connection: close\r\nContent-Length: {MIB}\r\n\r\n"

    assert refusal(exchange(served, head.encode() + b" " * MIB)) == (401, -32600)


def test_a_fault_after_the_application_ran_is_an_internal_error(
    served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object) -> None:
        raise RuntimeError("after the view")

    monkeypatch.setattr(served, "wsgi_app", broken)

    assert refusal(exchange(served, f"{POST}Content-Length: 0\r\n\r\n".encode())) == (500, -32603)

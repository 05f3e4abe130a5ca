"""How answers leave the server: in few pieces, by few threads, with few turns of its loop."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask, Response
from waitress.server import TcpWSGIServer

from tests.services import wait_until
from tests.serving import connect, new_app, serving
from webapp.config import Settings
from webapp.runtime.server import Server
from webapp.runtime.server_connections import Channel

CHUNK = b"x" * 100_000
CHUNKS = 30


@pytest.fixture
def seldom_turning(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nothing wakes the loop for waits longer than on any busy machine."""
    poll = Server._poll
    monkeypatch.setattr(Server, "_poll", lambda server, seconds: poll(server, 30 * seconds))


@pytest.fixture
def served(settings: Settings) -> Iterator[Flask]:
    app = new_app(settings)
    app.add_url_rule("/test/text", "text", lambda: "hello")
    app.add_url_rule("/test/empty", "empty", lambda: ("", 204))
    app.add_url_rule("/test/thread", "thread", lambda: threading.current_thread().name)
    app.add_url_rule("/test/large", "large", lambda: Response(CHUNK for _ in range(CHUNKS)))
    app.add_url_rule("/test/broken", "broken", lambda: Response(broken_off()))
    with serving(app):
        yield app


def broken_off() -> Iterator[bytes]:
    yield CHUNK
    raise ValueError("of the test")


def head(connection: socket.socket, name: str, method: str = "GET") -> bytes:
    port = connection.getpeername()[1]
    return f"{method} /test/{name} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()


def ask(connection: socket.socket, name: str, method: str = "GET") -> bytes:
    """What the next piece holds."""
    connection.sendall(head(connection, name, method))
    return connection.recv(65_536)


def test_header_and_body_are_sent_in_one_packet(served: Flask) -> None:
    with connect(served) as connection:
        answers = [ask(connection, "text") for _ in range(20)]

    assert all(each.startswith(b"HTTP/1.1 200 OK\r\n") for each in answers)
    assert all(each.endswith(b"\r\n\r\nhello") for each in answers)


def test_a_response_without_a_body_has_its_header(served: Flask) -> None:
    with connect(served) as connection:
        empty = ask(connection, "empty")

    assert empty.startswith(b"HTTP/1.1 204 ")
    assert empty.endswith(b"\r\n\r\n")


def test_a_response_to_head_has_only_its_header(served: Flask) -> None:
    with connect(served) as connection:
        header_only, text = ask(connection, "text", "HEAD"), ask(connection, "text")

    assert header_only.endswith(b"\r\n\r\n")
    assert text.endswith(b"hello")


@pytest.mark.usefixtures("seldom_turning")
def test_many_requests_on_one_connection_never_wait_for_a_turn_of_the_loop(served: Flask) -> None:
    """A connection gives up after ten seconds, a third of a turn that nothing wakes."""
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: answered(served, 400), range(8))) == 8 * 400


def answered(app: Flask, requests: int) -> int:
    with connect(app) as connection:
        return sum(ask(connection, "text").endswith(b"hello") for _ in range(requests))


def test_pipelined_requests_are_all_answered(served: Flask) -> None:
    with connect(served) as connection:
        connection.sendall(head(connection, "text") * 50)
        answers = b""
        while answers.count(b"hello") < 50:
            answers += connection.recv(65_536)

    assert answers.count(b"HTTP/1.1 200 OK") == 50


def test_a_small_response_does_not_wake_the_loop(
    served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken = []
    wake = TcpWSGIServer.pull_trigger
    monkeypatch.setattr(TcpWSGIServer, "pull_trigger", lambda self: woken.append(wake(self)))
    with connect(served) as connection:
        for _ in range(100):
            ask(connection, "text")
            time.sleep(0.01)  # the thread ends its request after its client has the answer

    assert len(woken) < 50


def test_a_large_response_is_sent_to_a_slow_client(served: Flask) -> None:
    with connect(served) as connection:
        connection.sendall(head(connection, "large"))
        size = 0
        while size < CHUNKS * len(CHUNK):
            time.sleep(0.001)
            piece = connection.recv(65_536)
            assert piece
            size += len(piece)

    assert size > CHUNKS * len(CHUNK)


def test_an_incomplete_response_closes_its_connection(served: Flask) -> None:
    with connect(served) as connection:
        connection.sendall(head(connection, "broken"))
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert not answer.endswith(b"0\r\n\r\n")


def holds_its_body(channel: Channel) -> bool:
    return bool(channel.request and channel.request.expect_continue)


def test_a_thread_leaves_closing_to_the_loop(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop walks through its connections, and a number must not change hands while it polls."""
    may_close = []
    send = Channel.send

    def noted(channel: Channel, data: bytes, do_close: bool = True) -> int:  # noqa: FBT001, FBT002
        if data.startswith(b"HTTP/1.1 100 "):
            may_close.append(do_close)
        return int(send(channel, data, do_close))

    monkeypatch.setattr(Channel, "send", noted)
    app = new_app(settings)
    ended = threading.Event()
    app.add_url_rule("/test/slow", "slow", lambda: str(ended.wait(10)))
    with serving(app) as server, connect(app) as connection:
        connection.sendall(head(connection, "slow"))
        waits = b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        connection.sendall(head(connection, "text", "POST")[:-2] + waits)
        wait_until(lambda: any(map(holds_its_body, server._channels())), "its header")
        ended.set()
        answers = b""
        while b"HTTP/1.1 100 Continue\r\n\r\n" not in answers:
            answers += connection.recv(65_536)

    assert answers.startswith(b"HTTP/1.1 200 OK\r\n")
    assert may_close == [False]


def test_few_threads_answer_one_client(served: Flask) -> None:
    with connect(served) as connection:
        names = {ask(connection, "thread").rpartition(b"\r\n")[2] for _ in range(100)}

    assert len(names) < 50  # one for each without that; a few, if the next comes early

"""The properties of the HTTP server that the product relies on."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import count
from typing import Any

import pytest
from flask import Flask, Response, request
from waitress.adjustments import Adjustments

from tests.services import wait_until
from tests.serving import connect, exchange, get, new_app, serving
from webapp.config import Settings
from webapp.domain.shared.limits import UPLOAD_BODY_MAX_BYTES
from webapp.runtime.server_connections import Channel
from webapp.runtime.server_requests import Parser
from webapp.web.wakeups import OF_ACCOUNT, THREADS, NoSlot, client_gone, wakeups

CHUNKED = b"POST /test/length HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n"


@pytest.fixture
def served(settings: Settings) -> Iterator[Flask]:
    """The application with routes that show what reaches it."""
    app = new_app(settings)
    app.config["WTF_CSRF_ENABLED"] = False
    app.config["MAX_CONTENT_LENGTH"] = None  # here the server's own bound counts
    app.add_url_rule("/test/length", "length", lambda: str(len(request.data)), methods=["POST"])
    app.add_url_rule("/test/environ", "environ", lambda: " ".join(sorted(request.environ)))
    app.add_url_rule("/test/address", "address", lambda: f"{request.remote_addr} {request.scheme}")
    with serving(app):
        yield app


def body_of(answer: bytes) -> bytes:
    return answer.partition(b"\r\n\r\n")[2]


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ")[1])


def seconds_of_healthz(app: Flask) -> float:
    began = time.monotonic()
    assert status_of(get(app, "/healthz")) == 200
    return time.monotonic() - began


@pytest.mark.parametrize(
    "started",
    [
        b"POST /test/length HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"POST /test/length HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nx",
        CHUNKED + b"\r\n5\r\nab",
    ],
    ids=["half-open headers", "half a body", "half a chunk"],
)
def test_unfinished_requests_do_not_stop_others(served: Flask, started: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(2 * THREADS):
            stack.enter_context(connect(served)).sendall(started)

        assert seconds_of_healthz(served) < 2


def test_slow_bodies_do_not_stop_others(served: Flask) -> None:
    head = b"POST /test/length HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n"
    with ExitStack() as stack:
        dripping = [stack.enter_context(connect(served)) for _ in range(60)]
        for connection in dripping:
            connection.sendall(head)
        for _ in range(5):
            for connection in dripping:
                connection.sendall(b"x")

            assert seconds_of_healthz(served) < 2


def chunks(size: int, step: int = 60_000) -> bytes:
    parts = [min(step, size - start) for start in range(0, size, step)]
    return b"".join(b"%x\r\n%b\r\n" % (part, b"x" * part) for part in parts) + b"0\r\n\r\n"


@pytest.mark.parametrize("size", [0, 1, 262_143, 262_144, 262_145, 400_000, 1_048_576])
def test_a_chunked_body_arrives_whole_with_its_length(served: Flask, size: int) -> None:
    answer = exchange(served, CHUNKED + b"Connection: close\r\n\r\n" + chunks(size))

    assert body_of(answer) == str(size).encode()


def test_a_refused_client_may_finish_sending_and_reads_why(served: Flask) -> None:
    size = UPLOAD_BODY_MAX_BYTES + 1
    head = f"POST /r/abc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {size}\r\n\r\n"

    assert status_of(exchange(served, head.encode() + b"x" * size)) == 413


def test_a_refused_client_is_closed_after_a_while(
    served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.runtime.server_connections.LINGER_SECONDS", 0.2)
    with connect(served) as connection, pytest.raises(ConnectionError):
        send_for_ever(connection, b"POST /r/abc HTTP/1.1\r\nContent-Length: ten\r\n\r\n")


def send_for_ever(connection: socket.socket, head: bytes) -> None:
    """At most five seconds."""
    began = time.monotonic()
    connection.sendall(head)
    while time.monotonic() < began + 5:
        connection.sendall(b"x" * 65_536)


def test_underscored_header_names_are_dropped(served: Flask) -> None:
    seen = body_of(get(served, "/test/environ", "X_Forwarded_For: 192.0.2.1", "X-Plain: 1"))

    assert b"HTTP_X_PLAIN" in seen
    assert b"HTTP_X_FORWARDED_FOR" not in seen


def test_the_environment_of_the_process_stays_out_of_requests(
    served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKBACK_CANARY", "1")

    assert b"CANARY" not in body_of(get(served, "/test/environ"))


def test_forwarded_addresses_are_ignored_without_a_trusted_proxy(served: Flask) -> None:
    sent = ("X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "Forwarded: for=192.0.2.2")

    assert body_of(get(served, "/test/address", *sent)) == b"127.0.0.1 http"


@pytest.mark.settings(trusted_proxy="127.0.0.1")
def test_a_trusted_proxy_sets_the_address_and_nothing_else(served: Flask) -> None:
    sent = ("X-Forwarded-For: 198.51.100.9, 192.0.2.1", "X-Forwarded-Proto: ftp")

    assert body_of(get(served, "/test/address", *sent)) == b"192.0.2.1 http"


def test_the_server_does_not_name_itself(served: Flask) -> None:
    assert b"\r\nserver:" not in get(served, "/healthz").lower()


def test_a_waiting_request_learns_that_its_client_has_gone(settings: Settings) -> None:
    app = new_app(settings)
    left: list[float] = []

    def wait() -> str:
        began = time.monotonic()
        wakeups().wait_until("key", lambda: None, 20, account_id="acc", gone=client_gone())
        left.append(time.monotonic() - began)
        return ""

    app.add_url_rule("/api/test/wait", "wait", wait)
    with serving(app):
        with connect(app) as connection:
            connection.sendall(b"GET /api/test/wait HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            time.sleep(0.2)
        wait_until(lambda: bool(left), "noticing that the client has gone", seconds=5)


def test_waiting_clients_leave_half_of_the_threads_to_others(settings: Settings) -> None:
    app = new_app(settings)
    ended: list[float] = []
    number = count()

    def wait() -> str:
        began, account_id = time.monotonic(), str(next(number) // OF_ACCOUNT)
        with suppress(NoSlot):
            wakeups().wait_until("key", lambda: None, 20, account_id=account_id, gone=client_gone())
        ended.append(time.monotonic() - began)
        return ""

    app.add_url_rule("/api/test/wait", "wait", wait)
    with serving(app), ExitStack() as stack:
        for _ in range(THREADS):
            connection = stack.enter_context(connect(app))
            connection.sendall(b"GET /api/test/wait HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        wait_until(lambda: len(ended) >= THREADS // 2, "answering whom there is no place for", 10)

        assert seconds_of_healthz(app) < 2
        assert len(ended) == THREADS // 2
        assert max(ended) < 5


def test_a_stop_finishes_the_slow_request_and_ends_the_wait_at_once(settings: Settings) -> None:
    app = new_app(settings)
    begun = threading.Barrier(3)

    def slow() -> str:
        begun.wait(5)
        time.sleep(1.5)
        return "done"

    def wait() -> str:
        begun.wait(5)
        with suppress(NoSlot):  # the stop may come first
            wakeups().wait_until("key", lambda: None, 20, account_id="acc", gone=client_gone())
        return "None"

    app.add_url_rule("/test/slow", "slow", slow)
    app.add_url_rule("/test/wait", "wait", wait)
    answers: dict[str, bytes] = {}

    def fetch(path: str) -> None:
        answers[path] = body_of(get(app, path))

    with serving(app) as server, connect(app):
        fetching = [
            threading.Thread(target=fetch, args=[path]) for path in ("/test/slow", "/test/wait")
        ]
        for thread in fetching:
            thread.start()
        begun.wait(5)
        began = time.monotonic()
        server.stop()
        for thread in fetching:
            thread.join(10)

    assert answers == {"/test/slow": b"done", "/test/wait": b"None"}
    assert time.monotonic() - began < 4


def test_a_stopping_server_says_that_it_is_not_ready(app: Flask, settings: Settings) -> None:
    other = new_app(settings)
    begun = threading.Event()

    def slow() -> str:
        begun.set()
        wakeups().wait_until("key", lambda: None, 20, account_id="acc", gone=lambda: False)
        return ""

    other.add_url_rule("/test/slow", "slow", slow)
    with serving(other) as server, connect(other) as connection:
        host = f"Host: 127.0.0.1:{other.config['SETTINGS'].port}\r\n\r\n"
        connection.sendall(
            f"GET /test/slow HTTP/1.1\r\n{host}GET /readyz HTTP/1.1\r\n{host}".encode()
        )
        assert begun.wait(5)
        server.stop()
        answers = b"".join(iter(lambda: connection.recv(65_536), b""))

    assert [status_of(part) for part in answers.split(b"HTTP/1.1")[1:]] == [200, 503]


def test_a_stopping_server_takes_no_new_connection(settings: Settings) -> None:
    app = new_app(settings)
    with serving(app):
        assert status_of(get(app, "/healthz")) == 200

    with pytest.raises(ConnectionRefusedError):
        connect(app)


def test_a_stop_is_clean_at_any_moment(settings: Settings) -> None:
    app = new_app(settings)
    for _ in range(15):
        with serving(app):
            assert status_of(get(app, "/healthz")) == 200


def test_an_address_in_use_is_an_error_of_the_start(served: Flask) -> None:
    with pytest.raises(OSError, match="in use"), serving(served):
        pass


def test_an_error_after_the_application_ran_does_not_claim_nothing_was_stored(
    settings: Settings,
) -> None:
    """Only the server sees it: whatever the application stored is stored."""
    app = new_app(settings)
    whole: Any = app.wsgi_app

    def breaking(environ: Any, start_response: Any) -> Any:
        b"".join(whole(environ, lambda *_: None))
        raise RuntimeError("after everything was done")

    app.wsgi_app = breaking  # type: ignore[method-assign]
    with serving(app):
        page, body = get(app, "/healthz"), get(app, "/api/forms")

    assert [status_of(page), status_of(body)] == [500, 500]
    assert b"<h1>Something broke on our side.</h1>" in page
    assert json.loads(body_of(body))["code"] == "internal_error"
    assert b"othing was changed" not in page + body


@pytest.fixture
def endless(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    """An answer that never ends, to clients that are left after half a second."""
    monkeypatch.setattr("webapp.runtime.server_connections.STALL_SECONDS", 0.5)
    app = new_app(settings)
    app.extensions["ended"] = []

    def pieces() -> Iterator[bytes]:
        try:
            while True:
                yield b"x" * 65_536
        finally:
            app.extensions["ended"].append(time.monotonic())

    app.add_url_rule("/test/endless", "endless", lambda: Response(pieces()))
    with serving(app):
        yield app


def ask(connection: socket.socket, path: str) -> None:
    port = connection.getpeername()[1]
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())


def drain(connection: socket.socket) -> None:
    while connection.recv(1_048_576):
        pass


def test_clients_that_read_nothing_are_dropped(endless: Flask) -> None:
    with ExitStack() as stack:
        readers = [stack.enter_context(connect(endless)) for _ in range(20)]
        for reader in readers:
            ask(reader, "/test/endless")

        wait_until(lambda: len(endless.extensions["ended"]) == 20, "leaving them", seconds=10)
        with pytest.raises(ConnectionError):
            drain(readers[0])


def test_a_slow_client_is_not_dropped(endless: Flask) -> None:
    with connect(endless) as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ask(reader, "/test/endless")
        for _ in range(30):
            time.sleep(0.1)
            assert reader.recv(65_536)

        assert endless.extensions["ended"] == []


def test_connections_idle_longest_are_closed_for_new_ones(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.open_files.MAX_CONNECTIONS", 40)
    app = new_app(settings)
    app.add_url_rule("/test/slow", "slow", lambda: time.sleep(2) or "done")
    with serving(app), ExitStack() as stack:
        waiting_client = stack.enter_context(connect(app))
        ask(waiting_client, "/test/slow")
        idle = [stack.enter_context(connect(app)) for _ in range(100)]

        assert seconds_of_healthz(app) < 2
        with pytest.raises(ConnectionError):
            idle[0].recv(1)
        assert status_of(waiting_client.recv(65_536)) == 200
        ask(idle[-1], "/healthz")
        assert status_of(idle[-1].recv(65_536)) == 200


def test_the_body_of_a_disconnected_client_is_discarded(
    served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = threading.Event()
    monkeypatch.setattr(Parser, "close", lambda _parser: closed.set())
    with connect(served) as connection:
        head = b"POST /test/length HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n"
        connection.sendall(head + b"half")

    assert closed.wait(10)


def test_a_stop_closes_the_bodies_of_discarded_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given_up = [Parser(Adjustments()), Parser(Adjustments())]
    closed: list[Parser] = []
    monkeypatch.setattr(Parser, "close", lambda parser: closed.append(parser))
    channel = object.__new__(Channel)
    channel.requests = list(given_up)

    channel.cancel()

    assert closed == given_up
    assert not channel.requests


def test_the_log_of_a_broken_connection_has_no_address(
    served: Flask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_channel: Channel, _data: bytes) -> bool:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(Channel, "received", broken)
    with connect(served) as connection:
        port = connection.getsockname()[1]
        ask(connection, "/healthz")
        wait_until(lambda: "Channel" in caplog.text, "a line in the log", seconds=10)

    assert "127.0.0.1" not in caplog.text
    assert str(port) not in caplog.text

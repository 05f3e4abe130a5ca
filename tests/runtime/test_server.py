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

from tests.services import wait_until
from tests.serving import connect, exchange, get, new_app, serving
from webapp.app import bridge
from webapp.base.config import Settings
from webapp.web.form_body_limits import UPLOAD_BODY_MAX_BYTES
from webapp.web.wakeups import MOST, OF_ACCOUNT, NoSlot, wakeups

HEAD = b"POST /test/length HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n"
MORE_THAN_THREADS = 2 * bridge.THREADS
numbers = count()


def wait() -> str:
    """A wait that nothing ends; each account has as many as it may."""
    account_id = str(next(numbers) // OF_ACCOUNT)
    with suppress(NoSlot):
        wakeups().wait_until("key", lambda: None, 20, account_id=account_id)
    return "waited"


@pytest.fixture
def served(settings: Settings) -> Iterator[Flask]:
    """The application with routes that show what reaches it."""
    app = new_app(settings)
    app.config["WTF_CSRF_ENABLED"] = False
    app.config["MAX_CONTENT_LENGTH"] = None  # here the server's own bound counts
    app.add_url_rule("/test/length", "length", lambda: str(len(request.data)), methods=["POST"])
    app.add_url_rule("/test/environ", "environ", lambda: " ".join(sorted(request.environ)))
    app.add_url_rule("/test/address", "address", lambda: f"{request.remote_addr} {request.scheme}")
    app.add_url_rule("/test/path/<path:rest>", "path", lambda rest: rest)
    app.add_url_rule("/api/test/wait", "wait", wait)
    with serving(app):
        yield app


def body_of(answer: bytes) -> bytes:
    return answer.partition(b"\r\n\r\n")[2]


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ")[1])


def is_served(app: Flask) -> bool:
    return status_of(get(app, "/healthz")) == 200


def ask(connection: socket.socket, path: str) -> None:
    port = connection.getpeername()[1]
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())


def test_unfinished_requests_take_no_thread(served: Flask) -> None:
    for started in (
        b"",
        HEAD,
        HEAD + b"Content-Length: 700000\r\n\r\n" + b"x" * 600_000,
        CHUNKED + b"\r\n5\r\nab",
        b"GET /api/test/wait HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ):
        with ExitStack() as stack:
            for _ in range(MORE_THAN_THREADS):
                connection = stack.enter_context(connect(served))
                connection.sendall(started)
            assert is_served(served)


def test_a_body_that_stops_coming_is_refused(
    served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridge, "PART_SECONDS", 0.2)

    assert status_of(exchange(served, HEAD + b"Content-Length: 10\r\n\r\nhalf")) == 408


def chunks(size: int, step: int = 60_000) -> bytes:
    parts = [min(step, size - start) for start in range(0, size, step)]
    return b"".join(b"%x\r\n%b\r\n" % (part, b"x" * part) for part in parts) + b"0\r\n\r\n"


def test_a_chunked_body_arrives_whole_with_its_length(served: Flask) -> None:
    for size in (0, 1, 524_288, 524_289, 1_048_576):
        answer = exchange(served, CHUNKED + b"Connection: close\r\n\r\n" + chunks(size))

        assert body_of(answer) == str(size).encode()


def test_a_refused_client_may_finish_sending_and_reads_why(served: Flask) -> None:
    size = UPLOAD_BODY_MAX_BYTES + 1
    head = f"POST /r/abc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {size}\r\n\r\n"

    assert status_of(exchange(served, head.encode() + b"x" * size)) == 413


def test_underscored_header_names_are_dropped(served: Flask) -> None:
    seen = body_of(get(served, "/test/environ", "X_Forwarded_For: 192.0.2.1", "X-Plain: 1"))

    assert b"HTTP_X_PLAIN" in seen
    assert b"HTTP_X_FORWARDED_FOR" not in seen


FORWARDED = ("X-Forwarded-For: 198.51.100.9, 192.0.2.1", "X-Forwarded-Proto: ftp")


@pytest.mark.parametrize(
    "seen",
    [
        b"127.0.0.1 http",
        pytest.param(b"192.0.2.1 http", marks=pytest.mark.settings(trusted_proxy="127.0.0.1")),
    ],
)
def test_a_trusted_proxy_alone_sets_the_address_and_nothing_else(
    served: Flask, seen: bytes
) -> None:
    assert body_of(get(served, "/test/address", *FORWARDED)) == seen


def test_what_is_to_happen_after_a_response_does(settings: Settings) -> None:
    """A short one, which is joined: it was never closed once."""
    app, closed = new_app(settings), threading.Event()

    def closing() -> Response:
        response = Response(b"short")
        response.call_on_close(closed.set)
        return response

    app.add_url_rule("/test/closing", "closing", closing)
    with serving(app):
        assert status_of(get(app, "/test/closing")) == 200
        assert closed.wait(5)


def test_a_wait_whose_client_has_left_gives_its_place_back(served: Flask) -> None:
    with connect(served) as connection:
        ask(connection, "/api/test/wait")
        wait_until(lambda: served.extensions["wakeups"]._held, "a wait")
    wait_until(lambda: not served.extensions["wakeups"]._held, "noticing that", seconds=5)


def test_waits_are_bounded_and_hold_no_thread(served: Flask) -> None:
    waits = served.extensions["wakeups"]
    with ExitStack() as stack:
        waiting = [stack.enter_context(connect(served)) for _ in range(MOST)]
        for connection in waiting:
            ask(connection, "/api/test/wait")
        wait_until(lambda: waits._held.total() == MOST, "waiting")

        assert body_of(get(served, "/api/test/wait")) == b"waited"  # at once
        waits.stop()
        assert {body_of(connection.recv(65_536)) for connection in waiting} == {b"waited"}


def test_a_stop_finishes_what_runs_ends_waits_and_refuses_half_a_body(settings: Settings) -> None:
    app = new_app(settings)
    begun = threading.Barrier(2)

    def slow() -> str:
        begun.wait(5)
        time.sleep(1.0)
        return "done"

    app.add_url_rule("/test/slow", "slow", slow)
    app.add_url_rule("/test/wait", "wait", wait)
    with serving(app) as server, ExitStack() as stack:
        slow_one, waiting, half, idle = (stack.enter_context(connect(app)) for _ in range(4))
        ask(slow_one, "/test/slow")
        ask(waiting, "/test/wait")
        half.sendall(b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf")
        wait_until(lambda: app.extensions["wakeups"]._held, "waiting", 5)
        begun.wait(5)
        server.stop()

        assert body_of(slow_one.recv(65_536)) == b"done"
        assert body_of(waiting.recv(65_536)) == b"waited"
        assert status_of(half.recv(65_536)) == 503
        assert idle.recv(10) == b""
    with pytest.raises(ConnectionRefusedError):
        connect(app)


def test_an_error_after_the_application_ran_does_not_claim_nothing_was_stored(
    settings: Settings,
) -> None:
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
def endless(settings: Settings) -> Iterator[Flask]:
    """A response that never ends; the application counts what was made of it."""
    app = new_app(settings)
    app.extensions["made"] = made = {"bytes": 0, "ended": 0}

    def pieces() -> Iterator[bytes]:
        try:
            while True:
                made["bytes"] += 65_536
                yield b"x" * 65_536
        finally:
            made["ended"] += 1

    app.add_url_rule("/test/endless", "endless", lambda: Response(pieces()))
    with serving(app):
        yield app


def test_clients_that_read_nothing_get_no_more(
    endless: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridge, "PART_SECONDS", 0.5)
    with ExitStack() as stack:
        for _ in range(MORE_THAN_THREADS):
            reader = stack.enter_context(connect(endless))
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            ask(reader, "/test/endless")
        assert is_served(endless)

        ended = endless.extensions["made"]
        wait_until(lambda: ended["ended"] == MORE_THAN_THREADS, "leaving them", seconds=20)


def test_a_slow_client_is_not_dropped_and_little_is_made_for_it(endless: Flask) -> None:
    with connect(endless) as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ask(reader, "/test/endless")
        for _ in range(30):
            time.sleep(0.02)
            assert reader.recv(65_536)

        made = endless.extensions["made"]
        assert made["ended"] == 0
        assert made["bytes"] < 16 * 1024**2  # most of it is in the buffers of the two sockets

"""Large bodies lie in files, of which there are few: what a process does when they run short."""

import resource
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, request

from tests.services import wait_until
from tests.serving import connect, exchange, get, new_app, serving
from webapp.config import Settings
from webapp.pages.error_pages import load_pages
from webapp.pages.respondent.rendering import render_not_saved
from webapp.runtime.server import Server


@pytest.fixture
def served(settings: Settings) -> Iterator[Flask]:
    app = new_app(settings)
    app.config["WTF_CSRF_ENABLED"] = False
    app.config["MAX_CONTENT_LENGTH"] = None  # here the server's own bound counts
    app.add_url_rule("/test/length", "length", lambda: str(len(request.data)), methods=["POST"])
    with serving(app):
        yield app


LARGE = b"POST /test/length HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 700000\r\n\r\n"


def test_half_sent_large_bodies_make_room_for_others(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them lies in a file, and sending on a little keeps none of them there."""
    monkeypatch.setattr("webapp.open_files.MAX_CONNECTIONS", 40)
    app = new_app(settings)
    with serving(app) as server, ExitStack() as stack:
        dripping = [stack.enter_context(connect(app)) for _ in range(36)]
        for connection in dripping:
            send_if_open(connection, LARGE + b"x" * 600_000)
        wait_until(lambda: arrived(server), "the bodies that there is room for", seconds=20)
        for _ in range(5):
            for connection in dripping:
                send_if_open(connection, b"x")
            began = time.monotonic()
            assert get(app, "/healthz").startswith(b"HTTP/1.1 200 ")
            assert time.monotonic() - began < 2

        channels = list(server._channels())
        assert 20 <= len(channels) + sum(each.files for each in channels) <= 40
        assert any(each.files for each in channels)


def test_no_body_goes_into_a_file_while_requests_under_way_hold_all_numbers(
    settings: Settings,
) -> None:
    ended = threading.Event()
    app = new_app(settings)
    slow = f"GET /test/slow HTTP/1.1\r\nHost: 127.0.0.1:{app.config['SETTINGS'].port}\r\n\r\n"
    app.add_url_rule("/test/slow", "slow", lambda: str(ended.wait(20)))
    with serving(app) as server, ExitStack() as stack:
        asking = [stack.enter_context(connect(app)) for _ in range(60)]
        for connection in asking:
            connection.sendall(slow.encode())
        wait_until(lambda: served_at_once(server) == 60, "requests under way", seconds=20)
        server._most = 40
        for connection in asking:
            connection.settimeout(0.05)
            send_if_open(connection, LARGE + b"x" * 600_000)
        time.sleep(0.5)
        files = sum(channel.files for channel in list(server._channels()))
        ended.set()

    assert files == 0


def served_at_once(server: Server) -> int:
    return sum(bool(channel.requests) for channel in list(server._channels()))


def arrived(server: Server) -> bool:
    """Whether every body that is under way lies in a file."""
    channels = [each for each in list(server._channels()) if each.request]
    return bool(channels) and all(each.files for each in channels)


def send_if_open(connection: socket.socket, data: bytes) -> None:
    with suppress(OSError):
        connection.sendall(data)


def test_large_bodies_wait_for_a_file_and_arrive(
    served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.runtime.server.BODIES_AT_ONCE", 1)
    sent = LARGE.replace(b"Host", b"Connection: close\r\nHost") + b"x" * 700_000
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: exchange(served, sent), range(12)))

    assert [answer.endswith(b"\r\n\r\n700000") for answer in answers] == [True] * 12


def test_no_free_file_descriptor_is_reported_in_a_page_of_ours(served: Flask) -> None:
    def exhausted(_environ: Any, _start_response: Any) -> Any:
        raise OSError(24, "Too many open files")

    served.wsgi_app = exhausted  # type: ignore[method-assign]

    answer = get(served, "/r/abc")

    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"<h1>Something broke on our side.</h1>" in answer


def test_error_pages_need_no_file(settings: Settings) -> None:
    app = new_app(settings)
    app.add_url_rule("/r/open", "open", lambda: Path(__file__).read_text())
    app.add_url_rule(
        "/r/held", "held", lambda: render_not_saved("My words", status=503, retry_after=5)
    )
    load_pages(app)
    client = app.test_client()
    answers = []
    with no_free_file():
        for headers in ({}, {"HX-Request": "true"}, {"Accept-Language": "de"}):
            answers += [client.get(path, headers=headers) for path in ("/r/open", "/r/held")]

    assert [answer.status_code for answer in answers] == [500, 503] * 3
    assert all("Something broke on our side." in answer.text for answer in answers[::2])
    assert all("My words" in answer.text for answer in answers[1::2])


@contextmanager
def no_free_file() -> Iterator[None]:
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, allowed[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, allowed)

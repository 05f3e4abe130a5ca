"""A stream asked for behind another request of its connection, without waiting for the answer."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from flask import Response, request
from waitress.channel import HTTPChannel
from werkzeug.wsgi import wrap_file

from tests.event_streams import EventStream
from tests.numbered_streams import Numbers, Served, leave
from tests.services import wait_until
from tests.serving import connect, get, new_app, serving
from webapp.config import Settings
from webapp.runtime.server_streams import Streams
from webapp.wire.event_stream import Stream


def test_a_slow_thread_of_the_request_before_hands_nothing_over(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends after the thread of the stream; handed over twice, the server would end."""
    app = new_app(settings)
    feed = app.extensions["feed"] = Numbers()
    app.add_url_rule("/test/stream", "stream", leave)
    ended: list[HTTPChannel] = []
    taken: list[str] = []
    serve, take = HTTPChannel.service, Streams.take

    def counted(streams: Streams, stream: Stream, *left: Any, **how: Any) -> None:
        taken.append(stream.holder)
        take(streams, stream, *left, **how)

    def slow_at_first(channel: HTTPChannel) -> None:
        serve(channel)
        ended.append(channel)
        if len(ended) == 1:
            wait_until(lambda: len(ended) == 2 and served.count == 1, "handing over", 10)

    with serving(app) as server:
        served = Served(app, feed, server)
        host = f" HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n"
        with connect(app) as connection:
            monkeypatch.setattr(HTTPChannel, "service", slow_at_first)
            monkeypatch.setattr(Streams, "take", counted)
            request = f"GET /healthz{host}GET /test/stream?holder=one{host}"
            connection.sendall(request.encode())
            stream = EventStream(connection)
            stream.read_head()
            wait_until(lambda: len(ended) == 2 and served.count == 1, "handing over", 10)
            time.sleep(0.2)  # the slow thread ends
            assert get(app, "/healthz").startswith(b"HTTP/1.1 200")

            assert taken == ["one"]


def test_a_file_of_the_request_before_is_sent_whole(settings: Settings, tmp_path: Path) -> None:
    """The server holds little of it at a time, the stream comes after all of it."""
    (tmp_path / "file").write_bytes(content := os.urandom(6 * 1024**2))

    def send_file() -> Response:
        body = wrap_file(request.environ, (tmp_path / "file").open("rb"))
        return Response(body, direct_passthrough=True, headers={"Content-Length": len(content)})

    app = new_app(settings)
    app.extensions["feed"] = Numbers()
    app.add_url_rule("/test/stream", "stream", leave)
    app.add_url_rule("/test/file", "file", send_file)
    with serving(app), connect(app) as connection:
        host = f" HTTP/1.1\r\nHost: 127.0.0.1:{app.config['SETTINGS'].port}\r\n\r\n"
        connection.sendall(f"GET /test/file{host}GET /test/stream?holder=one{host}".encode())
        time.sleep(0.2)  # what the socket does not take waits
        came = b""
        while b"text/event-stream" not in came[len(content) :]:
            came += connection.recv(2**20)

    _, _, rest = came.partition(b"\r\n\r\n")
    assert rest[: len(content)] == content
    assert rest[len(content) :].startswith(b"HTTP/1.1 200")

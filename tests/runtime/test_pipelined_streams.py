"""A stream asked for behind another request of its connection, without waiting for the answer."""

import time
from typing import Any

import pytest
from waitress.channel import HTTPChannel

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

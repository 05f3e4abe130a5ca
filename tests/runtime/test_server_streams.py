"""Connections that views leave to the thread of the streams: bytes, clocks, limits, the stop."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.event_streams import EventStream
from tests.numbered_streams import KEY, Served
from tests.services import wait_until
from tests.serving import connect, get, new_app, serving
from webapp import open_files
from webapp.config import Settings
from webapp.runtime import server_stream_connections, server_streams
from webapp.runtime.server_connections import Listener
from webapp.web.wakeups import Wakeups
from webapp.wire.event_stream import ACCOUNT_SHARE, OF_HOLDER, Place, frame


def test_a_stream_is_sent_what_is_there_and_what_comes(served: Served) -> None:
    served.feed.add(served.app, "before")
    with served.stream() as stream:
        first = stream.next()
        began = time.monotonic()
        served.feed.add(served.app, "after")
        second = stream.next()

        assert (first.data, second.data) == ("before", "after")
        assert time.monotonic() - began < 0.5
        assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert stream.headers["connection"] == "close"


def test_http_1_0_is_sent_no_chunks(served: Served) -> None:
    served.feed.add(served.app)
    with served.stream(version="1.0") as stream:
        assert stream.next().data == "x"
        assert "transfer-encoding" not in stream.headers


def test_every_byte_arrives_once_and_in_order_under_load(served: Served) -> None:
    """The loop of waitress must have parted with a connection that another thread writes to."""
    stop = threading.Event()

    def load() -> None:
        while not stop.is_set():
            assert get(served.app, "/healthz").startswith(b"HTTP/1.1 200")

    def add() -> None:
        for number in range(1_500):
            served.feed.add(served.app, f"{number} " + "x" * (number % 3_000))

    def read() -> list[str]:
        with served.stream() as stream:
            found = []
            for event in stream.events():
                found.append(event.data.split(" ")[0])
                if len(found) == 1_500:
                    return found
        raise EOFError(f"the stream ended after {len(found)}")

    with ThreadPoolExecutor(24) as pool:
        loads = [pool.submit(load) for _ in range(3)]
        readers = [pool.submit(read) for _ in range(20)]
        wait_until(lambda: served.count == 20, "opening the streams", 20)
        pool.submit(add).result()
        found = [reader.result(60) for reader in readers]
        stop.set()
        for each in loads:
            each.result()

    assert found == [[str(number) for number in range(1_500)]] * 20


def test_many_streams_at_one_place_are_read_for_once(served: Served) -> None:
    with ExitStack() as stack:
        streams = [stack.enter_context(served.stream()) for _ in range(40)]
        wait_until(lambda: served.count == 40, "opening them", 10)
        served.feed.add(served.app)
        for stream in streams:
            stream.next()
        standing = served.feed.reads[Place(KEY, None)]
        time.sleep(1.2)

    assert standing < 60  # each was looked at when it came; 40 times 40 if each read for itself
    assert served.feed.reads[Place(KEY, 1)] < 6


def test_streams_hold_no_serving_thread(served: Served) -> None:
    """There are 256, of which waits may take half."""
    with ExitStack() as stack:
        streams = [stack.enter_context(served.stream()) for _ in range(300)]
        wait_until(lambda: served.count == 300, "opening them", 20)
        idle = len(served.server._dispatcher._idle)
        began = time.monotonic()
        for _ in range(20):
            assert get(served.app, "/healthz").startswith(b"HTTP/1.1 200")
        took = time.monotonic() - began
        served.feed.add(served.app)
        for stream in streams:
            assert stream.next().data == "x"

        assert idle > 250
        assert took < 2
        assert len(served.server._sockets) < 20  # nor a place in the loop


def test_one_token_has_four_and_the_process_so_many(served: Served) -> None:
    served.server._streams._most = 6
    with ExitStack() as stack:
        for _ in range(4):
            assert stack.enter_context(served.stream("one")).status == 200
        with served.stream("one") as fifth:
            assert fifth.status == 429
        for _ in range(2):
            assert stack.enter_context(served.stream("two")).status == 200
        with served.stream("three") as full:
            assert full.status == 429
    wait_until(lambda: served.count == 0, "giving the places back", 5)
    with served.stream("one") as again:
        assert again.status == 200


def test_streams_count_among_the_connections(served: Served) -> None:
    """They hold descriptors, for which idle connections make room."""
    with ExitStack() as stack:
        streams = [stack.enter_context(served.stream()) for _ in range(20)]
        wait_until(lambda: served.count == 20, "opening them", 10)
        for _ in range(20):
            stack.enter_context(connect(served.app))
        wait_until(lambda: len(served.server._sockets) > 20, "accepting", 5)
        served.server._most = 40
        wait_until(lambda: len(served.server._sockets) + 20 <= 40, "closing idle ones", 5)
        served.feed.add(served.app)

        assert {stream.next().data for stream in streams} == {"x"}


def test_streams_leave_half_of_the_connections_to_others(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "for_connections", lambda: 6)
    app = new_app(settings)
    with serving(app) as server:
        taken = [server._streams.reserve(str(number), str(number)) for number in range(4)]

    assert taken == [True] * 3 + [False]


def test_a_view_that_fails_after_all_gives_its_place_back(served: Served) -> None:
    for _ in range(5):
        assert get(served.app, "/test/stream?holder=one&fails=1").startswith(b"HTTP/1.1 500")

    assert served.count == 0


def test_a_client_that_left_gives_its_place_back(served: Served) -> None:
    for _ in range(5):
        with served.stream("one") as stream:
            assert stream.status == 200
        wait_until(lambda: served.count == 0, "noticing that", 5)


def test_what_the_client_sends_is_dropped(served: Served) -> None:
    with served.stream() as stream:
        asked = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20_000
        stream.connection.sendall(asked)
        served.feed.add(served.app)

        assert stream.next().data == "x"
        served.feed.ends = dict.fromkeys(served.server._streams._held, "revoked")
        assert [event.data for event in stream.events()] == [{"reason": "revoked"}]
    wait_until(lambda: served.count == 0, "closing it", 5)


def test_clients_that_send_without_end_hold_nobody_up(served: Served) -> None:
    stop = threading.Event()

    def flood() -> int:
        sent = 0
        with served.stream() as stream:
            while not stop.is_set():
                sent += stream.connection.send(bytes(65_536))
        return sent

    with ThreadPoolExecutor(8) as pool, served.stream() as stream:
        floods = [pool.submit(flood) for _ in range(8)]
        wait_until(lambda: served.count == 9, "opening them", 5)
        seconds = []
        for _ in range(10):
            time.sleep(0.1)
            began = time.monotonic()
            served.feed.add(served.app)
            stream.next()
            seconds.append(time.monotonic() - began)
        stop.set()
        dropped = sum(each.result() for each in floods)

    assert dropped > 10_000_000
    assert max(seconds) < 1


def test_what_is_asked_along_with_the_stream_is_dropped(served: Served) -> None:
    with connect(served.app) as connection:
        host = f" HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n"
        connection.sendall(f"GET /test/stream?holder=one{host}GET /healthz{host}".encode())
        stream = EventStream(connection)
        stream.read_head()
        served.feed.add(served.app)

        assert stream.next().data == "x"
        assert b"HTTP/1.1" not in stream.raw + stream.received


def test_a_response_before_the_stream_is_sent_whole(served: Served) -> None:
    """A client that sends the next request without reading leaves the first answer unsent."""
    size = 8_000_000
    served.app.add_url_rule("/test/large", "large", lambda: "x" * size)
    host = f" HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n"
    with connect(served.app) as connection:
        wait_until(lambda: any(served.server._channels()), "accepting", 5)
        (channel,) = served.server._channels()
        channel.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32_768)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32_768)
        connection.sendall(f"GET /test/large{host}GET /test/stream?holder=one{host}".encode())
        large = EventStream(connection)
        large.read_head()
        while served.count == 0:
            large._receive()
        time.sleep(0.3)
        served.feed.add(served.app)
        while len(large.raw) < size:
            large._receive()
        stream = EventStream(connection, raw=large.raw[size:])
        stream.read_head()
        stream._unchunk()

        assert large.raw[:size] == b"x" * size
        assert stream.next().data == "x"


def test_the_loop_leaves_a_connection_alone_until_it_is_handed_over(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_over, waiting = Listener.hand_over, threading.Event()
    monkeypatch.setattr(
        Listener, "hand_over", lambda self: hand_over(self) if waiting.is_set() else None
    )
    with connect(served.app) as connection:
        host = f" HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n"
        connection.sendall(f"GET /test/stream?holder=one{host}".encode())
        wait_until(lambda: any(listener.left for listener in served.server._listeners), "it", 5)
        (channel,) = served.server._channels()
        connection.sendall(f"GET /healthz{host}".encode())
        channel.handle_write()
        channel.handle_close()
        time.sleep(0.2)
        idle = channel.is_idle
        waiting.set()
        served.feed.add(served.app)
        get(served.app, "/healthz")
        stream = EventStream(connection)
        stream.read_head()
        stream._unchunk()

        assert stream.next().data == "x"
        assert not idle


def test_clocks_and_bounds(settings: Settings) -> None:
    clocks = server_stream_connections

    assert (clocks.STREAM_SECONDS, clocks.COMMENT_SECONDS) == (15 * 60, 15)
    assert (clocks.UNREAD_BYTES, clocks.UNREAD_SECONDS) == (256 * 1024, 30)
    assert (settings.max_streams, OF_HOLDER, ACCOUNT_SHARE) == (1_000, 4, 8)
    assert settings.max_stream_bytes == 64 * 1024**2


def test_a_comment_keeps_a_silent_stream_open(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_streams, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(server_streams, "COMMENT_SECONDS", 0.4)
    monkeypatch.setattr(server_stream_connections, "COMMENT_SECONDS", 0.4)
    with served.stream() as stream:
        time.sleep(1.2)
        served.feed.add(served.app)

        assert stream.next().data == "x"
        assert 1 <= stream.comments <= 3


def test_a_stream_ends_after_its_time(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_stream_connections, "STREAM_SECONDS", 1.0)
    with served.stream() as stream:
        assert [event.data for event in stream.events()] == [{"reason": "time"}]
        assert stream.ended


@pytest.mark.parametrize("reason", ["revoked", "expired"])
def test_a_stream_ends_with_its_token(served: Served, reason: str) -> None:
    with served.stream("one") as stream, served.stream("two") as other:
        served.feed.ends["one"] = reason
        began = time.monotonic()

        assert [event.data for event in stream.events()] == [{"reason": reason}]
        assert time.monotonic() - began < 2
        served.feed.add(served.app)
        assert other.next().data == "x"


def test_a_database_that_is_away_ends_no_stream(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with served.stream() as stream:
        served.feed.fails = True
        for _ in range(10):
            served.feed.add(served.app)
            time.sleep(0.12)
        served.feed.fails = False

        assert stream.next().data == "x"
        assert caplog.text.count("the streams could not be read") == 1


def test_a_stop_ends_the_streams(served: Served) -> None:
    with ExitStack() as stack:
        streams = [stack.enter_context(served.stream()) for _ in range(20)]
        wait_until(lambda: served.count == 20, "opening them", 10)
        began = time.monotonic()
        served.server.stop()
        ends = [[event.data for event in stream.events()] for stream in streams]

        assert ends == [[{"reason": "stopping"}]] * 20
        assert all(stream.ended for stream in streams)
        assert time.monotonic() - began < 3


def test_a_stop_waits_for_no_client(served: Served) -> None:
    with served.stream("slow"), served.stream("silent"):
        for number in range(500):
            served.feed.add(served.app, f"{number} " + "x" * 4_000)
        began = time.monotonic()
        served.server.stop()
        wait_until(lambda: not served.server._dispatcher.threads, "stopping", 10)

        assert time.monotonic() - began < 5
        assert not served.server._streams._followers


def test_a_stop_with_a_stream_a_wait_and_a_slow_request(served: Served) -> None:
    waiting: Wakeups = served.app.extensions["wakeups"]
    begun = threading.Event()

    def wait() -> str:
        waiting.wait_until("key", lambda: None, 20, account_id="acc", gone=lambda: False)
        return "nothing"

    def slow() -> str:
        begun.set()
        time.sleep(1)
        return "all of it"

    served.app.add_url_rule("/test/wait", "wait", wait)
    served.app.add_url_rule("/test/slow", "slow", slow)
    with ThreadPoolExecutor(2) as pool, served.stream() as stream:
        asked = [pool.submit(get, served.app, f"/test/{what}") for what in ("wait", "slow")]
        wait_until(lambda: "key" in waiting._waiters and begun.is_set(), "waiting", 5)
        began = time.monotonic()
        served.server.stop()

        assert [event.data for event in stream.events()] == [{"reason": "stopping"}]
        assert [each.result(5).partition(b"\r\n\r\n")[2] for each in asked] == [
            b"nothing",
            b"all of it",
        ]
        wait_until(lambda: not served.server._dispatcher.threads, "stopping", 5)
        assert time.monotonic() - began < 5


def test_a_stream_that_comes_with_the_stop_is_refused(served: Served) -> None:
    assert served.server._streams.reserve("one", "a")
    served.server._streams.stop()

    assert not served.server._streams.reserve("two", "b")


def test_the_data_of_an_event_is_one_line() -> None:
    text = "a\rb\nc\r\n\r\nevent: end\n\ndata: {}\u2028\u2029\x85"

    lines = frame("answer", text, "1").decode().split("\n")

    assert [line.split(":")[0] for line in lines] == ["id", "event", "data", "", ""]
    assert json.loads(lines[2].removeprefix("data: ")) == text
    assert "\r" not in lines[2]

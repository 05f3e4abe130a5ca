"""Connections that views leave to the streams: bytes, clocks, limits, the stop."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from api.wire.event_stream import Stream, StreamPosition, frame
from tests.numbered_streams import KEY, Served
from tests.services import wait_until
from tests.serving import connect, get
from webapp.app import streams


def test_every_byte_arrives_once_and_in_order_under_load(served: Served) -> None:
    stop = threading.Event()

    def load() -> None:
        while not stop.is_set():
            assert get(served.app, "/healthz").startswith(b"HTTP/1.1 200")

    def read() -> list[str]:
        with served.stream() as stream:
            return [stream.next().data.split(" ")[0] for _ in range(1_000)]

    with ThreadPoolExecutor(24) as pool:
        loads = [pool.submit(load) for _ in range(3)]
        readers = [pool.submit(read) for _ in range(20)]
        wait_until(lambda: served.count == 20, "opening the streams", 20)
        for number in range(1_000):
            served.feed.add(served.app, f"{number} " + "x" * (number % 3_000))
        found = [reader.result(60) for reader in readers]
        stop.set()
        for each in loads:
            each.result()

    assert found == [[str(number) for number in range(1_000)]] * 20


def test_one_token_has_four_and_the_process_so_many(served: Served) -> None:
    served.streams.slots._most = 6
    with ExitStack() as stack:
        taken = [
            stack.enter_context(served.stream(holder)) for holder in ("one",) * 5 + ("two",) * 3
        ]

        assert [stream.status for stream in taken] == [200] * 4 + [429] + [200] * 2 + [429]
    wait_until(lambda: served.count == 0, "giving the places back", 5)
    with served.stream("one") as again:
        assert again.status == 200


def test_a_view_that_fails_after_all_gives_its_place_back(served: Served) -> None:
    for _ in range(5):
        assert get(served.app, "/test/stream?holder=one&fails=1").startswith(b"HTTP/1.1 500")

    assert served.count == 0


def test_a_flood_of_requests_behind_a_stream_stops_nobody(served: Served) -> None:
    flood = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20_000
    with served.stream() as stream:
        stream.connection.setblocking(False)  # noqa: FBT003 - name of the socket's own
        stream.connection.send(flood)
        stream.connection.settimeout(10)
        served.feed.add(served.app)

        assert stream.next().data == "x"
        assert get(served.app, "/healthz").startswith(b"HTTP/1.1 200")
        served.feed.ends = dict.fromkeys(served.streams.slots._held, "revoked")
        assert stream.next().data == {"reason": "revoked"}
    wait_until(lambda: served.count == 0, "closing it", 5)


def test_a_comment_keeps_a_silent_stream_open(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr("api.wire.event_stream.COMMENT_SECONDS", 0.4)
    with served.stream() as stream:
        wait_until(lambda: stream._receive() and stream.raw.count(b":\n\n") >= 2, "comments", 10)
        served.feed.add(served.app)

        assert stream.next().data == "x"


def test_a_stream_ends_after_its_time(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "STREAM_SECONDS", 1.0)
    with served.stream() as stream:
        assert [event.data for event in stream.events()] == [{"reason": "time"}]
        assert stream.ended


def test_a_stream_ends_with_its_token(served: Served) -> None:
    with served.stream("one") as stream, served.stream("two") as other:
        served.feed.ends["one"] = "revoked"

        assert [event.data for event in stream.events()] == [{"reason": "revoked"}]
        served.feed.add(served.app)
        assert other.next().data == "x"


def test_a_database_that_is_away_ends_no_stream(served: Served) -> None:
    with served.stream() as stream:
        served.feed.fails = True
        served.feed.add(served.app)
        time.sleep(0.5)
        served.feed.fails = False

        assert stream.next().data == "x"


def test_a_slow_client_is_closed_and_holds_nobody_up(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "UNREAD_SECONDS", 1.0)
    with served.stream("slow") as slow, served.stream("quick") as quick:
        slow.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for number in range(3_000):
            served.feed.add(served.app, f"{number} " + "x" * 4_000)
        found = [quick.next().data.split(" ")[0] for _ in range(3_000)]
        wait_until(lambda: served.count == 1, "closing the slow one", 10)

        assert found == [str(number) for number in range(3_000)]


def test_a_stop_ends_the_streams_and_waits_for_no_client(served: Served) -> None:
    with ExitStack() as stack:
        opened = [stack.enter_context(served.stream()) for _ in range(20)]
        slow = stack.enter_context(served.stream("slow", since=0))
        slow.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        silent = stack.enter_context(connect(served.app))
        wait_until(lambda: served.count == 21, "opening them", 10)
        began = time.monotonic()
        served.server.stop()
        ends = [[event.data for event in stream.events()] for stream in opened]
        served.thread.join(10)

        assert ends == [[{"reason": "stopping"}]] * 20
        assert time.monotonic() - began < 5
        assert silent.recv(10) == b""
        assert not served.streams.reserve(Stream(StreamPosition(KEY, None), "new", "acc"))


def test_the_data_of_an_event_is_one_line() -> None:
    text = "a\rb\nc\r\n\r\nevent: end\n\ndata: {}\u2028\u2029\x85"

    lines = frame("answer", text, "1").decode().split("\n")

    assert [line.split(":")[0] for line in lines] == ["id", "event", "data", "", ""]
    assert json.loads(lines[2].removeprefix("data: ")) == text
    assert "\r" not in lines[2]

"""Clients of streams that do not take what they are sent."""

import socket
import time
from contextlib import ExitStack

import pytest

from tests.event_streams import EventStream
from tests.numbered_streams import KEY, Served
from tests.services import wait_until
from webapp.runtime import server_stream_connections
from webapp.runtime.server_stream_connections import UNREAD_BYTES
from webapp.wire.event_stream import Place, Stream, frame


def test_a_slow_client_is_closed_and_holds_nobody_up(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_stream_connections, "UNREAD_SECONDS", 1.0)
    with served.stream("slow") as slow, served.stream("quick") as quick:
        slow.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for number in range(2_000):
            served.feed.add(served.app, f"{number} " + "x" * 4_000)
        found = [quick.next().data.split(" ")[0] for _ in range(2_000)]
        wait_until(lambda: served.count == 1, "closing the slow one", 10)
        served.feed.add(served.app, "last")

        assert found == [str(number) for number in range(2_000)]
        assert quick.next().data == "last"
        with pytest.raises(ConnectionResetError):
            list(slow.events())


def test_no_more_is_kept_for_a_slow_client_than_its_share(served: Served) -> None:
    served.feed.most = 5
    with served.stream("slow"):
        for number in range(2_000):
            served.feed.add(served.app, f"{number} " + "x" * 4_000)
        time.sleep(1.5)
        (slow,) = next(iter(served.server._streams._followers.values()))

        assert UNREAD_BYTES <= slow.unread < UNREAD_BYTES + 25_000


def test_slow_clients_together_are_held_no_more_than_the_process_may(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """Those that are most behind go; what they were not sent they get when they come back."""
    streams, most = served.server._streams, 1_000_000
    streams._most_bytes = most
    for number in range(2_000):
        served.feed.stored.append(frame("answer", f"{number} " + "x" * 4_000, str(number)))
    with ExitStack() as stack:
        slow = [stack.enter_context(served.stream(since=9 * each)) for each in range(1, 13)]
        wait_until(lambda: served.count < 12, "closing some", 10)
        time.sleep(0.5)
        followers = next(iter(streams._followers.values()))

        assert 500_000 < sum(each.held for each in followers) <= most  # who may stay, stays
        assert caplog.text.count("MAX_STREAM_BYTES") == 1
        for number, each in enumerate(slow, 1):
            assert read_all(served, each, 9 * number) == list(range(9 * number, 2_000))


def read_all(served: Served, stream: EventStream, first: int) -> list[int]:
    """The numbers of all events from the first one, on new streams where one is reset."""
    found: list[int] = []
    try:
        for event in stream.events():
            found.append(int(event.id))
            if found[-1] == len(served.feed.stored) - 1:
                break
    except ConnectionResetError:
        following = found[-1] + 1 if found else first
        with served.stream(since=following) as again:
            found += read_all(served, again, following)
    return found


def test_what_slow_clients_share_is_held_once() -> None:
    def connection(*sent: bytes) -> server_stream_connections.Connection:
        with socket.socket() as unused:
            made = server_stream_connections.Connection(
                Stream(Place(KEY, None), "one", "acc"), unused, chunked=False
            )
        for data in sent:
            made.append(data)
        return made

    shared = b"s" * 100
    equal = [connection(shared) for _ in range(50)]
    behind, more = connection(shared, b"a" * 300), connection(b"b" * 200)
    everyone = [*equal, more, behind]

    assert server_stream_connections.most_behind(equal, 100) == []
    assert server_stream_connections.most_behind(everyone, 600) == []
    assert server_stream_connections.most_behind(everyone, 599) == [behind]
    assert server_stream_connections.most_behind(everyone, 299) == [behind, more]
    assert len(server_stream_connections.most_behind(everyone, 99)) == 52


def test_a_client_that_reads_again_is_sent_the_rest(served: Served) -> None:
    with served.stream() as stream:
        stream.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        for number in range(1_000):
            served.feed.add(served.app, f"{number} " + "x" * 4_000)
        time.sleep(0.5)
        began = time.monotonic()
        found = [stream.next().data.split(" ")[0] for _ in range(1_000)]

        assert found == [str(number) for number in range(1_000)]
        assert time.monotonic() - began < 5

"""One connection of the server: reading, refusing, closing."""

import fcntl
import socket
import sys
import termios
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

from webapp.config import Settings
from webapp.runtime.server_requests import Answer, Parser, Refusal
from webapp.runtime.server_stream_connections import discard_unsent
from webapp.runtime.server_streams import Streams
from webapp.wire.event_stream import Stream

STALL_SECONDS = 30.0  # after which a client that reads nothing of its response is dropped
LINGER_SECONDS = 5.0  # for a client that keeps sending after its request was refused
TAKEN_AT_ONCE = 32  # new connections; with BODIES_AT_ONCE less than the spare descriptors


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection."""

    parser_class = Parser
    task_class = Answer
    error_task_class = Refusal
    lingers = False
    header = b""  # of the response, until the first part of its body is written
    _sends = False  # while the thread that serves a request sends
    _is_listened_to = False  # whether the loop polls this socket for data
    _deaf_until: float | None = None
    _waited_since = 0.0  # for the first byte of the request that is being received
    _left: tuple[float, int] | None = None  # last activity and unacknowledged bytes, as last seen
    _left_since = 0.0
    _stream: tuple[Stream, bytes, bool] | None = None  # what `Streams.take` goes on with

    def __repr__(self) -> str:
        """Without the network address: waitress logs it with exceptions."""
        return f"<{type(self).__name__}>"

    __str__ = __repr__

    def handle_close(self) -> None:
        """Close; after a refusal, shut down only our side first.

        Closing a socket while its client still sends would reset the connection, and the refusal
        might be lost. A connection that is left to a stream is closed by that.
        """
        if self._stream:
            return
        if self.lingers and self._deaf_until is None:
            self._deaf_until = time.monotonic() + LINGER_SECONDS
            self.will_close = False
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
                return
        self.close()

    def received(self, data: bytes) -> bool:
        """Process received data; whatever follows a refusal is discarded."""
        if self._deaf_until is None:
            return bool(super().received(data))
        if time.monotonic() > self._deaf_until:
            self.handle_close()
        return False

    def service(self) -> None:
        """Serve a request, in a thread of its own."""
        _serving.channel, _serving.leaves = self, False
        try:
            super().service()
        finally:
            _serving.channel = None
            # not `_stream`: the thread of the request before may still be here
            if _serving.leaves:
                self.server.left.append(self)
                self.server.pull_trigger()

    def leave_to(self, stream: Stream, *, chunked: bool) -> None:
        """Once the request is served, give the connection with the header to the stream."""
        header, self.header = self.header, b""
        self._stream = stream, header, chunked
        _serving.leaves = True

    def hand_over(self) -> None:
        """Part with the connection; only between two polls of the loop.

        A response to a request before may be left, if the client did not wait for it.
        """
        if self._stream:
            stream, header, chunked = self._stream
            left = b"".join(part for each in self.outbufs for part in _parts(each))
            for each in self.outbufs:
                each.close()
            self.del_channel()
            self.server.streams.take(stream, self.socket, left + header, chunked=chunked)

    def write_soon(self, data: Any) -> int:
        """Send the header of the response together with the first part of its body."""
        if data and self.header and isinstance(data, bytes):
            header, self.header = self.header, b""
            data = header + data
        elif data:
            self.send_header()
        count: int = super().write_soon(data)
        return count

    def send_header(self) -> None:
        """Send the header, unless it was sent with a part of the body."""
        header, self.header = self.header, b""
        super().write_soon(header)

    def _flush_some(self, do_close: bool = True) -> bool:  # noqa: FBT001, FBT002
        """Send what the socket accepts; between requests the loop does so, which may close it.

        A thread never closes it: the loop walks through the connections, and the number of one
        that it polls must not be given to another.
        """
        do_close = do_close and _serving.channel is None
        self._sends = not do_close
        try:
            return bool(super()._flush_some(do_close))
        finally:
            self._sends = False

    @property
    def needs_loop(self) -> bool:
        """Whether the loop must be woken for this connection."""
        return not self._is_listened_to or self.writable()

    def writable(self) -> bool:
        """False while a thread sends: it leaves to the loop what it cannot send."""
        return bool(super().writable()) and not self._sends

    def readable(self) -> bool:
        """False while the next data may need a file and none is available: it stays in the socket.

        What a thread is sending counts as sent.
        """
        self._is_listened_to = False  # first, because a thread may finish its request meanwhile
        self._is_listened_to = not (
            self.will_close
            or self.close_when_flushed
            or self._stream
            or len(self.requests) > self.adj.channel_request_lookahead
            or (self.total_outbufs_len and not self._sends)
            or (self._nears_file and not self.server.bodies_left)
        )
        return self._is_listened_to

    def handle_read(self) -> None:
        """Read more data, unless other connections took the remaining files in this turn."""
        if self.request is None:
            self._waited_since = self.last_activity
        if self._nears_file:
            if not self.server.bodies_left:
                return
            self.server.bodies_left -= 1
        super().handle_read()

    @property
    def _nears_file(self) -> bool:
        return self.request is not None and self.request.nears_file

    @property
    def files(self) -> int:
        """Open files besides the socket: bodies and responses too large for memory, recordings."""
        bodies = [each for each in (*self.requests, self.request) if each and each.is_in_file]
        answers = [each for each in self.outbufs if _is_file(each)]
        return len(bodies) + len(answers)

    @property
    def waits_since(self) -> float:
        """When it was accepted, or its last response was sent, in seconds since the epoch.

        A part of a request changes nothing: a client that sends single bytes gains no time, and a
        connection whose request is not read yet is newer than those accepted before it.
        """
        return float(self._waited_since if self.request else self.last_activity)

    @property
    def is_idle(self) -> bool:
        """True without a complete request and without unsent data."""
        return not (self.requests or self.total_outbufs_len or self._stream)

    def is_stalled(self, now: float) -> bool:
        """Whether the client has read nothing of its response for STALL_SECONDS.

        Unacknowledged bytes in the kernel count: a slow client reads those before we can send more.
        """
        left = None
        if self.total_outbufs_len:
            left = (self.last_activity, _unacknowledged(self.socket))
        if left != self._left:
            self._left, self._left_since = left, now
        return left is not None and now - self._left_since > STALL_SECONDS

    def abandon(self) -> None:
        """Reset the connection; a thread that writes to it learns that the client is gone."""
        discard_unsent(self.socket)
        self.close()

    def cancel(self) -> None:
        """Discard the requests that no thread has started, with the files of their bodies."""
        for request in self.requests:
            request.close()
        super().cancel()

    def close(self) -> None:
        """Close immediately, with all files; the stop does so with the remaining connections."""
        super().handle_close()
        if self.request is not None:  # half received: a large body is in a file
            self.request.close()


def _parts(buffer: Any) -> Iterator[bytes]:
    """All of it, which a file gives in parts."""
    while part := buffer.get(buffer.__len__(), True):  # noqa: FBT003 - removed from the buffer
        yield part


def _is_file(buffer: Any) -> bool:
    return isinstance(buffer, ReadOnlyFileBasedBuffer) or getattr(buffer, "overflowed", False)


def _unacknowledged(connection: socket.socket) -> int:
    """Sent bytes that the other side has not acknowledged."""
    with suppress(OSError):
        answer = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
        return int.from_bytes(answer, sys.byteorder)
    return 0


class _Serving(threading.local):
    """The connection that the current thread serves, and whether its request leaves it."""

    channel: Channel | None = None
    leaves = False


_serving = _Serving()


class Listener(TcpWSGIServer):  # type: ignore[misc]
    """One listening socket with its connections."""

    channel_class = Channel
    streams: Streams
    config: Settings
    bodies_left = 0  # large bodies that may still be stored in files in this turn of the loop

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.left: deque[Channel] = deque()  # connections that wait to be handed over
        super().__init__(*args, **kwargs)

    def hand_over(self) -> None:
        """Give connections to their streams; only between two polls of the loop."""
        while self.left:
            self.left.popleft().hand_over()

    def pull_trigger(self) -> None:
        """Wake the loop, unless the request of this thread leaves it nothing to do."""
        if _serving.channel is None or _serving.channel.needs_loop:
            super().pull_trigger()

    def handle_accept(self) -> None:
        """Accept several connections: each turn of the loop polls all connections."""
        for _ in range(TAKEN_AT_ONCE):
            before = len(self.active_channels)
            super().handle_accept()
            if len(self.active_channels) == before:
                return

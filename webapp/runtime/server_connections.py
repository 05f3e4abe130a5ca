"""One connection of the server: what it reads, what it refuses, and how it ends."""

import fcntl
import socket
import struct
import sys
import termios
import threading
import time
from contextlib import suppress
from typing import Any

from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

from webapp.runtime.server_requests import Answer, Parser, Refusal

STALL_SECONDS = 30.0  # for a client that takes nothing of what it is owed
LINGER_SECONDS = 5.0  # for a client that sends on after its request was refused
TAKEN_AT_ONCE = 32  # new connections; with BODIES_AT_ONCE below the spare file numbers
ABORT = struct.pack("ii", 1, 0)  # SO_LINGER: reset, and forget what was not sent


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection."""

    parser_class = Parser
    task_class = Answer
    error_task_class = Refusal
    lingers = False
    header = b""  # of the answer, while nothing of its body is there
    _sends = False  # while a thread that serves a request sends
    _is_listened_to = False  # whether the loop waits for what the client sends
    _deaf_until: float | None = None
    _left: tuple[float, int] | None = None  # to take, as last seen
    _left_since = 0.0

    def __repr__(self) -> str:
        """For the log, which names no network addresses: waitress writes it with an exception."""
        return f"<{type(self).__name__}>"

    __str__ = __repr__

    def handle_close(self) -> None:
        """Close; after a refusal our half first.

        To close on what a client is still sending would reset the connection, and the refusal
        might be lost with it.
        """
        if self.lingers and self._deaf_until is None:
            self._deaf_until = time.monotonic() + LINGER_SECONDS
            self.will_close = False
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
                return
        self.close()

    def received(self, data: bytes) -> bool:
        """Take what was sent; what follows a refusal is thrown away."""
        if self._deaf_until is None:
            return bool(super().received(data))
        if time.monotonic() > self._deaf_until:
            self.handle_close()
        return False

    def service(self) -> None:
        """Serve a request, in a thread of its own."""
        _serving.channel = self
        try:
            super().service()
        finally:
            _serving.channel = None

    def write_soon(self, data: Any) -> int:
        """Send the header of the answer with the first piece of its body."""
        if data and self.header and isinstance(data, bytes):
            header, self.header = self.header, b""
            data = header + data
        elif data:
            self.send_header()
        count: int = super().write_soon(data)
        return count

    def send_header(self) -> None:
        """Send the header, unless it went with a piece of the body."""
        header, self.header = self.header, b""
        super().write_soon(header)

    def _flush_some(self, do_close: bool = True) -> bool:  # noqa: FBT001, FBT002
        """Send what the client takes; the loop, which may close, also does so between requests."""
        self._sends = not do_close
        try:
            return bool(super()._flush_some(do_close))
        finally:
            self._sends = False

    @property
    def needs_loop(self) -> bool:
        """Whether the loop has something to do here, and does not learn of it by itself."""
        return not self._is_listened_to or self.writable()

    def writable(self) -> bool:
        """Not while a thread sends: what it cannot send it leaves to the loop."""
        return bool(super().writable()) and not self._sends

    def readable(self) -> bool:
        """Not while the next piece may need a file and none is left: what is sent waits outside.

        What a thread is just sending counts as sent.
        """
        self._is_listened_to = False  # first, for a thread that ends its request meanwhile
        self._is_listened_to = not (
            self.will_close
            or self.close_when_flushed
            or len(self.requests) > self.adj.channel_request_lookahead
            or (self.total_outbufs_len and not self._sends)
            or (self._nears_file and not self.server.bodies_left)
        )
        return self._is_listened_to

    def handle_read(self) -> None:
        """Take the next piece, unless others of this turn took the files that were left."""
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
        """Files of this connection besides its socket: bodies and answers too large for memory."""
        bodies = [each for each in (*self.requests, self.request) if each and each.is_in_file]
        answers = [each for each in self.outbufs if getattr(each, "overflowed", False)]
        return len(bodies) + len(answers)

    @property
    def waits_since(self) -> float:
        """When its unfinished request began, else when it was last used, in seconds of the epoch.

        Who sends a byte now and then wins no time by it.
        """
        return float(self.request.begun_at if self.request else self.last_activity)

    @property
    def is_idle(self) -> bool:
        """Whether no complete request is here, and nothing is owed."""
        return not self.requests and not self.total_outbufs_len

    def is_stalled(self, now: float) -> bool:
        """Whether the client has taken nothing of what it is owed for STALL_SECONDS.

        What the system holds for it counts: a slow client takes that before it takes more of us.
        """
        left = None
        if self.total_outbufs_len:
            left = (self.last_activity, _unacknowledged(self.socket))
        if left != self._left:
            self._left, self._left_since = left, now
        return left is not None and now - self._left_since > STALL_SECONDS

    def abandon(self) -> None:
        """Break the connection off; a thread that writes to it learns that its client has gone."""
        with suppress(OSError):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        self.close()

    def cancel(self) -> None:
        """Give up the requests that no thread has begun, with the files of their bodies."""
        for request in self.requests:
            request.close()
        super().cancel()

    def close(self) -> None:
        """Close at once, with all files; a stop does so with the connections that are left."""
        super().handle_close()
        if self.request is not None:  # half received: a large body is kept in a file
            self.request.close()


def _unacknowledged(connection: socket.socket) -> int:
    """Bytes that the system has not yet been told of by the other side."""
    with suppress(OSError):
        answer = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
        return int.from_bytes(answer, sys.byteorder)
    return 0


class _Serving(threading.local):
    """What this thread serves."""

    channel: Channel | None = None


_serving = _Serving()


class Listener(TcpWSGIServer):  # type: ignore[misc]
    """One listening socket with its connections."""

    channel_class = Channel
    bodies_left = 0  # that may be put into files in this turn of the loop

    def pull_trigger(self) -> None:
        """Wake the loop, unless the request that this thread serves leaves it nothing to do."""
        if _serving.channel is None or _serving.channel.needs_loop:
            super().pull_trigger()

    def handle_accept(self) -> None:
        """Take several: each turn of the loop looks at all connections there are."""
        for _ in range(TAKEN_AT_ONCE):
            before = len(self.active_channels)
            super().handle_accept()
            if len(self.active_channels) == before:
                return

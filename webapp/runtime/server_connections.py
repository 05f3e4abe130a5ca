"""One connection of the server: what it reads, what it refuses, and how it ends."""

import fcntl
import logging
import re
import socket
import struct
import sys
import termios
import time
from contextlib import suppress

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, WSGITask

from webapp.runtime.server_errors import refusal

HEAD_BYTES = 1024  # enough of a request line to know where it went
STALL_SECONDS = 30.0  # for a client that takes nothing of what it is owed
LINGER_SECONDS = 5.0  # for a client that sends on after its request was refused
TAKEN_AT_ONCE = 32  # new connections; with BODIES_AT_ONCE below the spare file numbers
ABORT = struct.pack("ii", 1, 0)  # SO_LINGER: reset, and forget what was not sent
REQUEST_LINE = re.compile(rb"\s*\S+ (?:https?://[^/\s]*)?/*(/[^\s?]*)")

log = logging.getLogger("askback.server")


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Remembers where a request went that is refused before its headers were understood."""

    head = b""

    def __init__(self, adj: Adjustments) -> None:
        super().__init__(adj)
        self.begun_at = time.time()

    @property
    def is_in_file(self) -> bool:
        """Whether the body is too large for memory."""
        return self.body_rcv is not None and bool(self.body_rcv.getbuf().overflowed)

    @property
    def nears_file(self) -> bool:
        """Whether the next piece may make the body too large for memory."""
        if self.body_rcv is None or self.is_in_file:
            return False
        return bool(len(self.body_rcv) + self.adj.recv_bytes >= self.adj.inbuf_overflow)

    def parse_header(self, header_plus: bytes) -> None:
        """An absolute request target names the host, not the header (RFC 9112 section 3.2.2)."""
        super().parse_header(header_plus)
        if self.proxy_netloc:
            self.headers["HOST"] = self.proxy_netloc

    def received(self, data: bytes) -> int:
        if len(self.head) < HEAD_BYTES:
            self.head += data[:HEAD_BYTES]
        consumed: int = super().received(data)
        return consumed

    @property
    def for_api(self) -> bool:
        """Whether the refusal needs the body of the contract."""
        found = REQUEST_LINE.match(self.head)
        return bool(found and (found[1] + b"/").startswith(b"/api/"))


class Refusal(ErrorTask):  # type: ignore[misc]
    """What this server refuses before the application sees it."""

    def execute(self) -> None:
        code = self.request.error.code
        log.info("refused", extra={"status": code})
        self.status, content_type, body = refusal(code, self.request.error.reason, self._for_api())
        self.response_headers += [
            ("Content-Type", content_type),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
        ]
        self.channel.lingers = True
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)

    def _for_api(self) -> bool:
        """A fault of the application comes with a request of its own, without an address."""
        asked = self.channel.requests[0] if self.channel.requests else self.request
        return bool(asked.for_api)


class Answer(WSGITask):  # type: ignore[misc]
    """What the application answers."""

    def service(self) -> None:
        """Let every OSError end as any other fault of the application.

        None is of the client: the channel keeps those of its socket to itself.
        """
        self.start()
        self.execute()
        self.finish()


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection."""

    parser_class = Parser
    task_class = Answer
    error_task_class = Refusal
    lingers = False
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

    def readable(self) -> bool:
        """Not while the next piece may need a file and none is left: what is sent waits outside."""
        return bool(super().readable()) and (self.server.bodies_left > 0 or not self._nears_file)

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


class Listener(TcpWSGIServer):  # type: ignore[misc]
    """One listening socket with its connections."""

    channel_class = Channel
    bodies_left = 0  # that may be put into files in this turn of the loop

    def handle_accept(self) -> None:
        """Take several: each turn of the loop looks at all connections there are."""
        for _ in range(TAKEN_AT_ONCE):
            before = len(self.active_channels)
            super().handle_accept()
            if len(self.active_channels) == before:
                return

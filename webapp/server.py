"""The HTTP server: waitress in this process, with our own refusals and a stop that loses nothing.

Requests are read completely before a thread is spent on them, so half-open and dripping clients
cost a socket only. When there are too many of those, the ones that were silent longest go first.
"""

import fcntl
import heapq
import logging
import re
import signal
import socket
import struct
import sys
import termios
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from types import FrameType
from typing import Any

from flask import Flask
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, ThreadedTaskDispatcher

from webapp import open_files
from webapp.config import Settings
from webapp.server_refusals import refusal
from webapp.waiting import THREADS, Waiting

MAX_BODY_BYTES = 32 * 1024 * 1024  # above every limit of our own, which answer in their own words
MAX_HEADER_BYTES = 64 * 1024
HEAD_BYTES = 1024  # enough of a request line to know where it went
UNSENT_BYTES = 512 * 1024  # of one answer; beyond, whoever makes it waits for the client
STALL_SECONDS = 30.0  # for a client that takes nothing of what it is owed
TAKEN_AT_ONCE = 32  # new connections, below the spare file numbers
CLOSED_AT_ONCE = 50  # one in so many of the connections we may have, when there are too many
ABORT = struct.pack("ii", 1, 0)  # SO_LINGER: reset, and forget what was not sent
IDLE_SECONDS = 60  # of a kept or half-open connection
LINGER_SECONDS = 5.0  # for a client that sends on after its request was refused
STOP_SECONDS = 4.0  # for requests under way; the process has 5 s in all
REQUEST_LINE = re.compile(rb"\s*\S+ (?:https?://[^/\s]*)?/*(/[^\s?]*)")

log = logging.getLogger("askback.server")


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Remembers where a request went that is refused before its headers were understood."""

    head = b""

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


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection."""

    parser_class = Parser
    error_task_class = Refusal
    lingers = False
    _deaf_until: float | None = None
    _left: tuple[float, int] | None = None  # to take, as last seen
    _left_since = 0.0

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
        self._close()

    def received(self, data: bytes) -> bool:
        """Take what was sent; what follows a refusal is thrown away."""
        if self._deaf_until is None:
            return bool(super().received(data))
        if time.monotonic() > self._deaf_until:
            self.handle_close()
        return False

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
        self._close()

    def cancel(self) -> None:
        """Give up the requests that no thread has begun, with the files of their bodies."""
        for request in self.requests:
            request.close()
        super().cancel()

    def _close(self) -> None:
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

    def handle_accept(self) -> None:
        """Take several: each turn of the loop looks at all connections there are."""
        for _ in range(TAKEN_AT_ONCE):
            before = len(self.active_channels)
            super().handle_accept()
            if len(self.active_channels) == before:
                return


class Server:
    """Listens from the moment it is made; raises OSError when the address cannot be had."""

    def __init__(self, app: Flask, settings: Settings) -> None:
        self._waiting: Waiting = app.extensions["waiting"]
        self._sockets: dict[int, Any] = {}
        self._stop_at: float | None = None
        self._most = open_files.for_connections()
        self._looked_at = 0.0
        # held while a file number is used or given back; a signal may find its own thread in it
        self._open = threading.RLock()
        adjustments = _adjustments(settings)
        self._dispatcher = ThreadedTaskDispatcher()
        common = {"map": self._sockets, "adj": adjustments, "dispatcher": self._dispatcher}
        try:
            self._listeners = [
                Listener(app, sockinfo=place, **common) for place in adjustments.listen
            ]
        except OSError:
            wasyncore.close_all(self._sockets)
            raise
        self._dispatcher.set_thread_count(THREADS)

    def run(self) -> None:
        """Serve until `stop`; then finish what is under way, for at most STOP_SECONDS."""
        while self._stop_at is None:
            self._poll(1.0)
            self._make_room()
            self._leave_the_stalled()
        self._waiting.stop()
        for listener in self._listeners:
            wasyncore.dispatcher.close(listener)
        while self._busy() and time.monotonic() < self._stop_at:
            self._poll(0.05)
        self._close(self._stop_at - time.monotonic())

    def stop(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        """Begin the stop, from any thread or a signal; a second call ends the patience."""
        with self._open:
            again = self._stop_at is not None
            self._stop_at = time.monotonic() + (0 if again else STOP_SECONDS)
            if not again:
                self._listeners[0].pull_trigger()

    def _close(self, seconds: float) -> None:
        """Close every socket, unless a thread is left that may still write to one."""
        self._dispatcher.shutdown(timeout=max(0.0, seconds))
        with self._open:
            if not self._dispatcher.threads:
                wasyncore.close_all(self._sockets)

    def stop_on_signals(self) -> None:
        """Let Ctrl-C and a supervisor's TERM stop the server; only from the main thread."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)

    def _poll(self, seconds: float) -> None:
        wasyncore.loop(seconds, use_poll=True, map=self._sockets, count=1)

    def _make_room(self) -> None:
        """Close those that were idle longest, so that everybody else gets in.

        Outside of the poll, which may have news of a number that is given to another connection.
        """
        over = len(self._sockets) - self._most
        if over > 0:
            idle = (channel for channel in list(self._channels()) if channel.is_idle)
            many = max(over, self._most // CLOSED_AT_ONCE)
            for channel in heapq.nsmallest(many, idle, key=lambda each: each.last_activity):
                channel.abandon()

    def _leave_the_stalled(self) -> None:
        now = time.monotonic()
        if now - self._looked_at >= 1:
            self._looked_at = now
            for channel in [each for each in self._channels() if each.is_stalled(now)]:
                log.info("a client takes nothing any more")
                channel.abandon()

    def _busy(self) -> bool:
        """Whether an answer is still owed; connections that are owed none are closed."""
        owing = 0
        for channel in list(self._channels()):
            if channel.requests or channel.total_outbufs_len:
                owing += 1
            else:
                channel.will_close = True
        return owing > 0

    def _channels(self) -> Iterable[Channel]:
        for listener in self._listeners:
            yield from listener.active_channels.values()


def _adjustments(settings: Settings) -> Adjustments:
    trusted: dict[str, Any] = {}
    if settings.trusted_proxy:
        trusted = {
            "trusted_proxy": settings.trusted_proxy,
            "trusted_proxy_count": settings.trusted_proxy_count,
            "trusted_proxy_headers": {"x-forwarded-for"},
        }
    return Adjustments(
        host=settings.host,
        port=settings.port,
        threads=THREADS,
        url_scheme="https" if settings.secure else "http",
        channel_request_lookahead=1,  # without it a thread never learns that its client has gone
        max_request_body_size=MAX_BODY_BYTES,
        max_request_header_size=MAX_HEADER_BYTES,
        connection_limit=sys.maxsize,  # at which it would accept nobody; we make room
        channel_timeout=IDLE_SECONDS,
        outbuf_high_watermark=UNSENT_BYTES,
        asyncore_use_poll=True,  # select() ends at file number 1024
        clear_untrusted_proxy_headers=True,
        log_socket_errors=False,
        ident=None,
        **trusted,
    )

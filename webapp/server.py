"""The HTTP server: waitress in this process, with our own refusals and a stop that loses nothing.

Requests are read completely before a thread is spent on them, so half-open and dripping clients
cost a socket only.
"""

import logging
import re
import resource
import signal
import socket
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from types import FrameType
from typing import Any

import orjson
from flask import Flask
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, ThreadedTaskDispatcher

from webapp.config import Settings
from webapp.waiting import THREADS, Waiting

MAX_BODY_BYTES = 32 * 1024 * 1024  # above every limit of our own, which answer in their own words
MAX_HEADER_BYTES = 64 * 1024
MAX_CONNECTIONS = 4000
HEAD_BYTES = 1024  # enough of a request line to know where it went
SPARE_FILES = 128  # database, logs, temporary bodies
UNSENT_BYTES = 1024 * 1024  # of one answer; beyond, whoever makes it waits for the client
IDLE_SECONDS = 60  # of a kept or half-open connection
LINGER_SECONDS = 5.0  # for a client that sends on after its request was refused
STOP_SECONDS = 4.0  # for requests under way; the process has 5 s in all
REQUEST_LINE = re.compile(rb"\s*\S+ (?:https?://[^/\s]*)?/*(/[^\s?]*)")

log = logging.getLogger("askback.server")


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Remembers where a request went that is refused before its headers were understood."""

    head = b""

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
        if self.request.for_api:
            self.status, body = _api_refusal(code)
            content_type = "application/json"
        else:
            self.status = f"{code} {self.request.error.reason}"
            body = f"{self.request.error.reason}.{_what_it_means(code)}\n".encode()
            content_type = "text/plain; charset=utf-8"
        self.response_headers += [
            ("Content-Type", content_type),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
        ]
        self.channel.lingers = True
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection."""

    parser_class = Parser
    error_task_class = Refusal
    lingers = False
    _deaf_until: float | None = None

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
        super().handle_close()

    def received(self, data: bytes) -> bool:
        """Take what was sent; what follows a refusal is thrown away."""
        if self._deaf_until is None:
            return bool(super().received(data))
        if time.monotonic() > self._deaf_until:
            self.handle_close()
        return False


class Listener(TcpWSGIServer):  # type: ignore[misc]
    """One listening socket with its connections."""

    channel_class = Channel


class Server:
    """Listens from the moment it is made; raises OSError when the address cannot be had."""

    def __init__(self, app: Flask, settings: Settings) -> None:
        self._waiting: Waiting = app.extensions["waiting"]
        self._sockets: dict[int, Any] = {}
        self._stop_at: float | None = None
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
        connection_limit=_connection_limit(),
        channel_timeout=IDLE_SECONDS,
        outbuf_high_watermark=UNSENT_BYTES,
        asyncore_use_poll=True,  # select() ends at file number 1024
        clear_untrusted_proxy_headers=True,
        log_socket_errors=False,
        ident=None,
        **trusted,
    )


def _connection_limit() -> int:
    """As many connections as open files allow, after asking for as many as we may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + SPARE_FILES
    if soft < wanted and soft != resource.RLIM_INFINITY:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(SPARE_FILES, min(MAX_CONNECTIONS, soft - SPARE_FILES))


def _what_it_means(code: int) -> str:
    """An application that failed at its very end may have done its work before."""
    read_only = code < 500 or code == 501
    return " Nothing was changed." if read_only else " What was saved before is safe."


def _api_refusal(code: int) -> tuple[str, bytes]:
    """Status line and body with the four fields; too large and unreadable are both a 400 there."""
    if code >= 500 and code != 501:
        status, name = "500 Internal Server Error", "internal_error"
        message = "The service could not complete the request."
        resolution = "Try again; if it happens again, tell the operator of this service."
    elif code in (413, 431):
        status, name = "400 Bad Request", "payload_too_large"
        message = (
            f"{'body: is' if code == 413 else 'The headers are'} larger than this server reads."
        )
        resolution = "Send less: all questions of a draft together must fit into 256 KiB."
    else:
        status, name = "400 Bad Request", "validation_failed"
        message = "The request is not HTTP/1.1 that this server understands."
        resolution = "Check the request line, the headers and the transfer encoding."
    fields = {"error": message, "code": name, "message": message, "resolution": resolution}
    return status, orjson.dumps(fields)

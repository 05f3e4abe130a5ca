"""The HTTP server: waitress in this process, with its own error responses and a graceful stop.

A request gets a thread once it was read completely, so a half-open or slow client takes only a
socket, and a file for a large body. When there are too many connections, those that have been idle
longest are closed first.
"""

import heapq
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

from flask import Flask
from waitress import wasyncore
from waitress.adjustments import Adjustments

from webapp import open_files
from webapp.config import Settings
from webapp.domain.shared.limits import UPLOAD_BODY_MAX_BYTES
from webapp.runtime.server_connections import Channel, Listener
from webapp.runtime.server_streams import Streams
from webapp.runtime.server_threads import Dispatcher
from webapp.web.wakeups import THREADS, Wakeups

MAX_HEADER_BYTES = 64 * 1024
RECEIVED_AT_ONCE = 64 * 1024  # else each 8 KiB of an upload takes a turn of the loop
UNSENT_BYTES = 512 * 1024  # of one response; beyond, its thread waits for the client
BODIES_AT_ONCE = 8  # large bodies that begin to be stored in files in one turn of the loop
CLOSED_AT_ONCE = 50  # one in so many of the allowed connections, when there are too many
IDLE_SECONDS = 60  # of a keep-alive or half-open connection
STOP_SECONDS = 4.0  # for requests in progress; the process has 5 s in all

log = logging.getLogger("askback.server")


class Server:
    """Listens as soon as it is created; raises OSError when it cannot bind its address."""

    def __init__(self, app: Flask, settings: Settings) -> None:
        self._wakeups: Wakeups = app.extensions["wakeups"]
        self._sockets: dict[int, Any] = {}
        self._stop_at: float | None = None
        self.at_stop: list[Callable[[], None]] = []  # called as soon as the server stops
        self._most = open_files.for_connections()
        self._looked_at = 0.0
        # held while a descriptor is used or closed; reentrant for signal handlers
        self._open = threading.RLock()
        adjustments = _adjustments(settings)
        self._dispatcher = Dispatcher()
        common = {"map": self._sockets, "adj": adjustments, "dispatcher": self._dispatcher}
        try:
            self._listeners = [
                Listener(app, sockinfo=address, **common) for address in adjustments.listen
            ]
        except OSError:
            wasyncore.close_all(self._sockets)
            raise
        most = min(settings.max_streams, self._most // 2)
        self._streams = Streams(app, most, settings.max_stream_bytes)
        for listener in self._listeners:
            listener.streams, listener.config = self._streams, settings
        self._dispatcher.set_thread_count(THREADS)

    def run(self) -> None:
        """Serve until `stop`; then finish requests in progress, for at most STOP_SECONDS."""
        while self._stop_at is None:
            self._poll(1.0)
            self._make_room()
            self._drop_stalled()
        self._streams.stop()
        self._wakeups.stop()
        for tell in self.at_stop:
            tell()
        for listener in self._listeners:
            wasyncore.dispatcher.close(listener)
        while self._busy() and time.monotonic() < self._stop_at:
            self._poll(0.05)
        self._close(self._stop_at - time.monotonic())

    def stop(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        """Stop, from any thread or signal handler; a second call does not wait for requests."""
        with self._open:
            again = self._stop_at is not None
            self._stop_at = time.monotonic() + (0 if again else STOP_SECONDS)
            if not again:
                self._listeners[0].pull_trigger()

    def _close(self, seconds: float) -> None:
        """Close every socket, unless a thread is still running that may write to one."""
        until = time.monotonic() + max(0.0, seconds)
        self._streams.close(until - time.monotonic())
        self._dispatcher.shutdown(timeout=max(0.0, until - time.monotonic()))
        with self._open:
            if not self._dispatcher.threads:
                wasyncore.close_all(self._sockets)

    def stop_on_signals(self) -> None:
        """Stop the server on SIGINT and SIGTERM; call it from the main thread."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)

    def _poll(self, seconds: float) -> None:
        wasyncore.loop(seconds, use_poll=True, map=self._sockets, count=1)
        for listener in self._listeners:
            listener.hand_over()

    def _make_room(self) -> None:
        """Close the connections that have been idle longest, so that new ones are accepted.

        Not during a poll, whose pending events may refer to a descriptor that is then reused.
        """
        channels = list(self._channels())
        used = len(self._sockets) + len(self._streams) + sum(each.files for each in channels)
        if used > self._most:
            wanted = self._most - self._most // CLOSED_AT_ONCE
            idle = (channel for channel in channels if channel.is_idle)
            for channel in heapq.nsmallest(used - wanted, idle, key=lambda each: each.waits_since):
                if used <= wanted:
                    break
                used -= 1 + channel.files
                channel.abandon()
        # more requests may be under way than there is room for
        free = max(0, self._most + BODIES_AT_ONCE - used)
        for listener in self._listeners:
            listener.bodies_left = min(BODIES_AT_ONCE, free)

    def _drop_stalled(self) -> None:
        now = time.monotonic()
        if now - self._looked_at >= 1:
            self._looked_at = now
            for channel in [each for each in self._channels() if each.is_stalled(now)]:
                log.info("closing a connection whose client reads nothing")
                channel.abandon()

    def _busy(self) -> bool:
        """Whether a response is still to be sent; all other connections are closed."""
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
    adjustments = Adjustments(
        host=settings.host,
        port=settings.port,
        threads=THREADS,
        url_scheme="https" if settings.secure else "http",
        channel_request_lookahead=1,  # else a thread never learns that its client has gone
        max_request_body_size=UPLOAD_BODY_MAX_BYTES,  # of most addresses less: see Parser
        max_request_header_size=MAX_HEADER_BYTES,
        recv_bytes=RECEIVED_AT_ONCE,
        connection_limit=sys.maxsize,  # at which it would accept nobody; see _make_room
        channel_timeout=IDLE_SECONDS,
        outbuf_high_watermark=UNSENT_BYTES,
        asyncore_use_poll=True,  # select() is limited to descriptors below 1024
        clear_untrusted_proxy_headers=True,
        log_socket_errors=False,
        ident=None,
        **trusted,
    )
    adjustments.data_folder = settings.data_folder
    adjustments.free_bytes = settings.audio_free_bytes
    return adjustments

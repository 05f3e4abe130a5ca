"""The HTTP server: waitress in this process, with our own refusals and a stop that loses nothing.

Requests are read completely before a thread is spent on them, so half-open and dripping clients
cost a socket only, and a file where their body is large. When there are too many of those, the ones
that wait longest go first.
"""

import heapq
import logging
import signal
import sys
import threading
import time
from collections.abc import Iterable
from types import FrameType
from typing import Any

from flask import Flask
from waitress import wasyncore
from waitress.adjustments import Adjustments

from webapp import open_files
from webapp.config import Settings
from webapp.runtime.server_connections import Channel, Listener
from webapp.runtime.server_threads import Dispatcher
from webapp.web.wakeups import THREADS, Wakeups

MAX_BODY_BYTES = 32 * 1024 * 1024  # above every limit of our own, which answer in their own words
MAX_HEADER_BYTES = 64 * 1024
UNSENT_BYTES = 512 * 1024  # of one answer; beyond, whoever makes it waits for the client
BODIES_AT_ONCE = 8  # that are put into files
CLOSED_AT_ONCE = 50  # one in so many of the connections we may have, when there are too many
IDLE_SECONDS = 60  # of a kept or half-open connection
STOP_SECONDS = 4.0  # for requests under way; the process has 5 s in all

log = logging.getLogger("askback.server")


class Server:
    """Listens from the moment it is made; raises OSError when the address cannot be had."""

    def __init__(self, app: Flask, settings: Settings) -> None:
        self._wakeups: Wakeups = app.extensions["wakeups"]
        self._sockets: dict[int, Any] = {}
        self._stop_at: float | None = None
        self._most = open_files.for_connections()
        self._looked_at = 0.0
        # held while a file number is used or given back; a signal may find its own thread in it
        self._open = threading.RLock()
        adjustments = _adjustments(settings)
        self._dispatcher = Dispatcher()
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
        self._wakeups.stop()
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
        """Close those that wait longest, so that everybody else gets in.

        Outside of the poll, which may have news of a number that is given to another connection.
        """
        channels = list(self._channels())
        used = len(self._sockets) + sum(channel.files for channel in channels)
        if used > self._most:
            wanted = self._most - self._most // CLOSED_AT_ONCE
            idle = (channel for channel in channels if channel.is_idle)
            for channel in heapq.nsmallest(used - wanted, idle, key=lambda each: each.waits_since):
                if used <= wanted:
                    break
                used -= 1 + channel.files
                channel.abandon()
        for listener in self._listeners:
            listener.bodies_left = min(BODIES_AT_ONCE, self._most + BODIES_AT_ONCE - used)

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

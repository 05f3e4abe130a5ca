"""The HTTP server: granian in this process, with the bridge to the application.

The authors of granian call its embedded server experimental: the version is pinned, and the tests
of this folder must pass with each new one.
"""

import asyncio
import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import FrameType
from typing import Any

from flask import Flask
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server as Granian

from webapp.app.bridge import Bridge
from webapp.base.config import Settings

HEAD_MILLISECONDS = 10_000  # for the head of a request
CONNECTIONS = 50_000  # more than the limit of open files, so that granian always accepts
BACKLOG = 4_096
LOOK_SECONDS = 0.1  # between two looks whether to stop
STOP_SECONDS = 4.0  # for requests in progress; the process has 5 s in all
LOGGING: dict[str, Any] = {"formatters": {}, "handlers": {}, "loggers": {"_granian": {}}}  # is ours


class Server:
    """The HTTP server; binds its addresses when created, and raises OSError if one is taken."""

    def __init__(self, app: Flask, settings: Settings) -> None:
        self._bridge = Bridge(app, settings)
        self.streams = self._bridge.streams
        self._held = _hold_addresses(settings.host, settings.port)
        self._stopped = False
        self.at_stop: list[Callable[[], None]] = []  # called as soon as the server stops

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until `stop`; then finish requests in progress, for at most STOP_SECONDS.

        ready  called once clients can connect
        """
        try:
            asyncio.run(self._serve(ready))
        finally:
            self._bridge.threads.shutdown(wait=False)

    def stop(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        """Stop the server, from any thread or signal handler."""
        self._stopped = True

    def stop_on_signals(self) -> None:
        """Stop the server on SIGINT and SIGTERM; call it from the main thread."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)

    async def _serve(self, ready: Callable[[], None]) -> None:
        servers = [_granian(self._bridge, held.getsockname()) for held in self._held]
        for held in self._held:
            held.close()
        serving = [asyncio.create_task(server.serve()) for server in servers]
        for server in servers:
            await _until_it_listens(server.bind_addr, server.bind_port)
        ready()
        while not self._stopped:  # looks, because a signal can arrive just before the loop sleeps
            await asyncio.sleep(LOOK_SECONDS)
        self._bridge.stop()
        for tell in self.at_stop:
            tell()
        for server in servers:
            server.stop()  # type: ignore[no-untyped-call]
        until = time.monotonic() + STOP_SECONDS
        while self._bridge.requests and time.monotonic() < until:
            await asyncio.sleep(LOOK_SECONDS)
        # granian would wait for idle connections
        await asyncio.wait(serving, timeout=LOOK_SECONDS)


def _granian(bridge: Bridge, address: tuple[str, int]) -> Granian:
    return Granian(
        bridge,
        address=address[0],
        port=address[1],
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        websockets=False,
        backlog=BACKLOG,
        backpressure=CONNECTIONS,
        http1_settings=HTTP1Settings(header_read_timeout=HEAD_MILLISECONDS),
        log_level=LogLevels.error,
        log_dictconfig=LOGGING,
    )


def _hold_addresses(host: str, port: int) -> list[socket.socket]:
    """Bind a socket to each address of a host: granian shares ports with other processes."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    with ExitStack() as opened:
        held = [
            opened.enter_context(socket.create_server(address, family=family))
            for family, *_, address in found
        ]
        opened.pop_all()
    return held


async def _until_it_listens(host: str, port: int) -> None:
    while True:
        with suppress(ConnectionError):
            _, writer = await asyncio.open_connection(host, port)
            return writer.close()
        await asyncio.sleep(0.01)

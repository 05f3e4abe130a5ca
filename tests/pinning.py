"""Host names that lead to servers of this machine, over TLS with a private authority."""

import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple
from urllib.parse import SplitResult

from webapp.base import outbound
from webapp.base.outbound import Bounds


class Pinned(NamedTuple):
    host: str
    port: int
    ca_file: str


PINS: dict[str, Pinned] = {}


@contextmanager
def pinning(pins: Iterable[Pinned]) -> Iterator[None]:
    before = PINS.copy()
    PINS.update({each.host: each for each in pins})
    try:
        yield
    finally:
        PINS.clear()
        PINS.update(before)


class PinnedConnection(outbound._GuardedConnection):
    def __init__(self, parts: SplitResult, bounds: Bounds) -> None:
        super().__init__(parts, bounds)
        self.pin = PINS.get(self.host)
        if self.pin:
            self.tls_context = _tls_context(self.pin.ca_file)

    def _open_checked(self) -> socket.socket:
        if self.pin:
            return outbound._open(["127.0.0.1"], self.pin.port, self.connect_ends)
        return super()._open_checked()


@cache
def _tls_context(ca_file: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=ca_file)
    context.sslsocket_class = outbound._TimedTls
    return context


outbound._GuardedConnection = PinnedConnection  # type: ignore[misc]

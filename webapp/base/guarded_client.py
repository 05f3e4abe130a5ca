"""An HTTP client that reaches only the model or transcriber that the operator named.

It ignores environment variables, proxies and redirects, which would disclose content to hosts that
no page names, and logs no request. It bounds the size and time of a response.
"""

import logging
import ssl
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import httpcore2
import httpx2

from webapp.base.outbound import ADDRESSES_TRIED, HEAD_MAX_BYTES, Unreachable, resolve
from webapp.base.public_addresses import is_private

OUR_HEADERS = {
    "accept": "application/json",
    "accept-encoding": "identity",
    "user-agent": "Askback",
    "connection": "close",
}
WRITTEN_BYTES = 16 * 1024  # per write, so that the deadline applies to slow readers
ELSEWHERE = "it is not the host that was named"
NO_ADDRESS = "its name has no address"
NOT_PRIVATE = "plain http, and its address is not private"
TOO_LATE = "it takes too long"
TOO_LONG = "the answer is too long"

for library in ("httpx2", "httpcore2"):  # their logs of requests contain what people wrote
    logging.getLogger(library).setLevel(logging.WARNING)


class Bounds(NamedTuple):
    """Limits of one exchange.

    ends   the deadline on the monotonic clock, name resolution and headers included
    steps  time-outs of single steps on the connection
    bytes  the largest body of a response, roughly
    """

    ends: float
    steps: httpx2.Timeout
    bytes: int


def guarded_client(url: str, headers: Mapping[str, str], bounds: Bounds) -> httpx2.Client:
    """Return a client for the origin of `url` that sends `headers` with each request.

    Plain http is for private addresses only. A response that is compressed, which no request
    permits, is not decompressed.
    """
    return httpx2.Client(
        transport=_Guarded(url, bounds),
        headers=OUR_HEADERS | dict(headers),
        timeout=bounds.steps,
        trust_env=False,
        follow_redirects=False,
    )


def reason_of(cause: BaseException | None) -> str:
    """Return why a connection failed, without any content that it carried."""
    before = isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout)
    if before or str(cause) in (TOO_LATE, TOO_LONG):
        return str(cause)[:200]
    return type(cause).__name__


class _Guarded(httpx2.HTTPTransport):
    def __init__(self, url: str, bounds: Bounds) -> None:
        super().__init__(verify=_tls_context(), trust_env=False)
        self._url = httpx2.URL(url)
        self._pool = httpcore2.ConnectionPool(
            ssl_context=_tls_context(),
            network_backend=_Connections(bounds, encrypted=self._url.scheme == "https"),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if _origin(request.url) != _origin(self._url):
            raise httpx2.ConnectError(ELSEWHERE)
        response = super().handle_request(request)
        response.headers.pop("content-encoding", None)
        return response


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


class _Connections(httpcore2.SyncBackend):
    """Tries each address of a name in turn, until one accepts or `ends` has passed.

    `localhost` has two addresses, and many services listen on only one of them.
    """

    def __init__(self, bounds: Bounds, *, encrypted: bool) -> None:
        self._bounds, self._ends, self._encrypted = bounds, bounds.ends, encrypted

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *others: Any, **options: Any
    ) -> httpcore2.NetworkStream:
        found = self._addresses(host, timeout)[:ADDRESSES_TRIED]
        for tried, address in enumerate(found):
            left = _left(self._ends, None, httpcore2.ConnectTimeout) / (len(found) - tried)
            left = left if timeout is None else min(timeout, left)
            try:
                stream = super().connect_tcp(address, port, left, *others, **options)
                return _Bounded(stream, self._ends, self._bounds.bytes + HEAD_MAX_BYTES)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if address == found[-1]:
                    raise
        raise httpcore2.ConnectError(NO_ADDRESS)

    def _addresses(self, host: str, timeout: float | None) -> list[str]:
        """Resolve the host; without TLS, raise ConnectError unless all addresses are private."""
        try:
            found = resolve(host, _left(self._ends, timeout, httpcore2.ConnectTimeout))
        except Unreachable:
            raise httpcore2.ConnectError(NO_ADDRESS) from None
        if not (self._encrypted or all(is_private(address) for address in found)):
            raise httpcore2.ConnectError(NOT_PRIVATE)
        return found


class _Bounded(httpcore2.NetworkStream):
    """A connection on which no step lasts beyond `ends`, and at most `room` bytes are received.

    Time-outs of httpx2 bound single steps only: slow headers could hold a connection for ever.
    """

    def __init__(self, stream: httpcore2.NetworkStream, ends: float, room: int) -> None:
        self._stream, self._ends, self._room = stream, ends, room

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        read = self._stream.read(max_bytes, _left(self._ends, timeout, httpcore2.ReadTimeout))
        self._room -= len(read)
        if self._room < 0:
            raise httpcore2.ReadError(TOO_LONG)
        return read

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), WRITTEN_BYTES):
            left = _left(self._ends, timeout, httpcore2.WriteTimeout)
            self._stream.write(buffer[start : start + WRITTEN_BYTES], left)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = _left(self._ends, timeout, httpcore2.ConnectTimeout)
        encrypted = self._stream.start_tls(ssl_context, server_hostname, left)
        return _Bounded(encrypted, self._ends, self._room)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(ends: float, timeout: float | None, late: type[httpcore2.TimeoutException]) -> float:
    """Return the seconds for a step: its time-out, or the time that is left if that is less."""
    left = ends - time.monotonic()
    if left <= 0:
        raise late(TOO_LATE)
    return left if timeout is None else min(timeout, left)


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the cached TLS context: loading the certificates of the system takes 34 ms."""
    return ssl.create_default_context()

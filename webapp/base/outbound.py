"""The only client for requests to other servers.

URLs that outsiders supply must be https. The client resolves the host name once, requires all
addresses to be public, and connects to one of them. It uses no proxies, follows no redirects, and
bounds the bytes and the total time. Origins that the operator allows may use plain http and have
any address; models and transcribers, which the operator names, use it on private addresses only.
"""

import http.client
import math
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, cast
from urllib.parse import SplitResult, urlsplit

from webapp.base.config_readers import DEFAULT_PORTS, HOST_NAME, origin_of, port_of
from webapp.base.public_addresses import is_private, is_public

URL_MAX_CHARS = 2048
HEAD_MAX_BYTES = 64 * 1024  # http.client itself accepts 6.5 MB of headers
RESOLVE_SECONDS = 3  # getaddrinfo itself has no limit
ADDRESSES_TRIED = 3
PRINTABLE_ASCII = re.compile(r"[\x21-\x7e]+")
TO_SERVICES = {"accept": "application/json", "user-agent": "Askback"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits of a request; sizes in bytes, times in seconds.

    connect_seconds  from the start to the end of the TLS handshake
    step_seconds     the longest wait for a part of the request or of the response
    allowed_origins  origins, as `origin_of` writes them, that may use plain http, any port and
                     any address
    private_http     plain http is for private addresses only
    """

    body_bytes: int
    connect_seconds: float = 3
    total_seconds: float = 4
    step_seconds: float = math.inf
    ports: frozenset[int] = frozenset({443})
    allowed_origins: frozenset[str] = frozenset()
    private_http: bool = False


class Reply(NamedTuple):
    """A response; header names are in lower case, `cut` is True if the body was too long."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300


class Unreachable(Exception):
    """The request failed; `reason` is one of the short codes listed at `fetch`.

    The message adds the error of the system, which contains nothing that was sent or received.
    """

    def __init__(self, reason: str, error: OSError | None = None) -> None:
        super().__init__(f"{reason}: {error}" if error else reason)
        self.reason = reason


def ask_service(
    url: str, *, headers: Mapping[str, str], bounds: Bounds, body: bytes | Iterable[bytes]
) -> Reply:
    """POST to a service that the operator named, whatever its port. Raises Unreachable."""
    origins = frozenset({origin_of(urlsplit(url))})
    bounds = replace(bounds, allowed_origins=origins, private_http=True)
    return fetch(url, headers=TO_SERVICES | dict(headers), bounds=bounds, body=body)


def fetch(
    url: str,
    *,
    headers: Mapping[str, str],
    bounds: Bounds,
    body: bytes | Iterable[bytes] | None = None,
) -> Reply:
    """GET `url` once, or POST `body` to it. Raises Unreachable: `invalid_url`, `unresolved`,
    `address_refused`, `timed_out`, `tls_failed`, `connection_failed` or `invalid_reply`.
    """
    parts = checked_url(url, bounds.ports, bounds.allowed_origins)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    method = "GET" if body is None else "POST"
    try:
        with closing(_GuardedConnection(parts, bounds)) as connection:
            connection.connect()
            with suppress(ConnectionError):  # a server may answer before it has read everything
                connection.request(method, target, body, {"Connection": "close", **headers})
            with closing(connection.getresponse()) as response:
                connection.timed.room = math.inf  # the reader of the body bounds its size
                return _read(response, bounds.body_bytes)
    except TimeoutError as error:
        raise Unreachable("timed_out") from error
    except ssl.SSLError as error:
        raise Unreachable("tls_failed", error) from error
    except OSError as error:
        raise Unreachable("connection_failed", error) from error
    except http.client.HTTPException as error:
        raise Unreachable("invalid_reply") from error


def _read(response: http.client.HTTPResponse, most: int) -> Reply:
    received = bytearray(most + 1)  # fixed, because a chunk of negative size makes a read unbounded
    size = response.readinto(received)
    names = {name.lower(): value for name, value in response.getheaders()}
    return Reply(response.status, names, bytes(received[: min(size, most)]), size > most)


def checked_url(
    url: str, ports: frozenset[int], allowed_origins: frozenset[str] = frozenset()
) -> SplitResult:
    """Return the parts of an https URL with a permitted host name, or of any allowed origin.

    Raises Unreachable.
    """
    try:
        parts = urlsplit(url)
        port = port_of(parts)
    except ValueError as error:
        raise Unreachable("invalid_url") from error
    host = parts.hostname or ""
    plain = PRINTABLE_ASCII.fullmatch(url) and len(url) <= URL_MAX_CHARS and "\\" not in url
    named = len(host) <= 253 and HOST_NAME.fullmatch(host)
    usual = parts.scheme == "https" and port in ports and named
    permitted = usual or origin_of(parts) in allowed_origins
    if not (plain and permitted) or "@" in parts.netloc or "#" in url:
        raise Unreachable("invalid_url")
    return parts


def _left(ends: float) -> float:
    """Return the seconds until then by the monotonic clock; raises TimeoutError for none."""
    left = ends - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Timed(socket.socket):
    """A socket whose steps end by `ends` and within `step` seconds; it receives `room` bytes at
    most. Raises TimeoutError and HTTPException.
    """

    ends: float
    step: float
    room: float = HEAD_MAX_BYTES

    def recv_into(self, *arguments: Any, **options: Any) -> int:
        self.settimeout(min(self.step, _left(self.ends)))
        size = super().recv_into(*arguments, **options)
        self.room -= size
        if self.room < 0:
            raise http.client.HTTPException("the headers are too long")
        return size

    def send(self, *arguments: Any, **options: Any) -> int:
        self.settimeout(min(self.step, _left(self.ends)))
        return super().send(*arguments, **options)

    def sendall(self, *arguments: Any, **options: Any) -> None:
        self.settimeout(min(self.step, _left(self.ends)))
        super().sendall(*arguments, **options)


class _TimedTls(_Timed, ssl.SSLSocket):
    """A TLS socket with the same deadline; its `sendall` calls `send` for each step."""


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the cached TLS context; the system's authorities take 34 ms to load."""
    context = ssl.create_default_context()
    context.sslsocket_class = _TimedTls
    return context


class _GuardedConnection(http.client.HTTPConnection):
    """Resolves the host once, and connects to one of its checked addresses."""

    timed: _Timed  # the socket, which http.client drops when the response begins

    def __init__(self, parts: SplitResult, bounds: Bounds) -> None:
        started = time.monotonic()
        super().__init__(parts.hostname or "", port_of(parts))
        self.default_port = DEFAULT_PORTS[parts.scheme]  # the header Host leaves it out
        self.ends, self.step = started + bounds.total_seconds, bounds.step_seconds
        self.connect_ends = min(started + bounds.connect_seconds, self.ends)
        self.tls_context = _tls_context() if parts.scheme == "https" else None
        self.admits: Callable[[str], bool] = is_public
        if origin_of(parts) in bounds.allowed_origins:
            private = bounds.private_http and parts.scheme == "http"
            self.admits = is_private if private else lambda _address: True

    def connect(self) -> None:
        """Open the socket. Raises Unreachable or OSError."""
        plain = self._open_checked()
        try:
            plain.settimeout(_left(self.connect_ends))
            if self.tls_context is None:
                self.timed = _Timed(fileno=plain.detach())
            else:
                wrapped = self.tls_context.wrap_socket(plain, server_hostname=self.host)
                self.timed = cast(_TimedTls, wrapped)
        except BaseException:
            plain.close()
            raise
        self.sock, self.timed.ends, self.timed.step = self.timed, self.ends, self.step

    def _open_checked(self) -> socket.socket:
        found = resolve(self.host, min(RESOLVE_SECONDS, _left(self.connect_ends)))
        if not all(map(self.admits, found)):
            raise Unreachable("address_refused")
        return _open(found, self.port, self.connect_ends)


def _open(addresses: list[str], port: int, ends: float) -> socket.socket:
    """Connect to the first address that accepts; each gets its share of the time."""
    failure: OSError | None = None
    tried = addresses[:ADDRESSES_TRIED]
    for place, address in enumerate(tried):
        try:
            seconds = _left(ends) / (len(tried) - place)
            return socket.create_connection((address, port), timeout=seconds)
        except OSError as error:
            failure = error
    raise failure or ConnectionError


def resolve(host: str, seconds: float) -> list[str]:
    """Return all addresses of a host name. Raises Unreachable."""
    found: Future[list[str]] = Future()

    def ask() -> None:
        try:
            rows = socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
            found.set_result(list(dict.fromkeys(str(row[4][0]) for row in rows)))
        except (OSError, UnicodeError) as error:
            found.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    with suppress(OSError, UnicodeError):  # the time-out is an OSError, too
        if addresses := found.result(timeout=seconds):
            return addresses
    raise Unreachable("unresolved")

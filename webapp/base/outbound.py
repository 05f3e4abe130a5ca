"""The one way out: https requests to an address that somebody outside named.

The name is resolved once, every address it has must be public, and the connection goes to one of
the addresses that were checked. No proxies, no redirects, a bound on bytes and on the whole time.
Origins that the operator allowed by name may be plain http and lead anywhere.
"""

import http.client
import math
import queue
import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, cast
from urllib.parse import SplitResult, urlsplit

from webapp.base.config_readers import HOST_NAME
from webapp.base.public_addresses import is_public

URL_MAX_CHARS = 2048
HEAD_MAX_BYTES = 64 * 1024  # http.client itself takes 6.5 MB of headers
RESOLVE_SECONDS = 3  # getaddrinfo itself has no limit
ADDRESSES_TRIED = 3
DEFAULT_PORTS = {"http": 80, "https": 443}
PRINTABLE_ASCII = re.compile(r"[\x21-\x7e]+")


class Pinned(NamedTuple):
    """Where tests let a host name lead instead: an address, a port and who signs its certificate.

    Set in code only; no environment variable reads it.
    """

    host: str
    address: str
    port: int
    ca_file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a request may cost; sizes in bytes, times in seconds.

    connect_seconds  from the start until TLS is agreed on; `socket_seconds` of each later step
    allowed_origins  `scheme://host[:port]`, as `origin_of` writes them, that may be plain http,
                     use any port and have any address
    """

    body_bytes: int
    connect_seconds: float = 3
    socket_seconds: float = 3
    total_seconds: float = 4
    ports: frozenset[int] = frozenset({443})
    allowed_origins: frozenset[str] = frozenset()
    pinned: tuple[Pinned, ...] = ()


class Reply(NamedTuple):
    """What came back; header names in lower case, `cut` when the body was longer than allowed."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool


class Unreachable(Exception):
    """No reply; `reason` is one of the short codes listed at `fetch`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Deadline:
    """The end of the whole request, a nearer one until `connected`, and the size of the head."""

    def __init__(self, bounds: Bounds) -> None:
        started = time.monotonic()
        self.bounds = bounds
        self._ends = started + min(bounds.connect_seconds, bounds.total_seconds)
        self._all_ends = started + bounds.total_seconds
        self._step = bounds.connect_seconds
        self._room: float = HEAD_MAX_BYTES

    def connected(self) -> None:
        """The connection is made; the rest has the time that is left in all."""
        self._ends, self._step = self._all_ends, self.bounds.socket_seconds

    def left(self) -> float:
        """Seconds for the next step on the socket; raises TimeoutError when there are none."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return min(left, self._step)

    def received(self, size: int) -> None:
        """So many bytes came; raises http.client.HTTPException when the head has too many."""
        self._room -= size
        if self._room < 0:
            raise http.client.HTTPException("the headers are too long")

    def head_ended(self) -> None:
        """What follows is bounded by its reader."""
        self._room = math.inf


def fetch(
    url: str, *, headers: Mapping[str, str], bounds: Bounds, body: bytes | None = None
) -> Reply:
    """GET `url` once, or POST `body` to it. Raises Unreachable: `invalid_url`, `unresolved`,
    `address_refused`, `timed_out`, `tls_failed`, `connection_failed` or `invalid_reply`.
    """
    parts = checked_url(url, bounds.ports, bounds.allowed_origins)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    method = "GET" if body is None else "POST"
    try:
        with closing(_GuardedConnection(parts, _Deadline(bounds))) as connection:
            connection.request(method, target, body, {"Connection": "close", **headers})
            with closing(connection.getresponse()) as response:
                connection.deadline.head_ended()
                return _read(response, bounds.body_bytes)
    except TimeoutError as error:
        raise Unreachable("timed_out") from error
    except ssl.SSLError as error:
        raise Unreachable("tls_failed") from error
    except OSError as error:
        raise Unreachable("connection_failed") from error
    except http.client.HTTPException as error:
        raise Unreachable("invalid_reply") from error


def _read(response: http.client.HTTPResponse, most: int) -> Reply:
    received = bytearray(most + 1)  # bounds what a chunk of negative size could make of a read
    size = response.readinto(received)
    names = {name.lower(): value for name, value in response.getheaders()}
    return Reply(response.status, names, bytes(received[: min(size, most)]), size > most)


def checked_url(
    url: str, ports: frozenset[int], allowed_origins: frozenset[str] = frozenset()
) -> SplitResult:
    """The parts of an https address with a host name we may call, or of one at an allowed origin.

    Raises Unreachable.
    """
    try:
        parts = urlsplit(url)
        port = port_of(parts)
    except ValueError as error:
        raise Unreachable("invalid_url") from error
    host = parts.hostname or ""
    plain = PRINTABLE_ASCII.fullmatch(url) and len(url) <= URL_MAX_CHARS and "\\" not in url
    if not plain or "@" in parts.netloc or "#" in url:
        raise Unreachable("invalid_url")
    named = len(host) <= 253 and HOST_NAME.fullmatch(host)
    if origin_of(parts) in allowed_origins or (parts.scheme == "https" and port in ports and named):
        return parts
    raise Unreachable("invalid_url")


def port_of(parts: SplitResult) -> int:
    """The port that is named, else that of the scheme. Raises ValueError."""
    named = parts.port
    return DEFAULT_PORTS.get(parts.scheme, 443) if named is None else named


def origin_of(parts: SplitResult) -> str:
    """`scheme://host[:port]` without the port of the scheme. Raises ValueError."""
    host, port = parts.hostname or "", port_of(parts)
    named = f"[{host}]" if ":" in host else host
    shown = "" if port == DEFAULT_PORTS.get(parts.scheme) else f":{port}"
    return f"{parts.scheme}://{named}{shown}"


class _Timed(socket.socket):
    """Each step gets what the deadline leaves. Raises TimeoutError and HTTPException."""

    deadline: _Deadline

    def recv_into(self, *arguments: Any, **options: Any) -> int:
        self.settimeout(self.deadline.left())
        size = super().recv_into(*arguments, **options)
        self.deadline.received(size)
        return size

    def send(self, *arguments: Any, **options: Any) -> int:
        self.settimeout(self.deadline.left())
        return super().send(*arguments, **options)

    def sendall(self, *arguments: Any, **options: Any) -> None:
        self.settimeout(self.deadline.left())
        super().sendall(*arguments, **options)


class _TimedTls(_Timed, ssl.SSLSocket):
    """The same over TLS, where `sendall` sends step by step."""


@cache
def _tls_context(ca_file: str | None) -> ssl.SSLContext:
    """Shared by all requests: reading the authorities takes 34 ms. None: those of the system."""
    context = ssl.create_default_context(cafile=ca_file)
    context.sslsocket_class = _TimedTls
    return context


class _GuardedConnection(http.client.HTTPConnection):
    """Connects to a checked address of the host, whose name is resolved once."""

    def __init__(self, parts: SplitResult, deadline: _Deadline) -> None:
        host = parts.hostname or ""
        super().__init__(host, port_of(parts))
        self.default_port = DEFAULT_PORTS[parts.scheme]  # the header Host leaves it out
        self.deadline = deadline
        self.any_address = origin_of(parts) in deadline.bounds.allowed_origins
        self.pinned = next((pin for pin in deadline.bounds.pinned if pin.host == host), None)
        self.tls_context = None
        if parts.scheme == "https":
            self.tls_context = _tls_context(self.pinned.ca_file if self.pinned else None)

    def connect(self) -> None:
        """Open the socket. Raises Unreachable or OSError."""
        plain = self._open_checked()
        try:
            plain.settimeout(self.deadline.left())
            if self.tls_context is None:
                timed = _Timed(fileno=plain.detach())
            else:
                wrapped = self.tls_context.wrap_socket(plain, server_hostname=self.host)
                timed = cast(_TimedTls, wrapped)
        except BaseException:
            plain.close()
            raise
        self.sock, timed.deadline = timed, self.deadline
        self.deadline.connected()

    def _open_checked(self) -> socket.socket:
        if self.pinned:
            return _open([self.pinned.address], self.pinned.port, self.deadline)
        found = resolve(self.host, min(RESOLVE_SECONDS, self.deadline.left()))
        if not self.any_address and not all(is_public(address) for address in found):
            raise Unreachable("address_refused")
        return _open(found, self.port, self.deadline)


def _open(addresses: list[str], port: int, deadline: _Deadline) -> socket.socket:
    failure: OSError | None = None
    for address in addresses[:ADDRESSES_TRIED]:
        try:
            return socket.create_connection((address, port), timeout=deadline.left())
        except OSError as error:
            failure = error
    raise failure or ConnectionError


def resolve(host: str, seconds: float) -> list[str]:
    """All addresses of a name. Raises Unreachable."""
    answers: queue.Queue[list[str] | OSError | UnicodeError] = queue.Queue()

    def ask() -> None:
        try:
            rows = socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
            answers.put(list(dict.fromkeys(str(row[4][0]) for row in rows)))
        except (OSError, UnicodeError) as error:
            answers.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except queue.Empty as error:
        raise Unreachable("unresolved") from error
    if not isinstance(answer, list) or not answer:
        raise Unreachable("unresolved")
    return answer

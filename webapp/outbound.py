"""The one way out: https requests to an address that somebody outside named.

The name is resolved once, every address it has must be public, and the connection goes to one of
the addresses that were checked. No proxies, no redirects, a bound on bytes and on the whole time.
"""

import http.client
import queue
import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, NamedTuple, cast
from urllib.parse import SplitResult, urlsplit

URL_MAX_CHARS = 2048  # our choice
RESOLVE_SECONDS = 3  # our choice; getaddrinfo itself has no limit
ADDRESSES_TRIED = 3  # our choice
PRINTABLE_ASCII = re.compile(r"[\x21-\x7e]+")
HOST_NAME = re.compile(r"([a-z0-9_]([a-z0-9_-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?", re.I)

# Explicit, because `is_global` of the interpreter lets several of these through.
CLOSED_IPV4 = [
    ip_network(block)
    for block in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
]
OPEN_IPV6 = ip_network("2000::/3")
CLOSED_IPV6 = [
    ip_network(block)
    for block in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
]


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
    """What a request may cost; sizes in bytes, times in seconds."""

    body_bytes: int
    socket_seconds: float = 3
    total_seconds: float = 4
    ports: frozenset[int] = frozenset({443})
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


@dataclass(slots=True)
class _Deadline:
    bounds: Bounds
    ends: float = field(init=False)

    def __post_init__(self) -> None:
        self.ends = time.monotonic() + self.bounds.total_seconds

    def left(self) -> float:
        """Seconds for the next step on the socket; raises TimeoutError when there are none."""
        left = self.ends - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return min(left, self.bounds.socket_seconds)


def fetch(
    url: str, *, headers: Mapping[str, str], bounds: Bounds, body: bytes | None = None
) -> Reply:
    """GET `url` once, or POST `body` to it. Raises Unreachable: `invalid_url`, `unresolved`,
    `address_refused`, `timed_out`, `tls_failed`, `connection_failed` or `invalid_reply`.
    """
    parts = checked_url(url, bounds.ports)
    try:
        with closing(_GuardedConnection(parts, _Deadline(bounds))) as connection:
            return _exchange(connection, parts, headers, body)
    except TimeoutError as error:
        raise Unreachable("timed_out") from error
    except ssl.SSLError as error:
        raise Unreachable("tls_failed") from error
    except OSError as error:
        raise Unreachable("connection_failed") from error
    except http.client.HTTPException as error:
        raise Unreachable("invalid_reply") from error


def checked_url(url: str, ports: frozenset[int]) -> SplitResult:
    """The parts of an https address with a host name we may call. Raises Unreachable."""
    try:
        parts = urlsplit(url)
        port = parts.port or 443
    except ValueError as error:
        raise Unreachable("invalid_url") from error
    host = parts.hostname or ""
    plain = PRINTABLE_ASCII.fullmatch(url) and len(url) <= URL_MAX_CHARS and "\\" not in url
    if not plain or parts.scheme != "https" or "@" in parts.netloc or "#" in url:
        raise Unreachable("invalid_url")
    if port not in ports or len(host) > 253 or not HOST_NAME.fullmatch(host):
        raise Unreachable("invalid_url")
    return parts


def is_public(address: str) -> bool:
    """Whether this address belongs to the public internet, by our own table."""
    if "%" in address:
        return False
    ip = ip_address(address)
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if isinstance(ip, IPv4Address):
        return not any(ip in block for block in CLOSED_IPV4)
    return ip in OPEN_IPV6 and not any(ip in block for block in CLOSED_IPV6)


class _TimedSocket(ssl.SSLSocket):
    """Each step gets what the deadline of the whole request leaves; raises TimeoutError."""

    deadline: _Deadline

    def recv_into(self, *arguments: Any, **options: Any) -> int:
        self.settimeout(self.deadline.left())
        return super().recv_into(*arguments, **options)

    def send(self, *arguments: Any, **options: Any) -> int:
        self.settimeout(self.deadline.left())
        return super().send(*arguments, **options)


@cache
def _tls_context(ca_file: str | None) -> ssl.SSLContext:
    """Shared by all requests: reading the authorities takes 34 ms. None: those of the system."""
    context = ssl.create_default_context(cafile=ca_file)
    context.sslsocket_class = _TimedSocket
    return context


class _GuardedConnection(http.client.HTTPSConnection):
    """Connects to a checked address of the host, whose name is resolved once."""

    def __init__(self, parts: SplitResult, deadline: _Deadline) -> None:
        host = parts.hostname or ""
        self.deadline = deadline
        self.pinned = next((pin for pin in deadline.bounds.pinned if pin.host == host), None)
        self.tls_context = _tls_context(self.pinned.ca_file if self.pinned else None)
        super().__init__(host, parts.port or 443, context=self.tls_context)

    def connect(self) -> None:
        """Open the socket. Raises Unreachable or OSError."""
        plain = self._open_checked()
        try:
            plain.settimeout(self.deadline.left())
            timed = self.tls_context.wrap_socket(plain, server_hostname=self.host)
        except BaseException:
            plain.close()
            raise
        self.sock = cast(_TimedSocket, timed)
        self.sock.deadline = self.deadline

    def _open_checked(self) -> socket.socket:
        if self.pinned:
            return _open([self.pinned.address], self.pinned.port, self.deadline)
        return _open(_public_addresses(self.host, self.deadline), self.port, self.deadline)


def _open(addresses: list[str], port: int, deadline: _Deadline) -> socket.socket:
    failure: OSError | None = None
    for address in addresses[:ADDRESSES_TRIED]:
        try:
            return socket.create_connection((address, port), timeout=deadline.left())
        except OSError as error:
            failure = error
    raise failure or ConnectionError


def _public_addresses(host: str, deadline: _Deadline) -> list[str]:
    """All addresses of a name; one that is not public refuses the name."""
    found = _resolve(host, min(RESOLVE_SECONDS, deadline.left()))
    if not all(is_public(address) for address in found):
        raise Unreachable("address_refused")
    return found


def _resolve(host: str, seconds: float) -> list[str]:
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


def _exchange(
    connection: _GuardedConnection,
    parts: SplitResult,
    headers: Mapping[str, str],
    body: bytes | None,
) -> Reply:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    method = "GET" if body is None else "POST"
    connection.request(method, target, body, {"Connection": "close", **headers})
    with closing(connection.getresponse()) as response:
        most = connection.deadline.bounds.body_bytes
        received = bytearray(most + 1)  # bounds what a chunk of negative size could make of a read
        size = response.readinto(received)
        names = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, names, bytes(received[: min(size, most)]), size > most)

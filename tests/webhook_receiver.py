"""The site of an agent that takes webhooks: it answers challenges, and what a test says."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.pinning import Pinned, pinning
from tests.raw_receiver import raw_receiver, read_request
from tests.tls import Authority, certified

HOST = "hooks.example.com"
URL = f"https://{HOST}/askback?flow=7"
SECRET = "whsec_" + "Zk9x" * 8


@dataclass
class Posted:
    """A request as it came; header names in lower case."""

    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        return json.loads(self.body)


@dataclass
class Webhook:
    """What the site answers next, and what it was sent.

    status   of the n-th request, where it is a function
    echoes   it verifies itself
    fixed    the type and body that it answers to everything instead
    seconds  how long it keeps each request waiting, at most until `released`
    """

    origin: str
    status: int | Callable[[int], int] = 200
    echoes: bool = True
    fixed: tuple[str, bytes] | None = None
    seconds: float = 0
    posted: list[Posted] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def answer(self, connection: socket.socket) -> None:
        head, _, body = read_request(connection).partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        posted = Posted(first.split(" ")[1], headers, body)
        self.posted.append(posted)
        self.released.wait(self.seconds)
        said = {"challenge": posted.said.get("challenge")} if self.echoes else {}
        kind, reply = self.fixed or ("", json.dumps(said).encode())
        content_type = f"Content-Type: {kind}\r\n" if kind else ""
        status = self.status if isinstance(self.status, int) else self.status(len(self.posted))
        head = f"HTTP/1.1 {status} X\r\n{content_type}Content-Length: {len(reply)}\r\n\r\n"
        connection.sendall(head.encode() + reply)


@contextmanager
def webhook_receiver(authority: Authority | None = None, host: str = HOST) -> Iterator[Webhook]:
    """The site, over TLS with a certificate of a private authority, at `host`; else without TLS,
    at `origin`.
    """
    site = Webhook("")
    tls = authority.context if authority else None
    with raw_receiver(site.answer, tls=tls, reads=False) as receiver:
        site.origin = receiver.origin
        pins = [Pinned(host, receiver.port, str(authority.ca_file))] if authority else []
        try:
            with pinning(pins):
                yield site
        finally:
            site.released.set()


@pytest.fixture(scope="session")
def hook_authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A certificate takes a while to make: one for all tests."""
    return certified(tmp_path_factory.mktemp("hook"), HOST)


@pytest.fixture
def hook(hook_authority: Authority) -> Iterator[Webhook]:
    """The site at which `tests.webhook_receiver.URL` leads, verifying itself.

    Each test has its own: what a connection that the application gave up does late is not seen by
    the next test.
    """
    with webhook_receiver(hook_authority) as site:
        yield site

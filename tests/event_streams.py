"""A client of server-sent events (WHATWG HTML, section 9.2) on a raw socket."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Event:
    """One event as a browser would give it."""

    name: str
    id: str
    data: Any


@dataclass
class EventStream:
    """One connection; `since` becomes what Last-Event-ID would be."""

    connection: socket.socket
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    received: bytes = b""  # of the body, as the chunks carry it
    comments: int = 0
    last_id: str = ""
    raw: bytes = b""
    ended: bool = False  # by the last chunk

    def read_head(self) -> None:
        while b"\r\n\r\n" not in self.raw:
            self._receive()
        head, self.raw = self.raw.split(b"\r\n\r\n", 1)
        first, *lines = head.decode().split("\r\n")
        self.status = int(first.split(" ")[1])
        self.headers = {
            name.lower(): value for name, value in (line.split(": ", 1) for line in lines)
        }

    def events(self) -> Iterator[Event]:
        """Every event until the connection ends."""
        while True:
            while b"\n\n" in self.received:
                block, self.received = self.received.split(b"\n\n", 1)
                if event := self._event(block.decode()):
                    yield event
            if self.ended or not self._receive():
                return
            self._unchunk()

    def next(self, name: str = "") -> Event:
        """The next event of this name."""
        for event in self.events():
            if name in {"", event.name}:
                return event
        raise EOFError(f"the stream ended before {name or 'an event'}")

    def _receive(self) -> bool:
        got = self.connection.recv(65_536)
        self.raw += got
        return bool(got)

    def _unchunk(self) -> None:
        if self.headers.get("transfer-encoding") != "chunked":
            self.received, self.raw = self.received + self.raw, b""
            return
        while not self.ended and b"\r\n" in self.raw:
            size, rest = self.raw.split(b"\r\n", 1)
            length = int(size, 16)
            if len(rest) < length + 2:
                return
            assert rest[length : length + 2] == b"\r\n"
            self.received += rest[:length]
            self.raw = rest[length + 2 :]
            self.ended = length == 0

    def _event(self, block: str) -> Event | None:
        name, data = "message", ""
        for line in block.split("\n"):
            label, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if label == "":
                self.comments += 1
            elif label == "event":
                name = value
            elif label == "data":
                data += value
            elif label == "id":
                self.last_id = value
            else:
                raise AssertionError(f"a line of {line!r}")
        return Event(name, self.last_id, json.loads(data)) if data else None


@contextmanager
def open_stream(
    port: int, path: str, *headers: str, seconds: float = 10, version: str = "1.1"
) -> Iterator[EventStream]:
    """The stream after its header; reading waits for at most `seconds`."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        lines = [f"GET {path} HTTP/{version}", f"Host: 127.0.0.1:{port}", *headers, "", ""]
        connection.sendall("\r\n".join(lines).encode())
        stream = EventStream(connection)
        stream.read_head()
        stream._unchunk()
        yield stream

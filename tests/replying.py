"""A service on this machine that answers as a test says."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar


@dataclass
class Reply:
    """What is answered: after so many seconds, these bytes, in pieces with pauses between.

    dripping  seconds between two bytes of the headers; 0: all at once
    """

    body: bytes = b""
    status: int = 200
    after: float = 0
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    pieces: int = 1
    pause: float = 0
    dripping: float = 0


@dataclass
class Replying:
    """What it was asked, and how it answers; `answer` may be set while it runs."""

    port: int
    answer: Callable[[Any], Reply]
    asked: list[Any] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def read(self, number: int, path: str, headers: dict[str, str], body: bytes) -> Any:
        """What is kept of a request, `number` from 0."""
        raise NotImplementedError

    def reply(self, _number: int, asked: Any) -> Reply:
        return self.answer(asked)


R = TypeVar("R", bound=Replying)


@contextmanager
def replying(kind: type[R], answer: Callable[[Any], Reply]) -> Iterator[R]:
    server = _Server(("127.0.0.1", 0), _Handler)
    state = kind(server.server_address[1], answer)
    server.state = state
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield state
    finally:
        state.stopped.set()
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    state: Replying


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        state = self.server.state
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with state.lock:
            number = len(state.asked)
            state.asked.append(state.read(number, self.path, headers, body))
            state.at_once += 1
            state.most_at_once = max(state.most_at_once, state.at_once)
            asked = state.asked[-1]
        reply = state.reply(number, asked)
        state.stopped.wait(reply.after)
        with state.lock:
            state.at_once -= 1
        self.close_connection = True
        with suppress(OSError):
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        headers = reply.headers | {"Content-Length": str(len(reply.body)), "Connection": "close"}
        lines = [f"HTTP/1.1 {reply.status} Said", *(f"{name}: {headers[name]}" for name in headers)]
        head = "\r\n".join([*lines, "", ""]).encode()
        self._write(head, len(head) if reply.dripping else 1, reply.dripping)
        self._write(reply.body, reply.pieces, reply.pause)

    def _write(self, sent: bytes, pieces: int, pause: float) -> None:
        size = -(-len(sent) // pieces) or 1
        for start in range(0, len(sent), size):
            self.wfile.write(sent[start : start + size])
            self.wfile.flush()
            self.server.state.stopped.wait(pause)

    def log_message(self, *_arguments: object) -> None:
        """Nothing is printed."""

"""A service on this machine with the wire format of `/v1/audio/transcriptions`."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any

import orjson
from werkzeug.formparser import FormDataParser
from werkzeug.http import parse_options_header


@dataclass
class Heard:
    """One request: fields as sent, and the file with the name and type that it was given."""

    path: str
    headers: dict[str, str]
    fields: dict[str, str]
    file: bytes
    file_name: str
    file_type: str


@dataclass
class Reply:
    """What is answered: after so many seconds, these bytes, in pieces with pauses between."""

    body: bytes = b""
    status: int = 200
    after: float = 0
    headers: dict[str, str] = field(default_factory=dict)
    pieces: int = 1
    pause: float = 0


@dataclass
class SpeechEngine:
    """What it heard, and what it answers to the request of this number, from 0."""

    port: int
    answer: Callable[[int], Reply]
    heard: list[Heard] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/v1"


def words(text: str, **changed: Any) -> Reply:
    """A transcript, as the service answers it."""
    headers = {"Content-Type": "application/json"}
    return Reply(orjson.dumps({"text": text, "usage": {"seconds": 1}}), headers=headers, **changed)


@contextmanager
def speech_engine(answer: Callable[[int], Reply]) -> Iterator[SpeechEngine]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    engine = SpeechEngine(server.server_address[1], answer)
    server.engine = engine  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield engine
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        engine: SpeechEngine = self.server.engine  # type: ignore[attr-defined]
        number = len(engine.heard)
        engine.heard.append(self._read())
        engine.at_once += 1
        engine.most_at_once = max(engine.most_at_once, engine.at_once)
        reply = engine.answer(number)
        time.sleep(reply.after)
        engine.at_once -= 1
        try:
            self._send(reply)
        except OSError:
            self.close_connection = True

    def _read(self) -> Heard:
        size = int(self.headers["content-length"])
        mimetype, options = parse_options_header(self.headers["content-type"])
        body = BytesIO(self.rfile.read(size))
        _, fields, files = FormDataParser(stream_factory=lambda *_, **__: BytesIO()).parse(
            body, mimetype, size, options
        )
        file = files["file"]
        headers = {name.lower(): value for name, value in self.headers.items()}
        named = (file.filename or "", file.content_type or "")
        return Heard(self.path, headers, fields.to_dict(), file.read(), *named)

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        size = -(-len(reply.body) // reply.pieces) or 1
        for start in range(0, len(reply.body), size):
            self.wfile.write(reply.body[start : start + size])
            self.wfile.flush()
            time.sleep(reply.pause)

    def log_message(self, *_arguments: object) -> None:
        """Nothing is printed."""

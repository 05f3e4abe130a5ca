"""A service on this machine with the wire formats of `/v1/chat/completions` and `/v1/messages`."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

QUESTION = "What happened the last time that you did it?"
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
REFUSAL = "I cannot help with that."
JSON = {"Content-Type": "application/json"}


@dataclass
class Asked:
    """One request, `number` from 0."""

    number: int
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        """What the model is told of its task."""
        return str(self.body["system"] if self.path == MESSAGES else self._said("system"))

    @property
    def user(self) -> str:
        return self._said("user")

    def _said(self, role: str) -> str:
        (found,) = [each for each in self.body["messages"] if each["role"] == role]
        return str(found["content"])


@dataclass
class Reply:
    """What is answered: after so many seconds, these bytes, in pieces with pauses between.

    dripping  seconds between two bytes of the headers; 0: all at once
    """

    body: bytes = b""
    status: int = 200
    after: float = 0
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))
    pieces: int = 1
    pause: float = 0
    dripping: float = 0


Answer = Callable[[Asked], Reply]


@dataclass
class ModelServer:
    """What it was asked, and how it answers; `answer` may be set while it runs."""

    port: int
    answer: Answer
    asked: list[Asked] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def settings(self, provider: str = "openai", **changed: Any) -> dict[str, Any]:
        """The settings that name it."""
        given = {
            "llm_provider": provider,
            "llm_base_url": f"http://{self.host}/v1",
            "llm_model": "small-model",
            "llm_api_key": "sk-of-the-operator",
        }
        return given | changed


def written(text: str, *, ended: str = "", **changed: Any) -> Answer:
    """The model writes this text; `ended` is why it stopped, if not because that is all."""
    return lambda asked: Reply(_completion(asked.path, text, ended), **changed)


def asking(question: str = QUESTION, technique: str = "example", **changed: Any) -> Answer:
    """The model asks this."""
    reply = {"action": "ask", "technique": technique, "question": question}
    return written(orjson.dumps(reply).decode(), **changed)


def stopping(**changed: Any) -> Answer:
    """The model asks nothing more."""
    reply = {"action": "stop", "technique": "elaborate", "question": ""}
    return written(orjson.dumps(reply).decode(), **changed)


def two_questions(**changed: Any) -> Answer:
    return asking("What happened? And who was there?", **changed)


def hanging(seconds: float = 30) -> Answer:
    """It begins to answer when nobody waits any more."""
    return asking(after=seconds)


def dripping_headers() -> Answer:
    return asking(dripping=0.1)


def dripping_body() -> Answer:
    return asking(pieces=100, pause=0.1)


def status(number: int, message: str = "busy", **fields: Any) -> Answer:
    """An error in the shape that both services use."""
    error = {"message": message, "type": "invalid_request_error"} | fields
    return lambda _asked: Reply(orjson.dumps({"type": "error", "error": error}), number)


def refusing() -> Answer:
    """The model says that it will not."""

    def answer(asked: Asked) -> Reply:
        if asked.path == MESSAGES:
            return Reply(_completion(asked.path, REFUSAL, "refusal"))
        message = {"role": "assistant", "content": None, "refusal": REFUSAL}
        return Reply(_choice(message, "stop"))

    return answer


def cut_off() -> Answer:
    """The model has no tokens left."""

    def answer(asked: Asked) -> Reply:
        ended = "max_tokens" if asked.path == MESSAGES else "length"
        return Reply(_completion(asked.path, '{"action": "ask", "question": "What', ended))

    return answer


def empty() -> Answer:
    """A complete answer without a text."""
    return written("")


def junk(body: bytes = b"\x00\xff\xfe{", **changed: Any) -> Answer:
    return lambda _asked: Reply(body, **changed)


def huge() -> Answer:
    return written("a" * 200_000)


def redirecting(to: str, number: int = 307) -> Answer:
    return lambda asked: Reply(status=number, headers={"Location": f"{to}{asked.path}"})


def without_schemas(then: Answer, number: int = 400) -> Answer:
    """A service that knows no schema of a reply."""
    refused = status(number, "response_format.type: not supported", param="response_format")
    return lambda asked: refused(asked) if _has_schema(asked) else then(asked)


def without_new_limit(then: Answer, number: int = 400) -> Answer:
    """A service that bounds tokens by their old name alone."""
    refused = status(number, "Unrecognized request argument supplied: max_completion_tokens")
    return lambda asked: refused(asked) if "max_completion_tokens" in asked.body else then(asked)


def in_turn(*answers: Answer) -> Answer:
    """Another answer to each request, the last one to all that follow."""
    return lambda asked: answers[min(asked.number, len(answers) - 1)](asked)


@contextmanager
def model_server(answer: Answer) -> Iterator[ModelServer]:
    server = _Server(("127.0.0.1", 0), _Handler)
    model = ModelServer(server.server_address[1], answer)
    server.model = model
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.stopped.set()
        server.shutdown()
        server.server_close()


def _completion(path: str, text: str, ended: str) -> bytes:
    if path != MESSAGES:
        return _choice({"role": "assistant", "content": text, "refusal": None}, ended or "stop")
    return orjson.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "small-model",
            "content": [{"type": "text", "text": text}] if text else [],
            "stop_reason": ended or "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 300, "output_tokens": 30},
        }
    )


def _choice(message: dict[str, Any], ended: str) -> bytes:
    return orjson.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_795_000_000,
            "model": "small-model",
            "choices": [{"index": 0, "message": message, "finish_reason": ended}],
            "usage": {"prompt_tokens": 300, "completion_tokens": 30, "total_tokens": 330},
        }
    )


def _has_schema(asked: Asked) -> bool:
    return bool(asked.body.get("response_format", {}).get("type") == "json_schema")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    model: ModelServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        model = self.server.model
        body = orjson.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with model.lock:
            asked = Asked(len(model.asked), self.path, headers, body)
            model.asked.append(asked)
            model.at_once += 1
            model.most_at_once = max(model.most_at_once, model.at_once)
        reply = model.answer(asked)
        model.stopped.wait(reply.after)
        with model.lock:
            model.at_once -= 1
        self.close_connection = True
        try:
            self._send(reply)
        except OSError:
            return

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
            self.server.model.stopped.wait(pause)

    def log_message(self, *_arguments: object) -> None:
        """Nothing is printed."""

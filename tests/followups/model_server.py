"""A service on this machine with the wire formats of `/v1/chat/completions` and `/v1/messages`."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import orjson

from tests.replying import Reply, Replying, replying

QUESTION = "What happened the last time that you did it?"
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
REFUSAL = "I cannot help with that."


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


Answer = Callable[[Asked], Reply]


class ModelServer(Replying):
    def read(self, number: int, path: str, headers: dict[str, str], body: bytes) -> Asked:
        return Asked(number, path, headers, orjson.loads(body))

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


def model_server(answer: Answer) -> AbstractContextManager[ModelServer]:
    return replying(ModelServer, answer)


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

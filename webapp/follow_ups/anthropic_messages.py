"""A service with the wire format of `/v1/messages`, through the SDK of Anthropic.

It gets the messages, the name of the model and what the operator adds: nothing of our environment
and nothing about this machine.
"""

import time
from typing import Any

import anthropic
import httpx2
import orjson

from webapp.base.config import Settings
from webapp.base.guarded_client import silence
from webapp.follow_ups.messages import REPLY_SCHEMA, ModelMessages
from webapp.follow_ups.model_breaker import ModelFailed, ModelRefused
from webapp.follow_ups.model_exchange import REPLY_MAX_TOKENS, broken_by, model_client, refused_with

COMPLETE = ("end_turn", "stop_sequence")
REFUSED = "refusal"

silence("anthropic")


def prepare(config: Settings) -> None:
    """Load what the SDK puts off until the first call."""
    _client(config, time.monotonic()).close()


def ask(messages: ModelMessages, *, config: Settings, ends: float) -> str:
    """The text of the reply. Raises ModelFailed."""
    try:
        with _client(config, ends) as client:
            asked = _body(messages, config)
            return _text(client.post("/v1/messages", cast_to=httpx2.Response, body=asked).content)
    except anthropic.APIStatusError as error:
        raise refused_with(error.status_code) from None
    except anthropic.AnthropicError as error:
        raise broken_by(error) from None


def _body(messages: ModelMessages, config: Settings) -> dict[str, Any]:
    """What is asked; the operator's word counts. Given as it is sent: a call takes a third less
    processor time than by the method of the SDK, which knows all types that a message can have.

    Schema and effort are both in `output_config`, so that one is merged, too.
    """
    extra = config.llm_request_fields
    ours = {"format": {"type": "json_schema", "schema": REPLY_SCHEMA}}
    theirs = extra.get("output_config", {})
    asked = {
        "model": config.llm_model,
        "max_tokens": REPLY_MAX_TOKENS,
        "system": messages.system,
        "messages": [{"role": "user", "content": messages.user}],
        **extra,
    }
    return asked | {"output_config": ours | theirs if isinstance(theirs, dict) else theirs}


def _text(body: bytes) -> str:
    """What the model wrote, as far as it is complete."""
    try:
        message = orjson.loads(body)
        ended = message["stop_reason"]
        parts = [block["text"] for block in message["content"] if block["type"] == "text"]
        text = "".join(parts)
    except (ValueError, LookupError, TypeError):
        raise ModelFailed("it answered with something else than a message") from None
    if ended == REFUSED:
        raise ModelRefused("it refused")
    if ended not in COMPLETE:
        raise ModelRefused(f"it did not end within {REPLY_MAX_TOKENS} tokens")
    if not text.strip():
        raise ModelRefused("it answered without a text")
    return text


def _client(config: Settings, ends: float) -> anthropic.Anthropic:
    key = config.llm_api_key
    http_client = model_client(config.llm_url, {"x-api-key": key} if key else {}, ends)
    return anthropic.Anthropic(
        api_key="sent by the transport",
        base_url=config.llm_url,
        max_retries=0,
        timeout=http_client.timeout,
        open_telemetry=False,
        http_client=http_client,
    )

"""A service with the wire format of `/v1/chat/completions`, through the SDK of OpenAI.

It gets the messages, the name of the model and what the operator adds: nothing of our environment
and nothing about this machine.
"""

import time
from typing import Any, NamedTuple

import httpx2
import openai
import orjson

from webapp.base.config import Settings
from webapp.base.guarded_client import silence
from webapp.follow_ups.messages import REPLY_SCHEMA, ModelMessages
from webapp.follow_ups.model_breaker import ModelFailed, ModelRefused
from webapp.follow_ups.model_exchange import REPLY_MAX_TOKENS, broken_by, model_client, refused_with

NEW_LIMIT, OLD_LIMIT = "max_completion_tokens", "max_tokens"
FILTERED = ("content_filter", "content_policy_violation")  # codes of refusals with status 400
CUT_OFF = "length"
BY_SCHEMA = {
    "type": "json_schema",
    "json_schema": {"name": "follow_up", "strict": True, "schema": REPLY_SCHEMA},
}
BY_WORDS = "\n\nReply with one JSON object of this JSON schema: " + orjson.dumps(
    REPLY_SCHEMA
).decode("ascii")

silence("openai")


class _Dialect(NamedTuple):
    """What a service understands: schemas of replies, and which name of the bound on tokens."""

    schema: bool = True
    limit: str = NEW_LIMIT


_dialects: dict[tuple[str, str | None], _Dialect] = {}  # by address and model, found by trying


def prepare(config: Settings) -> None:
    """Load what the SDK puts off until the first call."""
    _client(config, time.monotonic()).close()


def ask(messages: ModelMessages, *, config: Settings, ends: float) -> str:
    """The text of the reply. Raises ModelFailed.

    What the service refuses is left out and tried at once, and not sent again to this service.
    """
    service = config.llm_url, config.llm_model
    dialect = _dialects.get(service, _Dialect())
    try:
        with _client(config, ends) as client:
            body, understood = _send(client, messages, config, dialect)
    except openai.APIStatusError as error:
        raise _refusal(error) from None
    except openai.OpenAIError as error:
        raise broken_by(error) from None
    _dialects[service] = understood
    return _text(body)


def _send(
    client: openai.OpenAI, messages: ModelMessages, config: Settings, dialect: _Dialect
) -> tuple[bytes, _Dialect]:
    """The body of the answer, and what the service understood."""
    try:
        answer = client.post(
            "/chat/completions", cast_to=httpx2.Response, body=_body(messages, config, dialect)
        )
    except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
        plainer = _plainer(dialect, error)
        if plainer is None:
            raise
        return _send(client, messages, config, plainer)
    return answer.content, dialect


def _shape_in_words(dialect: _Dialect) -> str:
    return "" if dialect.schema else BY_WORDS


def _body(messages: ModelMessages, config: Settings, dialect: _Dialect) -> dict[str, Any]:
    """What is asked; the operator's word counts. Given as it is sent: a call takes a third less
    processor time than by the method of the SDK, which knows all types that a chat can have.
    """
    extra = config.llm_request_fields
    asked: dict[str, Any] = {
        "model": config.llm_model,
        "messages": [
            {"role": "system", "content": messages.system + _shape_in_words(dialect)},
            {"role": "user", "content": messages.user},
        ],
        "response_format": BY_SCHEMA if dialect.schema else {"type": "json_object"},
    }
    if not extra.keys() & {NEW_LIMIT, OLD_LIMIT}:
        asked[dialect.limit] = REPLY_MAX_TOKENS
    return asked | extra


def _plainer(dialect: _Dialect, error: openai.APIStatusError) -> _Dialect | None:
    """What to try after this refusal; None where that is of no use.

    Few services name the field that they do not know, and in words of their own.
    """
    limit_refused = NEW_LIMIT in error.response.text and dialect.limit == NEW_LIMIT
    if error.code in FILTERED:
        return None
    if dialect.schema and not limit_refused:
        return dialect._replace(schema=False)
    return dialect._replace(limit=OLD_LIMIT) if dialect.limit == NEW_LIMIT else None


def _refusal(error: openai.APIStatusError) -> ModelFailed:
    if error.code in FILTERED:
        return ModelRefused("it refused")
    return refused_with(error.status_code)


def _text(body: bytes) -> str:
    """What the model wrote, as far as it is complete."""
    try:
        choice = orjson.loads(body)["choices"][0]
        ended, message = choice.get("finish_reason"), choice["message"]
        refusal, text = message.get("refusal"), message.get("content")
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ModelFailed("it answered with something else than a completion") from None
    if refusal or ended in FILTERED:
        raise ModelRefused("it refused")
    if ended == CUT_OFF:
        raise ModelRefused(f"it wrote more than {REPLY_MAX_TOKENS} tokens")
    if not isinstance(text, str) or not text.strip():
        raise ModelRefused("it answered without a text")
    return text


def _client(config: Settings, ends: float) -> openai.OpenAI:
    key = config.llm_api_key
    headers = {"authorization": f"Bearer {key}"} if key else {}
    http_client = model_client(config.llm_url, headers, ends)
    return openai.OpenAI(
        api_key="sent by the transport",
        base_url=config.llm_url,
        organization="",
        project="",
        max_retries=0,
        timeout=http_client.timeout,
        http_client=http_client,
    )

"""Client of the configured model, in one of two wire formats: `/v1/chat/completions` and
`/v1/messages`.

The service gets the messages, the model name and the fields that the operator adds, but nothing of
our environment or about this machine. A call occupies a server thread while it runs, so its caller
holds a slot of webapp/web/wakeups.py and a call of webapp/follow_ups/model_breaker.py, and no
database connection.
"""

import time
from typing import Any, NamedTuple

import httpx2
import orjson

from webapp.base.config import ANTHROPIC, Settings
from webapp.base.guarded_client import TOO_LONG, Bounds, guarded_client, reason_of, silence
from webapp.follow_ups import conduct
from webapp.follow_ups.messages import REPLY_SCHEMA, ModelMessages
from webapp.follow_ups.model_breaker import MODEL_SECONDS, ModelFailed, ModelLate, ModelRefused

ANSWER_MAX_BYTES = 64 * 1024
OF_THE_REQUEST = (400, 413, 422)  # errors of this request only
REPLY_MAX_TOKENS = 300  # enough for a question of 200 characters in JSON
NEW_LIMIT, OLD_LIMIT = "max_completion_tokens", "max_tokens"
FILTERED = ("content_filter", "content_policy_violation")  # error codes of refusals with status 400
SCHEMA = {"type": "json_schema", "schema": REPLY_SCHEMA}
BY_SCHEMA = {
    "type": "json_schema",
    "json_schema": {"name": "follow_up", "strict": True, "schema": REPLY_SCHEMA},
}
BY_WORDS = "\n\nReply with one JSON object of this JSON schema: " + orjson.dumps(
    REPLY_SCHEMA
).decode("ascii")

silence("httpx2")


class _Dialect(NamedTuple):
    """The features of a chat service: reply schemas, and the name of its token limit."""

    schema: bool = True
    limit: str = NEW_LIMIT


_dialects: dict[tuple[str, str | None], _Dialect] = {}  # by URL and model, found by trial


def ask_model(messages: ModelMessages, *, config: Settings, seconds: float = MODEL_SECONDS) -> str:
    """Return the unchecked text of the reply; never retries a failure.

    Raises ModelFailed after `seconds` at the latest.
    """
    ask, read = (_ask, _of_message) if config.llm_provider == ANTHROPIC else (_ask_chat, _of_chat)
    try:
        with _client(config, time.monotonic() + seconds) as client:
            answer = ask(client, messages, config)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise _broken_by(error) from None
    if not answer.is_success:
        raise _refused_with(answer)
    try:
        text, refused, complete = read(orjson.loads(answer.content))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ModelFailed("it answered with something else than a reply") from None
    if refused:
        raise ModelRefused("it refused")
    if not complete:
        raise ModelRefused(f"it did not end within {REPLY_MAX_TOKENS} tokens")
    if not isinstance(text, str) or not text.strip():
        raise ModelRefused("it answered without a text")
    return text


def prepare(config: Settings) -> None:
    """Load everything that a call of the model needs, so that the first call does not wait."""
    conduct.named("")  # reads the word lists
    _client(config, time.monotonic()).close()


def _client(config: Settings, ends: float) -> httpx2.Client:
    """Return a client for one question, which times out at `ends` of the monotonic clock."""
    headers = {"accept": "application/json"}
    if config.llm_provider == ANTHROPIC:
        headers |= {"anthropic-version": "2023-06-01", "x-api-key": config.llm_api_key or ""}
    elif config.llm_api_key:
        headers["authorization"] = f"Bearer {config.llm_api_key}"
    left = httpx2.Timeout(max(ends - time.monotonic(), 0.001))
    return guarded_client(config.llm_url, headers, Bounds(ends, left, ANSWER_MAX_BYTES))


def _ask(client: httpx2.Client, messages: ModelMessages, config: Settings) -> httpx2.Response:
    """Post to `/v1/messages`; the operator's fields win. `output_config` is merged, because it has
    both the schema and the effort.
    """
    extra = config.llm_request_fields
    theirs = extra.get("output_config", {})
    asked = {
        "model": config.llm_model,
        "max_tokens": REPLY_MAX_TOKENS,
        "system": messages.system,
        "messages": [{"role": "user", "content": messages.user}],
        **extra,
        "output_config": {"format": SCHEMA} | theirs if isinstance(theirs, dict) else theirs,
    }
    return client.post(f"{config.llm_url.rstrip('/')}/v1/messages", json=asked)


def _of_message(body: Any) -> tuple[object, bool, bool]:
    """Return the text of the model, whether it is a refusal, and whether it is complete."""
    ended = body["stop_reason"]
    parts = [block["text"] for block in body["content"] if block["type"] == "text"]
    return "".join(parts), ended == "refusal", ended in {"end_turn", "stop_sequence"}


def _ask_chat(client: httpx2.Client, messages: ModelMessages, config: Settings) -> httpx2.Response:
    """Post to a chat service; drop fields that it refuses, retry, and remember the dialect."""
    service = config.llm_url, config.llm_model
    dialect: _Dialect | None = _dialects.get(service, _Dialect())
    while dialect:
        understood = dialect
        asked = _chat(messages, config, dialect)
        answer = client.post(f"{config.llm_url.rstrip('/')}/chat/completions", json=asked)
        dialect = _plainer(dialect, answer) if answer.status_code in {400, 422} else None
    if answer.is_success:
        _dialects[service] = understood
    return answer


def _chat(messages: ModelMessages, config: Settings, dialect: _Dialect) -> dict[str, Any]:
    """Return the body of a chat request; the operator's fields win."""
    extra = config.llm_request_fields
    in_words = "" if dialect.schema else BY_WORDS
    asked: dict[str, Any] = {
        "model": config.llm_model,
        "messages": [
            {"role": "system", "content": messages.system + in_words},
            {"role": "user", "content": messages.user},
        ],
        "response_format": BY_SCHEMA if dialect.schema else {"type": "json_object"},
    }
    if not extra.keys() & {NEW_LIMIT, OLD_LIMIT}:
        asked[dialect.limit] = REPLY_MAX_TOKENS
    return asked | extra


def _plainer(dialect: _Dialect, answer: httpx2.Response) -> _Dialect | None:
    """Return the dialect to try after this refusal; None if another try is pointless.

    Few services name the field that they do not know, and each words the error differently.
    """
    limit_refused = NEW_LIMIT.encode() in answer.content and dialect.limit == NEW_LIMIT
    if _is_filtered(answer):
        return None
    if dialect.schema and not limit_refused:
        return dialect._replace(schema=False)
    return dialect._replace(limit=OLD_LIMIT) if dialect.limit == NEW_LIMIT else None


def _of_chat(body: Any) -> tuple[object, bool, bool]:
    choice = body["choices"][0]
    ended, message = choice.get("finish_reason"), choice["message"]
    refused = bool(message.get("refusal")) or ended in FILTERED
    return message.get("content"), refused, ended != "length"


def _refused_with(answer: httpx2.Response) -> ModelFailed:
    if _is_filtered(answer):
        return ModelRefused("it refused")
    kind = ModelRefused if answer.status_code in OF_THE_REQUEST else ModelFailed
    return kind(f"it answered with status {answer.status_code}")


def _is_filtered(answer: httpx2.Response) -> bool:
    try:
        return orjson.loads(answer.content)["error"]["code"] in FILTERED
    except (ValueError, LookupError, TypeError):
        return False


def _broken_by(error: Exception) -> ModelFailed:
    what = reason_of(error)
    if what == TOO_LONG:
        return ModelRefused(what)
    late = isinstance(error, httpx2.TimeoutException)
    return (ModelLate if late else ModelFailed)(f"{type(error).__name__}: {what}")

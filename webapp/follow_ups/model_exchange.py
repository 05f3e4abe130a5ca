"""Asks the configured model whether to follow up an answer, while the respondent waits.

The service gets the messages, the model name and the fields that the operator adds, in one of two
wire formats (`/v1/chat/completions` and `/v1/messages`), but nothing of our environment or about
this machine. A call occupies a server thread while it runs, so its caller holds a slot of
webapp/web/wakeups.py and no database connection.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import orjson
from flask import current_app

from webapp.base.config import ANTHROPIC, Settings, settings
from webapp.base.outbound import Bounds, Reply, Unreachable, ask_service
from webapp.follow_ups.messages import REPLY_SCHEMA, Brief, ModelMessages, messages_for
from webapp.follow_ups.rules import Decision, Technique, Thread
from webapp.records.follow_ups import ModelOutcome

MODEL_SECONDS = 4.0  # in total, from the DNS lookup to the last byte of the reply
CALLS_AT_ONCE = 16  # half of the server threads
FAILURES_IN_A_ROW = 3
REST_SECONDS = 60.0
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
BY_WORDS = "\n\nReply with one JSON object of this JSON schema: %s"

log = logging.getLogger("askback.follow_ups")


class ModelFailed(Exception):
    """There is no reply; the rules decide instead.

    The reason is for the log: it contains no prompt, answer or reply, and no secret.
    """

    outcome = ModelOutcome.FAILED.value


class ModelLate(ModelFailed):
    """The model exceeded the time limit."""

    outcome = ModelOutcome.LATE.value


class ModelRefused(ModelFailed):
    """The service works but returned nothing usable for this answer; another answer may succeed."""


class ModelResting(ModelFailed):
    """The service was not called: it failed a moment ago, or enough calls run."""

    outcome = ""


def decision_of_model(
    thread: Thread, brief: Brief, *, remaining: int, seconds: float = MODEL_SECONDS
) -> tuple[Decision | None, str]:
    """Return the model's decision about the last answer of the thread, None if unusable, with a
    `ModelOutcome`, the name of the check that failed, or "" if the model was not asked.

    remaining  the number of follow-ups that may still be asked, including this one
    seconds    the time limit
    """
    from webapp.follow_ups.guard import Unusable, checked

    try:
        with model_breaker().call():
            messages = messages_for(thread, brief, remaining=remaining)
            reply = ask_model(messages, config=settings(), seconds=seconds)
        decision = checked(reply, thread, brief)
    except (ModelFailed, Unusable) as error:
        log.warning("no follow-up of the model: %s %s", type(error).__name__, error)
        return None, error.outcome
    if decision.technique is None:
        return decision, ModelOutcome.SILENT
    picked = decision.technique is Technique.PREPARED
    return decision, ModelOutcome.PICKED if picked else ModelOutcome.WROTE


class ModelBreaker:
    """Limits the calls that run at once in one process, and stops while the service fails: after
    FAILURES_IN_A_ROW for REST_SECONDS; then a single call tests the service.

    A refusal is no failure: one person's answer must not take the model from others.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._running = 0
        self._failures = 0
        self._opened_until: float | None = None  # math.inf while a call tests the service

    @property
    def rests(self) -> bool:
        """Whether a call would be refused now because earlier calls failed."""
        return self._opened_until is not None and self._clock() < self._opened_until

    @contextmanager
    def call(self) -> Iterator[None]:
        """Guard one call of the model; a ModelFailed raised inside counts as a failure.

        Raises ModelResting.
        """
        with self._lock:
            if self._running >= CALLS_AT_ONCE:
                raise ModelResting(f"{CALLS_AT_ONCE} calls run")
            if self.rests:
                raise ModelResting("it failed a moment ago")
            self._running += 1
            opened_until = self._opened_until
            if opened_until is not None:
                self._opened_until = math.inf
        worked: bool | None = None  # another exception says nothing about the service
        try:
            yield
            worked = True
        except ModelFailed as error:
            worked = isinstance(error, ModelRefused)
            raise
        finally:
            with self._lock:
                self._running -= 1
                # a call from before the breaker opened tells nothing about it now
                if opened_until is not None or self._opened_until is None:
                    if worked is not None:
                        self._failures = 0 if worked else self._failures + 1
                        fails = self._failures >= FAILURES_IN_A_ROW
                        opened_until = self._clock() + REST_SECONDS if fails else None
                    self._opened_until = opened_until


def model_breaker() -> ModelBreaker:
    """Return the breaker of the current application."""
    return cast(ModelBreaker, current_app.extensions.setdefault("model_breaker", ModelBreaker()))


def prepare() -> None:
    """Load everything that a call of the model needs, so that the first call does not wait."""
    from webapp.follow_ups import conduct, guard  # noqa: F401

    conduct.named("")  # reads the word lists


def ask_model(messages: ModelMessages, *, config: Settings, seconds: float = MODEL_SECONDS) -> str:
    """Return the unchecked text of the reply; never retries a failure.

    Raises ModelFailed after `seconds` at the latest.
    """
    ask, read = (_ask, _of_message) if config.llm_provider == ANTHROPIC else (_ask_chat, _of_chat)
    try:
        answer = ask(messages, config, time.monotonic() + seconds)
    except Unreachable as error:
        kind = ModelLate if error.reason == "timed_out" else ModelFailed
        raise kind(str(error)) from None
    if answer.cut:
        raise ModelRefused("the answer is too long")
    if _is_filtered(answer):
        raise ModelRefused("it refused")
    if not answer.is_success:
        kind = ModelRefused if answer.status in OF_THE_REQUEST else ModelFailed
        raise kind(f"it answered with status {answer.status}")
    try:
        text, refused, complete = read(orjson.loads(answer.body))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ModelFailed("it answered with something else than a reply") from None
    if refused:
        raise ModelRefused("it refused")
    if not complete:
        raise ModelRefused(f"it did not end within {REPLY_MAX_TOKENS} tokens")
    if not isinstance(text, str) or not text.strip():
        raise ModelRefused("it answered without a text")
    return text


def _post(path: str, asked: dict[str, Any], config: Settings, ends: float) -> Reply:
    """Post to the service; time out at `ends` of the monotonic clock. Raises Unreachable."""
    headers = {"content-type": "application/json"}
    if config.llm_provider == ANTHROPIC:
        headers |= {"anthropic-version": "2023-06-01", "x-api-key": config.llm_api_key or ""}
    elif config.llm_api_key:
        headers["authorization"] = f"Bearer {config.llm_api_key}"
    seconds = ends - time.monotonic()
    bounds = Bounds(body_bytes=ANSWER_MAX_BYTES, connect_seconds=seconds, total_seconds=seconds)
    url = f"{config.llm_url.rstrip('/')}{path}"
    return ask_service(url, headers=headers, bounds=bounds, body=orjson.dumps(asked))


def _ask(messages: ModelMessages, config: Settings, ends: float) -> Reply:
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
    return _post("/v1/messages", asked, config, ends)


def _of_message(body: Any) -> tuple[object, bool, bool]:
    """Return the text of the model, whether it is a refusal, and whether it is complete."""
    ended = body["stop_reason"]
    parts = [block["text"] for block in body["content"] if block["type"] == "text"]
    return "".join(parts), ended == "refusal", ended in {"end_turn", "stop_sequence"}


_plain: set[tuple[str, str | None]] = set()  # URL and model of services that refuse newer fields


def _ask_chat(messages: ModelMessages, config: Settings, ends: float) -> Reply:
    """Post to a chat service; to one that refuses the newer fields, post older ones from then on.

    Few services name the field that they do not know, and each words the error differently.
    """
    service, path = (config.llm_url, config.llm_model), "/chat/completions"
    if service not in _plain:
        answer = _post(path, _chat(messages, config, plain=False), config, ends)
        if answer.status not in {400, 422} or _is_filtered(answer):
            return answer
    answer = _post(path, _chat(messages, config, plain=True), config, ends)
    if answer.is_success:
        _plain.add(service)
    return answer


def _chat(messages: ModelMessages, config: Settings, *, plain: bool) -> dict[str, Any]:
    """Return the body of a chat request; the operator's fields win."""
    extra, shape = config.llm_request_fields, BY_WORDS % orjson.dumps(REPLY_SCHEMA).decode("ascii")
    asked: dict[str, Any] = {
        "model": config.llm_model,
        "messages": [
            {"role": "system", "content": messages.system + shape * plain},
            {"role": "user", "content": messages.user},
        ],
        "response_format": {"type": "json_object"} if plain else BY_SCHEMA,
    }
    if not extra.keys() & {NEW_LIMIT, OLD_LIMIT}:
        asked[OLD_LIMIT if plain else NEW_LIMIT] = REPLY_MAX_TOKENS
    return asked | extra


def _of_chat(body: Any) -> tuple[object, bool, bool]:
    choice = body["choices"][0]
    ended, message = choice.get("finish_reason"), choice["message"]
    refused = bool(message.get("refusal")) or ended in FILTERED
    return message.get("content"), refused, ended != "length"


def _is_filtered(answer: Reply) -> bool:
    try:
        return not answer.is_success and orjson.loads(answer.body)["error"]["code"] in FILTERED
    except (ValueError, LookupError, TypeError):
        return False

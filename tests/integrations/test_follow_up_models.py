"""What a model gets of an answer, how long anybody waits for it, and what of it is taken."""

import gzip
import logging
import time
import traceback
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from tests.followups import model_server as replies
from tests.followups.model_server import CHAT, MESSAGES, Answer, ModelServer, model_server
from tests.raw_receiver import raw_receiver, says
from tests.services import free_port
from tests.webapp.test_config import SECRET
from webapp.base.config import Settings
from webapp.follow_ups import model_exchange
from webapp.follow_ups.messages import REPLY_SCHEMA, ModelMessages
from webapp.follow_ups.model_breaker import ModelFailed, ModelLate, ModelRefused
from webapp.follow_ups.model_exchange import ask_model

ASKED = ModelMessages("You ask one question. Background: ctx-canary", '{"answer": "ans-canary 慢"}')
KEY = "sk-of-the-operator"
CANARIES = ("ctx-canary", "ans-canary", KEY, "reply-canary")
WAITED_SECONDS = 8  # of thirty; on a busy machine four take longer, and `make prove` is exact
BOTH = pytest.mark.parametrize("provider", ["openai", "anthropic"])


@pytest.fixture(autouse=True)
def _nothing_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of other tests may have had the same port."""
    monkeypatch.setattr(model_exchange, "_dialects", {})


def settings(**given: Any) -> Settings:
    return Settings(public_url="http://127.0.0.1:8000", secret_key=SECRET, **given)


def ask(model: ModelServer, provider: str = "openai", **changed: Any) -> str:
    return ask_model(ASKED, config=settings(**model.settings(provider, **changed)))


def failure(answer: Answer, provider: str, **changed: Any) -> ModelFailed:
    """Why this is no reply."""
    with model_server(answer) as model, pytest.raises(ModelFailed) as caught:
        ask(model, provider, **changed)
    return caught.value


CHAT_BODY = {
    "model": "small-model",
    "messages": [
        {"role": "system", "content": ASKED.system},
        {"role": "user", "content": ASKED.user},
    ],
    "max_completion_tokens": 300,
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "follow_up", "strict": True, "schema": REPLY_SCHEMA},
    },
}
MESSAGES_BODY = {
    "model": "small-model",
    "max_tokens": 300,
    "system": ASKED.system,
    "messages": [{"role": "user", "content": ASKED.user}],
    "output_config": {"format": {"type": "json_schema", "schema": REPLY_SCHEMA}},
}


@pytest.mark.parametrize(
    ("provider", "path", "body", "secret"),
    [
        ("openai", CHAT, CHAT_BODY, {"authorization": f"Bearer {KEY}"}),
        ("anthropic", MESSAGES, MESSAGES_BODY, {"x-api-key": KEY}),
    ],
)
def test_a_service_gets_messages_model_and_shape_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    path: str,
    body: dict[str, Any],
    secret: dict[str, str],
) -> None:
    for name in ("API_KEY", "ORG_ID", "AUTH_TOKEN", "CUSTOM_HEADERS"):
        monkeypatch.setenv(f"{provider.upper()}_{name}", "X-Mine: of-something-else")
    for name in (f"{provider.upper()}_BASE_URL", "HTTP_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with model_server(replies.written("anything")) as model:
        assert ask(model, provider) == "anything"

    (asked,) = model.asked
    assert (asked.path, asked.body) == (path, body)
    asked.headers.pop("anthropic-version", None)
    assert asked.headers == secret | {
        "host": model.host,
        "accept": "application/json",
        "accept-encoding": "identity",
        "connection": "close",
        "content-length": asked.headers["content-length"],
        "content-type": "application/json",
        "user-agent": "Askback",
    }


def test_a_service_of_ones_own_gets_no_key() -> None:
    with model_server(replies.asking()) as model:
        ask(model, llm_api_key=None)

    assert "authorization" not in model.asked[0].headers


def test_what_the_operator_adds_is_merged() -> None:
    extra = '{"reasoning_effort": "low", "max_tokens": 900}'
    with model_server(replies.asking()) as model:
        ask(model, llm_extra=extra)

    assert model.asked[0].body["reasoning_effort"] == "low"
    assert model.asked[0].body["max_tokens"] == 900
    assert "max_completion_tokens" not in model.asked[0].body
    assert model.asked[0].body["response_format"]["type"] == "json_schema"


def test_the_word_of_the_operator_counts() -> None:
    with model_server(replies.asking()) as model:
        ask(model, llm_extra='{"response_format": {"type": "text"}}')

    assert model.asked[0].body["response_format"] == {"type": "text"}


def test_what_the_operator_adds_is_merged_beside_the_schema() -> None:
    extra = '{"output_config": {"effort": "low"}, "thinking": {"type": "disabled"}}'
    with model_server(replies.asking()) as model:
        ask(model, "anthropic", llm_extra=extra)

    assert model.asked[0].body["output_config"]["effort"] == "low"
    assert model.asked[0].body["output_config"]["format"]["schema"] == REPLY_SCHEMA
    assert model.asked[0].body["thinking"] == {"type": "disabled"}


@BOTH
@pytest.mark.parametrize("answer", [replies.asking(), replies.stopping(), replies.two_questions()])
def test_the_text_is_handed_over_as_it_came(provider: str, answer: Answer) -> None:
    with model_server(answer) as model:
        assert ask(model, provider).startswith('{"action":')


@pytest.mark.parametrize("number", [400, 422])
def test_a_service_without_schemas_is_told_the_shape_in_words_from_then_on(number: int) -> None:
    with model_server(replies.without_schemas(replies.asking(), number)) as model:
        ask(model)
        ask(model)

    formats = [asked.body["response_format"]["type"] for asked in model.asked]
    assert formats == ["json_schema", "json_object", "json_object"]
    assert [each.body["max_completion_tokens"] for each in model.asked] == [300] * 3
    assert orjson.dumps(REPLY_SCHEMA).decode() in model.asked[2].system
    assert model.asked[0].system == ASKED.system


def test_a_service_that_knows_the_old_limit_gets_it_from_then_on() -> None:
    with model_server(replies.without_new_limit(replies.asking())) as model:
        ask(model)
        ask(model)

    assert [asked.body.get("max_tokens") for asked in model.asked] == [None, 300, 300]
    assert [each.body["response_format"]["type"] for each in model.asked] == ["json_schema"] * 3
    assert "max_completion_tokens" not in model.asked[2].body


def in_plainest_form_only(asked: replies.Asked) -> replies.Reply:
    plain = "max_tokens" in asked.body and asked.body["response_format"]["type"] != "json_schema"
    return (replies.asking() if plain else replies.status(400, "bad request"))(asked)


@pytest.mark.parametrize(
    "answer",
    [
        replies.without_new_limit(replies.without_schemas(replies.asking())),
        in_plainest_form_only,  # names nothing
    ],
)
def test_a_service_that_knows_neither_is_asked_three_times_once(answer: Answer) -> None:
    with model_server(answer) as model:
        ask(model)
        ask(model)

    assert len(model.asked) == 4


def test_what_did_not_help_is_not_remembered() -> None:
    with model_server(replies.status(400)) as model:
        for _ in range(2):
            with pytest.raises(ModelFailed, match="status 400"):
                ask(model)

    assert [asked.body["response_format"]["type"] for asked in model.asked] == [
        *("json_schema", "json_object", "json_object"),
        *("json_schema", "json_object", "json_object"),
    ]


def test_another_model_of_the_service_is_tried_anew() -> None:
    with model_server(replies.without_new_limit(replies.asking())) as model:
        ask(model)
        ask(model, llm_model="larger-model")

    assert "max_completion_tokens" in model.asked[2].body


@BOTH
@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (replies.refusing(), ModelRefused, "it refused"),
        (replies.cut_off(), ModelRefused, "tokens"),
        (replies.empty(), ModelRefused, "without a text"),
        (replies.written(" \n"), ModelRefused, "without a text"),
        (replies.status(500), ModelFailed, "status 500"),
        (replies.status(401), ModelFailed, "status 401"),
        (replies.status(429), ModelFailed, "status 429"),
        (replies.status(400), ModelRefused, "status 400"),
        (replies.status(413), ModelRefused, "status 413"),
        (replies.huge(), ModelRefused, "the answer is too long"),
        (replies.junk(), ModelFailed, "something else"),
        (replies.junk(gzip.compress(b"{}")), ModelFailed, "something else"),
    ],
)
def test_what_is_no_reply(
    provider: str, answer: Answer, kind: type[ModelFailed], reason: str
) -> None:
    failed = failure(answer, provider)

    assert type(failed) is kind
    assert reason in str(failed)


@BOTH
@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"null", b"5", b'"text"', b"{}", b"[" * 60_000),
        *(b'{"choices": []}', b'{"choices": {}}', b'{"choices": [{}]}', b'{"choices": ["a"]}'),
        *(b'{"choices": [{"message": null}]}', b'{"choices": [{"message": {"content": 5}}]}'),
        *(b'{"content": [], "stop_reason": 5}', b'{"content": "text", "stop_reason": "end_turn"}'),
        b'{"content": [{"type": "text", "text": 5}], "stop_reason": "end_turn"}',
        b'{"content": [{"type": "thinking"}], "stop_reason": "end_turn"}',
    ],
)
def test_junk_is_no_reply(provider: str, body: bytes) -> None:
    assert failure(replies.junk(body), provider)


@BOTH
@pytest.mark.parametrize("number", [200, 400, 500])
@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/html"},
        {"Content-Type": "application/json; charset=hex"},
        {"Content-Type": "application/json; charset=nothing"},
        {"Content-Type": "text/event-stream"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
def test_odd_headers_are_a_failure(provider: str, number: int, headers: dict[str, str]) -> None:
    assert failure(replies.junk(b"\xff\x00{", status=number, headers=headers), provider)


def test_a_filter_that_answers_400_is_a_refusal_and_not_asked_again() -> None:
    filtered = replies.status(400, "filtered", code="content_filter")
    with model_server(filtered) as model, pytest.raises(ModelRefused):
        ask(model)

    assert len(model.asked) == 1


@BOTH
@pytest.mark.parametrize("number", [408, 409, 429, 500, 503])
def test_a_service_that_fails_is_asked_once(provider: str, number: int) -> None:
    with model_server(replies.status(number)) as model, pytest.raises(ModelFailed):
        ask(model, provider)

    assert len(model.asked) == 1


@BOTH
def test_no_redirect_is_followed(provider: str) -> None:
    with model_server(replies.asking()) as other:
        failed = failure(replies.redirecting(f"http://{other.host}"), provider)

    assert "status 307" in str(failed)
    assert other.asked == []


@BOTH
@pytest.mark.parametrize(
    "answer",
    [
        replies.hanging(),
        pytest.param(replies.dripping_headers(), marks=pytest.mark.prove),
        replies.dripping_body(),
        pytest.param(replies.status(500), marks=pytest.mark.prove),
    ],
)
def test_nobody_waits_longer(provider: str, answer: Answer) -> None:
    began = time.monotonic()

    assert failure(answer, provider)

    assert time.monotonic() - began < WAITED_SECONDS


def test_what_is_tried_again_shares_the_time() -> None:
    def slow(answer: Answer) -> Answer:
        def later(asked: replies.Asked) -> replies.Reply:
            reply = answer(asked)
            reply.after = 1.6
            return reply

        return later

    plain = replies.without_new_limit(replies.without_schemas(replies.asking()))
    began = time.monotonic()

    assert isinstance(failure(slow(plain), "openai"), ModelLate)

    assert time.monotonic() - began < WAITED_SECONDS


def everything_logged(caplog: pytest.LogCaptureFixture) -> str:
    formatter = logging.Formatter("%(name)s %(message)s %(pathname)s")
    return "\n".join(formatter.format(each) + repr(vars(each)) for each in caplog.records)


@BOTH
@pytest.mark.parametrize(
    "answer",
    [
        replies.asking("reply-canary?"),
        replies.status(400, "you said ans-canary, key sk-of-the-operator, reply-canary"),
        replies.junk(b"reply-canary {"),
        replies.written("reply-canary " * 9000),
        replies.junk(b"{}", headers={"Bad header ans-canary reply-canary": "x"}),
        replies.redirecting("http://127.0.0.1:1/reply-canary"),
    ],
)
def test_nothing_is_logged_of_what_people_and_models_write(
    caplog: pytest.LogCaptureFixture, provider: str, answer: Answer
) -> None:
    caplog.set_level(logging.DEBUG)
    told = ""
    with model_server(answer) as model:
        try:
            ask(model, provider)
        except ModelFailed as error:
            told = "".join(traceback.format_exception(error)) + repr(error)

    assert len(model.asked) >= 1
    assert [canary for canary in CANARIES if canary in everything_logged(caplog) + told] == []


def _over_raw(answer: Callable[[Any], None], provider: str) -> str:
    given = {"llm_provider": provider, "llm_model": "m", "llm_api_key": KEY}
    with raw_receiver(answer) as receiver:
        config = settings(**given, llm_base_url=f"{receiver.origin}/v1")
        with pytest.raises(ModelFailed) as caught:
            ask_model(ASKED, config=config)
    return "".join(traceback.format_exception(caught.value))


@BOTH
@pytest.mark.parametrize(
    "sent",
    [
        b"reply-canary ans-canary\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nreply-canary\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: reply-canary\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nreply-canary",
        b"",
    ],
)
def test_a_broken_answer_is_not_repeated(provider: str, sent: bytes) -> None:
    told = _over_raw(says(sent), provider)

    assert [canary for canary in CANARIES if canary in told] == []

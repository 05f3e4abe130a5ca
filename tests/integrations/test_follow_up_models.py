"""What a model gets of an answer, how long anybody waits for it, and what of it is taken."""

import gzip
import logging
import traceback
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from tests.followups import model_server as replies
from tests.followups.model_server import CHAT, MESSAGES, Answer, ModelServer, model_server
from tests.services import free_port
from tests.webapp.test_config import SECRET
from webapp.base.config import Settings
from webapp.follow_ups import model_exchange
from webapp.follow_ups.messages import REPLY_SCHEMA, ModelMessages
from webapp.follow_ups.model_exchange import ModelFailed, ModelLate, ModelRefused, ask_model

ASKED = ModelMessages("You ask one question. Background: ctx-canary", '{"answer": "ans-canary 慢"}')
KEY = "sk-of-the-operator"
CANARIES = ("ctx-canary", "ans-canary", KEY, "reply-canary")
BOTH = pytest.mark.parametrize("provider", ["openai", "anthropic"])


@pytest.fixture(autouse=True)
def _nothing_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of other tests may have had the same port."""
    monkeypatch.setattr(model_exchange, "_plain", set())


def settings(**given: Any) -> Settings:
    return Settings(public_url="http://127.0.0.1:8000", secret_key=SECRET, **given)


def ask(model: ModelServer, provider: str = "openai", **changed: Any) -> str:
    return ask_model(ASKED, config=settings(**model.settings(provider, **changed)))


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
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
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


EFFORT, FORMAT = {"effort": "low"}, MESSAGES_BODY["output_config"]
PLAIN, THINKING = {"type": "text"}, {"type": "disabled"}


@pytest.mark.parametrize(
    ("provider", "extra", "sent"),
    [
        (
            "openai",
            {"max_tokens": 900, "response_format": PLAIN},
            {"max_tokens": 900, "max_completion_tokens": None, "response_format": PLAIN},
        ),
        (
            "anthropic",
            {"output_config": EFFORT, "thinking": THINKING},
            {"output_config": FORMAT | EFFORT, "thinking": THINKING},
        ),
    ],
)
def test_what_the_operator_adds_is_merged_and_counts(
    provider: str, extra: dict[str, Any], sent: dict[str, Any]
) -> None:
    added = orjson.dumps(extra).decode()
    key = None if provider == "openai" else KEY  # a service of one's own gets none
    with model_server(replies.asking()) as model:
        ask(model, provider, llm_extra=added, llm_api_key=key)

    usual = CHAT_BODY if provider == "openai" else MESSAGES_BODY
    expected = {name: value for name, value in (usual | sent).items() if value is not None}
    assert model.asked[0].body == expected
    assert "authorization" not in model.asked[0].headers


USUAL, PLAIN_FORM = ("json_schema", "max_completion_tokens"), ("json_object", "max_tokens")


def forms_of(model: ModelServer) -> list[tuple[str, str]]:
    """The type of the format and the name of the limit, of each request."""
    names = {"max_tokens", "max_completion_tokens"}
    return [
        (each.body["response_format"]["type"], *(names & each.body.keys())) for each in model.asked
    ]


@pytest.mark.parametrize("refusing", [replies.without_schemas, replies.without_new_limit])
@pytest.mark.parametrize("status", [400, 422])
def test_a_service_that_refuses_newer_fields_gets_older_ones_from_then_on(
    refusing: Callable[[Answer, int], Answer], status: int
) -> None:
    with model_server(refusing(replies.asking(), status)) as model:
        ask(model)
        ask(model)
        ask(model, llm_model="larger-model")

    assert forms_of(model) == [USUAL, PLAIN_FORM, PLAIN_FORM, USUAL, PLAIN_FORM]
    assert model.asked[0].system == ASKED.system
    assert orjson.dumps(REPLY_SCHEMA).decode() in model.asked[1].system


def test_what_did_not_help_is_not_remembered() -> None:
    with model_server(replies.status(400)) as model:
        for _ in range(2):
            with pytest.raises(ModelFailed, match="status 400"):
                ask(model)

    assert forms_of(model) == [USUAL, PLAIN_FORM] * 2


JUNK = (
    *(b"\xff{", b"[]", b"null", b"{}", b"[" * 60_000, gzip.compress(b"{}")),
    *(b'{"choices": []}', b'{"choices": [{"message": null}]}'),
    b'{"content": "text", "stop_reason": "end_turn"}',
)


@BOTH
@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (replies.refusing(), ModelRefused, "it refused"),
        (replies.cut_off(), ModelRefused, "tokens"),
        (replies.written(" \n"), ModelRefused, "without a text"),
        (replies.status(500), ModelFailed, "status 500"),
        (replies.status(429), ModelFailed, "status 429"),
        (replies.status(400), ModelRefused, "status 400"),
        (replies.status(400, "filtered", code="content_filter"), ModelRefused, "it refused"),
        (replies.huge(), ModelRefused, "the answer is too long"),
        *((replies.junk(body), ModelFailed, "something else") for body in JUNK),
    ],
)
def test_what_is_no_reply(
    provider: str, answer: Answer, kind: type[ModelFailed], reason: str
) -> None:
    with model_server(answer) as model, pytest.raises(kind, match=reason) as caught:
        ask(model, provider)

    assert type(caught.value) is kind
    assert len(model.asked) == (2 if (provider, reason) == ("openai", "status 400") else 1)


def test_no_redirect_is_followed() -> None:
    with model_server(replies.asking()) as other:
        redirecting = replies.redirecting(f"http://{other.host}")
        with model_server(redirecting) as model, pytest.raises(ModelFailed, match="status 307"):
            ask(model)

    assert other.asked == []


def test_what_is_tried_again_shares_the_time() -> None:
    plain = replies.without_schemas(replies.asking())

    def slow(asked: replies.Asked) -> replies.Reply:
        reply = plain(asked)
        reply.after = 2.2
        return reply

    with model_server(slow) as model, pytest.raises(ModelLate):
        ask(model)


@BOTH
@pytest.mark.parametrize(
    "answer",
    [
        replies.asking("reply-canary?"),
        replies.status(400, "you said ans-canary, key sk-of-the-operator, reply-canary"),
        replies.junk(b"reply-canary {"),
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

    told += caplog.text + "".join(repr(vars(each)) for each in caplog.records)
    assert len(model.asked) >= 1
    assert [canary for canary in CANARIES if canary in told] == []

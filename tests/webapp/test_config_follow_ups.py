"""The model that writes follow-up questions is named completely, or nothing starts."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.services import free_port
from tests.webapp.test_cli import running
from tests.webapp.test_config import SECRET, problems_of
from webapp.cli import main
from webapp.config import Settings
from webapp.config_environment import read_settings
from webapp.setting_groups import external_services

MODELS = {
    "openai": {"LLM_PROVIDER": "openai", "LLM_MODEL": "gpt-x", "LLM_API_KEY": "sk-mine"},
    "anthropic": {"LLM_PROVIDER": "anthropic", "LLM_MODEL": "claude-x", "LLM_API_KEY": "sk-mine"},
}


@pytest.fixture
def embedded(tmp_path: Path) -> dict[str, str]:
    return {"ASKBACK_DATA": str(tmp_path / "data")}


def test_by_default_the_rules_write(embedded: dict[str, str]) -> None:
    made = read_settings(embedded)

    assert (made.llm_provider, made.llm_url, made.llm_host) == ("none", "", "")
    assert made.follow_up_writer == ""
    assert made.llm_request_fields == {}
    assert made.llm_calls_per_day == 5000
    assert made.llm_calls_per_day_total == 50_000


def test_without_a_provider_nothing_else_names_a_writer(embedded: dict[str, str]) -> None:
    given = MODELS["openai"] | {"LLM_PROVIDER": "none", "LLM_BASE_URL": "https://m.example.org"}

    assert read_settings(embedded | given).follow_up_writer == ""


@pytest.mark.parametrize(
    ("provider", "base_url", "url", "host"),
    [
        ("openai", "", "https://api.openai.com/v1", "api.openai.com"),
        ("openai", "https://M.Example.org:443/", "https://m.example.org/v1", "m.example.org"),
        ("openai", "https://m.example.org/api/v3", "https://m.example.org/api/v3", "m.example.org"),
        ("openai", "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1", "127.0.0.1:11434"),
        ("openai", "http://ollama:11434", "http://ollama:11434/v1", "ollama:11434"),
        ("openai", "http://[fd00::7]:80/v1", "http://[fd00::7]/v1", "[fd00::7]"),
        ("anthropic", "", "https://api.anthropic.com", "api.anthropic.com"),
        ("anthropic", "https://m.example.org:8443/v1/", "https://m.example.org:8443", ""),
        ("anthropic", "https://m.example.org/models", "https://m.example.org/models", ""),
    ],
)
def test_addresses_and_the_writer_that_pages_name(
    embedded: dict[str, str], provider: str, base_url: str, url: str, host: str
) -> None:
    made = read_settings(embedded | MODELS[provider] | {"LLM_BASE_URL": base_url})

    assert made.llm_url == url
    assert made.llm_host == (host or url.split("/")[2])
    assert made.follow_up_writer == f"{MODELS[provider]['LLM_MODEL']} at {made.llm_host}"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("m.example.org", "not an http or https"),
        ("https://key@m.example.org/v1", "not an http or https"),
        ("https://0x7f.1/v1", "not an http or https"),
        ("https://m.example.org:99999/v1", "not an address"),
        ("https://m.example.org/v1?key=1", "more than"),
        ("https://m.example.org/v1/chat/completions/", "leave /chat/completions out"),
        ("https://m.example.org/v1/messages", "leave /messages out"),
        ("http://m.example.org/v1", "plain http"),
        ("http://93.184.216.34/v1", "plain http"),
        ("http://169.254.169.254/v1", "plain http"),
    ],
)
@pytest.mark.parametrize("provider", MODELS)
def test_other_addresses_are_refused(
    embedded: dict[str, str], provider: str, url: str, reason: str
) -> None:
    problems = problems_of(embedded | MODELS[provider] | {"LLM_BASE_URL": url})

    assert reason in problems["LLM_BASE_URL"]


@pytest.mark.parametrize("provider", MODELS)
def test_a_model_and_a_key_are_needed(embedded: dict[str, str], provider: str) -> None:
    problems = problems_of(embedded | {"LLM_PROVIDER": provider})

    assert problems.keys() == {"LLM_MODEL", "LLM_API_KEY"}


def test_a_service_of_ones_own_may_have_no_key(embedded: dict[str, str]) -> None:
    own = {"LLM_BASE_URL": "http://127.0.0.1:11434/v1", "LLM_API_KEY": ""}

    assert read_settings(embedded | MODELS["openai"] | own).llm_api_key is None
    assert problems_of(embedded | MODELS["anthropic"] | own).keys() == {"LLM_API_KEY"}


@pytest.mark.parametrize(
    ("provider", "extra"), [("openai", ".[ai]"), ("anthropic", ".[anthropic]")]
)
def test_a_package_that_is_missing_is_named_with_the_command(
    embedded: dict[str, str], monkeypatch: pytest.MonkeyPatch, provider: str, extra: str
) -> None:
    monkeypatch.setattr(external_services, "find_spec", lambda name: None)

    problems = problems_of(embedded | MODELS[provider])

    assert f'pip install --editable "{extra}"' in problems["LLM_PROVIDER"]


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_effort": "low"},
        {"output_config": {"effort": "low"}, "thinking": {"type": "disabled"}},
        {"max_tokens": 300, "chat_template_kwargs": {"enable_thinking": False}},
        {"user": "ä\ud83d\ude00 {}"},
    ],
)
def test_fields_of_requests_are_kept(embedded: dict[str, str], fields: dict[str, object]) -> None:
    made = read_settings(embedded | MODELS["openai"] | {"LLM_EXTRA": json.dumps(fields)})

    assert json.dumps(made.llm_request_fields) == json.dumps(json.loads(json.dumps(fields)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("temperature", "not JSON"),
        ("{'temperature': 1}", "not JSON"),
        ('{"temperature": NaN}', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('["temperature"]', "not a JSON object"),
        ("null", "not a JSON object"),
        ('{"user": "' + "x" * 10_000 + '"}', "not a JSON object"),
        ('{"messages": []}', "it sets messages"),
        ('{"system": "", "model": "y"}', "it sets model, system"),
        ('{"stream": true}', "it sets stream"),
    ],
)
def test_other_fields_of_requests_are_refused(
    embedded: dict[str, str], text: str, reason: str
) -> None:
    assert reason in problems_of(embedded | MODELS["openai"] | {"LLM_EXTRA": text})["LLM_EXTRA"]


@pytest.mark.parametrize(
    ("variable", "text", "reason"),
    [
        ("LLM_PROVIDER", "ollama", "not one of"),
        ("LLM_MODEL", "a\nb", "one line"),
        ("LLM_MODEL", "m" * 201, "one line"),
        ("LLM_API_KEY", "sk-ä", "one line"),
        ("LLM_CALLS_PER_DAY", "0", "whole number"),
        ("LLM_CALLS_PER_DAY", "1000001", "whole number"),
        ("LLM_CALLS_PER_DAY_TOTAL", "0", "whole number"),
    ],
)
def test_wrong_values_are_refused(
    embedded: dict[str, str], variable: str, text: str, reason: str
) -> None:
    assert reason in problems_of(embedded | MODELS["openai"] | {variable: text})[variable]


def test_neither_the_key_nor_the_fields_are_in_a_representation() -> None:
    made = Settings(
        public_url="http://127.0.0.1:8000",
        secret_key=SECRET,
        llm_api_key="sk-hidden",
        llm_extra='{"safety_key": "hidden"}',
    )

    assert "hidden" not in f"{made!r} {made}"
    with_key = {"LLM_PROVIDER": "openai", "LLM_API_KEY": "sk-hidden", "LLM_EXTRA": "{hidden"}
    assert "hidden" not in str(problems_of(with_key))


def test_the_doctor_names_who_writes(embedded: dict[str, str]) -> None:
    def told(**variables: str) -> str:
        return CliRunner(env=embedded | variables).invoke(main, ["doctor"]).stdout

    assert "follow-up questions are written by: the built-in rules\n" in told()
    by_model = told(**MODELS["anthropic"])
    assert "follow-up questions are written by: claude-x at api.anthropic.com\n" in by_model


@pytest.mark.parametrize(("provider", "loaded"), [("none", False), ("anthropic", True)])
def test_a_server_loads_what_its_model_needs_before_the_first_answer(
    tmp_path: Path, provider: str, *, loaded: bool
) -> None:
    variables = MODELS["anthropic"] | {"LLM_PROVIDER": provider}
    with running(tmp_path / "data", free_port(), **variables) as server:
        maps = Path(f"/proc/{server.pid}/maps").read_text()

    assert ("jiter" in maps) is loaded  # of its SDK, which else nobody imports

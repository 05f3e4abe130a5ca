"""Settings are read together, refused together, and never unsafe."""

from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.command import DATA_KEYS
from webapp.base import config_readers
from webapp.base.config import VARIABLES, Settings, describe
from webapp.base.config_environment import ConfigurationError, read_settings

SECRET = "kX3vQ9wLz7Bn2Rt5Yh8Mj4Gf6Pd1Sc0Ae"
PRODUCTION = {
    "PUBLIC_URL": "https://ask.example.org",
    "DATABASE_URL": "postgresql://askback@db.example.org/askback",
    "REDIS_URL": "redis://127.0.0.1:6379/0",
    "SECRET_KEY": SECRET,
    "DATA_KEYS": DATA_KEYS,
}
MODELS = {
    "openai": {"LLM_PROVIDER": "openai", "LLM_MODEL": "gpt-x", "LLM_API_KEY": "sk-mine"},
    "anthropic": {"LLM_PROVIDER": "anthropic", "LLM_MODEL": "claude-x", "LLM_API_KEY": "sk-mine"},
}
ENGINE = {
    "TRANSCRIBER": "openai",
    "TRANSCRIBER_URL": "https://speech.example.org/v1",
    "TRANSCRIBER_MODEL": "gpt-transcribe",
}
NO_SERVICE = [
    ("https://key@m.example.org/v1", "not an http or https"),
    ("https://0x7f.1/v1", "not an http or https"),
    ("https://m.example.org:99999/v1", "not an address"),
    ("https://m.example.org/v1?key=1", "more than"),
    ("https://m.example.org/v1/chat/completions/", "leave /chat/completions out"),
    ("http://m.example.org/v1", "plain http"),
    ("http://93.184.216.34/v1", "plain http"),
    ("http://[2606:4700::1]/v1", "plain http"),
]
NO_ORIGINS = (
    *("*", "n8n.internal:5678", "http://n8n.internal/hooks", "http://*.internal", "http://"),
    *("http://a@n8n.internal", "http://127.1:9000", "http://2130706433", "http://0x7f.1"),
    *("http://[fe80::1%1]", "http://[::ffff:10.0.0.1]", "http://n8n.internal:x"),
)


@pytest.fixture
def embedded(tmp_path: Path) -> dict[str, str]:
    return {"ASKBACK_DATA": str(tmp_path / "data")}


def problems_of(environ: dict[str, str], *, production: bool = False) -> dict[str, str]:
    with pytest.raises(ConfigurationError) as caught:
        read_settings(environ, production=production)
    return dict(caught.value.problems)


def test_without_settings_everything_is_local_and_private(
    embedded: dict[str, str], tmp_path: Path
) -> None:
    made = read_settings(embedded | {"PORT": " ", "REDIS_URL": ""})

    assert made.public_url == "http://127.0.0.1:8000"
    assert made.database_url == f"sqlite:///{tmp_path}/data/askback.sqlite3"
    assert not made.secure
    assert (made.follow_up_writer, made.transcriber_host) == ("", "")
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "data" / "secrets.json").stat().st_mode & 0o777 == 0o600


def test_keys_made_at_first_start_stay_unless_the_environment_has_others(
    embedded: dict[str, str],
) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(read_settings, [embedded] * 24))

    assert len({(one.secret_key, one.data_keys) for one in made}) == 1
    assert len(made[0].secret_key) >= 48
    assert [len(key) for _, key in made[0].data_keys] == [32]
    given = read_settings(embedded | {"DATA_KEYS": DATA_KEYS})
    assert (given.secret_key, given.data_keys[0][0]) == (made[0].secret_key, "k1")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"secret_key": "x"}', '{"secret_key": "x", "data_keys": "y"}']
)
def test_a_damaged_file_of_keys_stops_the_start_and_stays(
    embedded: dict[str, str], tmp_path: Path, text: str
) -> None:
    (tmp_path / "data").mkdir()
    kept = tmp_path / "data" / "secrets.json"
    kept.write_text(text)

    assert "keys in this folder" in problems_of(embedded)["ASKBACK_DATA"]
    assert kept.read_text() == text


@pytest.mark.parametrize(
    ("environ", "name", "value"),
    [
        ({"HOST": "::1", "PORT": "81"}, "public_url", "http://[::1]:81"),
        ({"PUBLIC_URL": "HTTPS://A.Example.org:443/"}, "public_url", "https://a.example.org"),
        ({"AUDIO_STORE": "s3://askback/eu/de/"}, "audio_store", "s3://askback/eu/de"),
        ({"LIMIT_FORM_BYTES": "2 GiB"}, "limit_form_bytes", 2 * 1024**3),
        ({"WRITE_LIMITS": "off"}, "write_limits", False),
        ({"TRUSTED_HOSTS": "A.example, b.example,"}, "trusted_hosts", ("a.example", "b.example")),
        (
            {"MCP_ALLOWED_ORIGINS": "HTTPS://Hooks.internal:443/, http://10.0.0.7:80,"},
            "mcp_allowed_origins",
            {"https://hooks.internal", "http://10.0.0.7"},
        ),
    ],
)
def test_values_are_read(
    embedded: dict[str, str], environ: dict[str, str], name: str, value: object
) -> None:
    assert getattr(read_settings(embedded | environ), name) == value


@pytest.mark.parametrize(
    ("variable", "text", "reason"),
    [
        ("PORT", "9" * 5000, "integer"),
        ("AUDIO_STORE", "s3://key:secret@bucket", "s3://bucket/prefix"),
        ("HOST", "a b", "host name"),
        ("PUBLIC_URL", "ftp://ask.example.org", "not an http"),
        ("PUBLIC_URL", "https://ask.example.org/forms", "whole origin"),
        ("PUBLIC_URL", "http://ask.example.org", "plain http"),
        ("SECRET_KEY", "short", "shorter"),
        ("SECRET_KEY", "123" * 20, "placeholder"),
        ("DATA_KEYS", "k1:" + "Zz09" * 8, "24 bytes; 32 are needed"),
        ("DATA_KEYS", "k1:" + "A" * 43 + "=", "placeholder"),
        ("DATA_KEYS", f"{DATA_KEYS},{DATA_KEYS}", "same id"),
        ("DATABASE_URL", "sqlite:///:memory:", "neither"),
        ("REDIS_URL", "localhost:6379", "not a redis://"),
        ("TRUSTED_PROXY", "the proxy", "not an IP"),
        ("OPERATOR_NAME", "Fern\nhill", "one line"),
        ("LIMIT_CREATE_DRAFT", "many", "rate limit"),
        ("LLM_API_KEY", "sk-ä", "one line"),
        ("LLM_EXTRA", "[" * 100_000, "not JSON"),
        ("LLM_EXTRA", '{"system": "", "model": "y"}', "it sets model, system"),
        *((name, *each) for name in ("LLM_BASE_URL", "TRANSCRIBER_URL") for each in NO_SERVICE),
        *(
            (name, text, "")
            for name in ("MCP_EVENTS_CALLBACK_ALLOWLIST", "MCP_ALLOWED_ORIGINS")
            for text in NO_ORIGINS
        ),
    ],
)
def test_a_wrong_value_is_refused_with_its_reason(
    embedded: dict[str, str], variable: str, text: str, reason: str
) -> None:
    assert reason in problems_of(embedded | {variable: text})[variable]


@pytest.mark.parametrize(
    "host", ["127.9.9.9", "localhost", "a.localhost", "[::1]", "0.0.0.0", "[::]"]
)
def test_callbacks_on_this_machine_need_a_loopback_public_url(
    embedded: dict[str, str], host: str
) -> None:
    environ = embedded | {"MCP_EVENTS_CALLBACK_ALLOWLIST": f"http://{host}:9000"}

    public = environ | {"PUBLIC_URL": "https://ask.example.org"}
    assert "this machine" in problems_of(public)["MCP_EVENTS_CALLBACK_ALLOWLIST"]
    assert len(read_settings(environ).mcp_events_callback_allowlist) == 1


@pytest.mark.parametrize(
    ("environ", "refused"),
    [
        ({"PUBLIC_URL": "https://ask.example.org", "WRITE_LIMITS": "off"}, "WRITE_LIMITS"),
        ({"HOST": "0.0.0.0"}, "PUBLIC_URL"),
    ],
)
def test_what_is_allowed_on_loopback_only(
    embedded: dict[str, str], environ: dict[str, str], refused: str
) -> None:
    assert problems_of(embedded | environ).keys() == {refused}


@pytest.mark.parametrize("variable", PRODUCTION)
def test_production_refuses_to_start_without(variable: str) -> None:
    rest = {name: value for name, value in PRODUCTION.items() if name != variable}
    rest["HOST"] = "0.0.0.0"

    assert set(problems_of(rest, production=True)) == {variable}


def test_production_settings_are_accepted_but_not_sqlite() -> None:
    made = read_settings(PRODUCTION, production=True)
    sqlite = PRODUCTION | {"DATABASE_URL": "sqlite:////srv/askback.sqlite3"}

    assert made.secure
    assert made.database_url.startswith("postgresql+psycopg://")
    assert "one process" in problems_of(sqlite, production=True)["DATABASE_URL"]


def test_all_problems_are_reported_together_with_an_example() -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_settings({"PORT": "x", "REDIS_URL": "x", "WRITE_LIMITS": "x"}, production=True)

    lines = str(caught.value).splitlines()[1:]
    names = [line.strip().partition(":")[0] for line in lines]
    required = ["DATABASE_URL", "DATA_KEYS", "PORT", "REDIS_URL", "SECRET_KEY", "WRITE_LIMITS"]
    assert sorted(names) == required
    assert all(f"(example: {name}=" in line for name, line in zip(names, lines, strict=True))


def test_an_unusable_data_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    for folder in (f"{tmp_path}/file/data", "~no-such-user/data"):
        assert "ASKBACK_DATA" in problems_of({"ASKBACK_DATA": folder})


def test_every_setting_has_an_example_that_is_accepted(embedded: dict[str, str]) -> None:
    made = {"SECRET_KEY": SECRET, "DATA_KEYS": DATA_KEYS}
    for variable in VARIABLES:
        example = made.get(variable) or describe(variable)["example"]

        read_settings(embedded | {"PUBLIC_URL": "https://ask.example.org", variable: example})


def test_representations_hold_no_secrets() -> None:
    environ = {
        "DATABASE_URL": "postgresql://askback:hunter2@db.example.org/askback",
        "REDIS_URL": "redis://:hunter2@127.0.0.1:6379/0",
        "SECRET_KEY": f"hunter2{SECRET}",
        "LLM_API_KEY": "hunter2",
        "LLM_EXTRA": '{"safety_key": "hunter2"}',
        "TRANSCRIBER_API_KEY": "hunter2",
    }

    made = read_settings(PRODUCTION | environ, production=True)

    assert "hunter2" in made.database_url
    assert "hunter2" not in f"{made} {made!r}"


@pytest.mark.parametrize(
    "variable", ["DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DATA_KEYS", "LLM_EXTRA", "LLM_API_KEY"]
)
def test_problems_hold_no_secrets(embedded: dict[str, str], variable: str) -> None:
    environ = embedded | {variable: "odd://hunter2@xä"}

    for read in (read_settings, Settings.model_validate):
        with pytest.raises((ConfigurationError, ValidationError)) as refused:
            read(environ)
        assert "hunter2" not in f"{refused.value} {refused.value!r}"


@pytest.mark.parametrize(
    ("provider", "base_url", "url", "host"),
    [
        ("openai", "https://M.Example.org:443/", "https://m.example.org/v1", "m.example.org"),
        ("openai", "http://ollama:11434", "http://ollama:11434/v1", "ollama:11434"),
        ("openai", "http://[fd00::7]:80/v1", "http://[fd00::7]/v1", "[fd00::7]"),
        ("anthropic", "", "https://api.anthropic.com", "api.anthropic.com"),
        ("anthropic", "https://m.example.org:8443/v1/", "https://m.example.org:8443", ""),
    ],
)
def test_addresses_of_services_and_the_hosts_that_pages_name(
    embedded: dict[str, str], provider: str, base_url: str, url: str, host: str
) -> None:
    environ = embedded | MODELS[provider] | {"LLM_BASE_URL": base_url}
    environ |= ENGINE | {"TRANSCRIBER_URL": base_url or "https://speech.example.org"}

    made = read_settings(environ)

    assert (made.llm_url, made.llm_host) == (url, host or url.split("/")[2])
    assert made.follow_up_writer == f"{MODELS[provider]['LLM_MODEL']} at {made.llm_host}"
    if provider == "openai" and base_url:
        assert (made.transcriber_url, made.transcriber_host) == (url, host)
    without = read_settings(environ | {"LLM_PROVIDER": "none", "TRANSCRIBER": "none"})
    assert (without.follow_up_writer, without.transcriber_host) == ("", "")


@pytest.mark.parametrize(
    ("environ", "lacking"),
    [
        ({"LLM_PROVIDER": "anthropic"}, {"LLM_MODEL", "LLM_API_KEY"}),
        (
            MODELS["anthropic"] | {"LLM_API_KEY": "", "LLM_BASE_URL": "http://10.0.0.1"},
            {"LLM_API_KEY"},
        ),
        ({"TRANSCRIBER": "openai"}, {"TRANSCRIBER_URL", "TRANSCRIBER_MODEL"}),
        ({"TRANSCRIBER": "whisper"}, {"TRANSCRIBER_MODEL"}),
    ],
)
def test_services_are_named_completely(
    embedded: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    environ: dict[str, str],
    lacking: set[str],
) -> None:
    monkeypatch.setattr(config_readers, "find_spec", lambda name: ModuleSpec(name, None))

    assert problems_of(embedded | environ).keys() == lacking
    own = {"LLM_BASE_URL": "http://127.0.0.1:11434/v1", "LLM_API_KEY": ""}
    assert read_settings(embedded | MODELS["openai"] | own).llm_api_key is None


def test_the_folder_of_a_model_has_to_be_there(
    embedded: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config_readers, "find_spec", lambda name: ModuleSpec(name, None))
    monkeypatch.chdir(tmp_path)
    Path("models/small").mkdir(parents=True)
    own = embedded | {"TRANSCRIBER": "whisper"}
    for there in ("small", "./models/small", str(tmp_path), "Systran/small"):
        assert read_settings(own | {"TRANSCRIBER_MODEL": there}).transcriber_host == "localhost"
    for missing in ("./models/tiny", str(tmp_path / "tiny"), "srv/models/tiny"):
        problems = problems_of(own | {"TRANSCRIBER_MODEL": missing})
        assert problems.keys() == {"TRANSCRIBER_MODEL"}
    monkeypatch.setattr(config_readers, "find_spec", lambda name: None)
    assert "pip install" in problems_of(own)["TRANSCRIBER"]

"""Settings are read together, refused together, and never unsafe."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.command import DATA_KEYS
from webapp.config import VARIABLES, Settings, describe
from webapp.config_environment import ConfigurationError, read_settings

SECRET = "kX3vQ9wLz7Bn2Rt5Yh8Mj4Gf6Pd1Sc0Ae"
PRODUCTION = {
    "PUBLIC_URL": "https://ask.example.org",
    "DATABASE_URL": "postgresql://askback@db.example.org/askback",
    "REDIS_URL": "redis://127.0.0.1:6379/0",
    "SECRET_KEY": SECRET,
    "DATA_KEYS": DATA_KEYS,
}


@pytest.fixture
def embedded(tmp_path: Path) -> dict[str, str]:
    return {"ASKBACK_DATA": str(tmp_path / "data")}


def problems_of(environ: dict[str, str], *, production: bool = False) -> dict[str, str]:
    with pytest.raises(ConfigurationError) as caught:
        read_settings(environ, production=production)
    return {problem.variable: problem.what for problem in caught.value.problems}


def test_local_defaults_need_no_settings(embedded: dict[str, str], tmp_path: Path) -> None:
    made = read_settings(embedded)

    assert made.public_url == "http://127.0.0.1:8000"
    assert made.database_url == f"sqlite:///{tmp_path}/data/askback.sqlite3"
    assert not made.secure


def test_the_data_folder_is_for_its_owner_alone(embedded: dict[str, str], tmp_path: Path) -> None:
    read_settings(embedded)

    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "data" / "secrets.json").stat().st_mode & 0o777 == 0o600


def test_the_key_made_at_first_start_stays(embedded: dict[str, str]) -> None:
    first, second = read_settings(embedded), read_settings(embedded)

    assert first.secret_key == second.secret_key
    assert len(first.secret_key) >= 48
    assert first.data_keys == second.data_keys
    assert [len(key) for _, key in first.data_keys] == [32]


def test_a_folder_of_an_earlier_version_gets_data_keys(
    embedded: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    kept = tmp_path / "data" / "secrets.json"
    kept.write_text(json.dumps({"secret_key": SECRET}))

    first, second = read_settings(embedded), read_settings(embedded)

    assert (first.secret_key, first.data_keys) == (SECRET, second.data_keys)
    assert len(first.data_keys) == 1
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["secrets.json"]
    assert kept.stat().st_mode & 0o777 == 0o600


def test_keys_of_the_environment_win_over_those_of_the_folder(embedded: dict[str, str]) -> None:
    made, given = read_settings(embedded), read_settings(embedded | {"DATA_KEYS": DATA_KEYS})

    assert given.secret_key == made.secret_key
    assert [key_id for key_id, _ in given.data_keys] == ["k1"]


def test_first_starts_at_once_agree_on_their_keys(embedded: dict[str, str]) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(read_settings, [embedded] * 24))

    assert len({(one.secret_key, one.data_keys) for one in made}) == 1


@pytest.mark.parametrize(
    "text", ["", "[]", '{"secret_key": 1}', '{"secret_key": "x", "data_keys": "y"}']
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
    ("text", "place"),
    [
        ("", None),
        ("s3://askback", "s3://askback"),
        ("s3://askback/production/eu/", "s3://askback/production/eu"),
    ],
)
def test_recordings_are_kept_in_a_folder_or_a_bucket(
    embedded: dict[str, str], text: str, place: str | None
) -> None:
    assert read_settings(embedded | {"AUDIO_STORE": text}).audio_store == place


@pytest.mark.parametrize(
    ("environ", "public_url"),
    [
        ({"PORT": "8123"}, "http://127.0.0.1:8123"),
        ({"HOST": "localhost"}, "http://localhost:8000"),
        ({"HOST": "::1", "PORT": "81"}, "http://[::1]:81"),
        ({"PUBLIC_URL": "HTTPS://Ask.Example.org:443/"}, "https://ask.example.org"),
        ({"PUBLIC_URL": "http://localhost:9000"}, "http://localhost:9000"),
    ],
)
def test_the_public_address_follows_host_and_port(
    embedded: dict[str, str], environ: dict[str, str], public_url: str
) -> None:
    assert read_settings(embedded | environ).public_url == public_url


def test_an_empty_variable_counts_as_missing(embedded: dict[str, str]) -> None:
    assert read_settings(embedded | {"PORT": " ", "REDIS_URL": ""}).port == 8000


def test_complete_production_settings_are_accepted() -> None:
    made = read_settings(PRODUCTION, production=True)

    assert made.secure
    assert made.database_url.startswith("postgresql+psycopg://")


@pytest.mark.parametrize("variable", PRODUCTION)
def test_production_refuses_to_start_without(variable: str) -> None:
    rest = {name: value for name, value in PRODUCTION.items() if name != variable}
    rest["HOST"] = "0.0.0.0"

    assert set(problems_of(rest, production=True)) == {variable}


@pytest.mark.parametrize(
    ("variable", "text", "reason"),
    [
        ("PORT", "eighty", "whole number"),
        ("PORT", "0", "whole number"),
        ("PORT", "65536", "whole number"),
        ("PORT", "9" * 5000, "whole number"),
        ("AUDIO_STORE", "/var/recordings", "s3://bucket/prefix"),
        ("AUDIO_STORE", "s3://a", "s3://bucket/prefix"),
        ("AUDIO_STORE", "s3://bucket/../other", "s3://bucket/prefix"),
        ("AUDIO_STORE", "s3://key:secret@bucket", "s3://bucket/prefix"),
        ("AUDIO_FREE_BYTES", "1 GiB", "whole number"),
        ("HOST", "a b", "host name"),
        ("HOST", "0.0.0.0", "loopback"),
        ("PUBLIC_URL", "ask.example.org", "not an http"),
        ("PUBLIC_URL", "ftp://ask.example.org", "not an http"),
        ("PUBLIC_URL", "https://ask.example.org/forms", "whole origin"),
        ("PUBLIC_URL", "https://ask.example.org?a=b", "whole origin"),
        ("PUBLIC_URL", "https://user@ask.example.org", "not an http"),
        ("PUBLIC_URL", "https://ask.example.org:99999", "not an address"),
        ("PUBLIC_URL", "http://ask.example.org", "plain http"),
        ("SECRET_KEY", "short", "shorter"),
        ("SECRET_KEY", "changeme" * 6, "placeholder"),
        ("SECRET_KEY", "x" * 64, "placeholder"),
        ("SECRET_KEY", "123" * 20, "placeholder"),
        ("DATA_KEYS", DATA_KEYS.partition(":")[2], "no id"),
        ("DATA_KEYS", f"k 1:{DATA_KEYS.partition(':')[2]}", "no id"),
        ("DATA_KEYS", "k1:hunter2", "not base64"),
        ("DATA_KEYS", "k1:" + DATA_KEYS[3:].replace("=", ""), "not base64"),
        ("DATA_KEYS", "k1:" + "Zz09" * 8, "24 bytes; 32 are needed"),
        ("DATA_KEYS", "k1:" + "A" * 43 + "=", "placeholder"),
        ("DATA_KEYS", f"{DATA_KEYS},{DATA_KEYS}", "same id"),
        ("DATA_KEYS", f"{DATA_KEYS},", "no id"),
        ("DATABASE_URL", "mysql://db/askback", "neither"),
        ("DATABASE_URL", "sqlite://", "neither"),
        ("DATABASE_URL", "sqlite:///:memory:", "neither"),
        ("REDIS_URL", "localhost:6379", "not a redis://"),
        ("TRUSTED_PROXY", "the proxy", "not an IP"),
        ("TRUSTED_PROXY_COUNT", "-1", "whole number"),
        ("LIMIT_FORM_BYTES", str(1024**5 + 1), "whole number"),
        ("LIMIT_FORM_BYTES", "9" * 19, "whole number"),
        ("AUDIT_DAYS", "0" * 12 + "9999", "whole number"),
        ("AUDIT_DAYS", "9" * 5000, "whole number"),
        ("OPERATOR_NAME", "x" * 121, "one line"),
        ("OPERATOR_NAME", "Fern\nhill", "one line"),
        ("OPERATOR_CONTACT", "Ann", "neither an e-mail"),
        ("OPERATOR_CONTACT", "ann@fernhill", "neither an e-mail"),
        ("OPERATOR_CONTACT", "http://fernhill.example", "neither an e-mail"),
        ("OPERATOR_CONTACT", "https://fern hill.example", "neither an e-mail"),
        ("OPERATOR_CONTACT", 'a"@b.c', "neither an e-mail"),
        ("PUBLISH_CONFIRMATION", "nobody", "not one of"),
        ("WRITE_LIMITS", "maybe", "not one of"),
        ("OAUTH_REFRESH_GRACE_SECONDS", "601", "whole number"),
        ("LIMIT_CREATE_DRAFT", "many", "rate limit"),
    ],
)
def test_a_wrong_value_is_refused_with_its_reason(
    embedded: dict[str, str], variable: str, text: str, reason: str
) -> None:
    problem = problems_of(embedded | {variable: text})

    assert reason in problem.get(variable, problem.get("PUBLIC_URL", ""))


@pytest.mark.parametrize(
    ("text", "origins"),
    [
        ("http://n8n.internal:5678", {"http://n8n.internal:5678"}),
        (
            "HTTPS://Hooks.internal:443/, http://10.0.0.7:80,",
            {"https://hooks.internal", "http://10.0.0.7"},
        ),
        ("http://[fd12::7]:9000", {"http://[fd12::7]:9000"}),
        (" ", set()),
    ],
)
def test_origins_of_callbacks_are_read(
    embedded: dict[str, str], text: str, origins: set[str]
) -> None:
    made = read_settings(embedded | {"MCP_EVENTS_CALLBACK_ALLOWLIST": text})

    assert made.mcp_events_callback_allowlist == origins


@pytest.mark.parametrize(
    "text",
    [
        *("*", "n8n.internal:5678", "ftp://n8n.internal", "http://n8n.internal/hooks"),
        *("http://*.internal", "http://a@n8n.internal", "http://127.1:9000", "http://2130706433"),
        *(
            "http://0x7f.1",
            "http://[fe80::1%1]",
            "http://[::ffff:10.0.0.1]",
            "http://[::ffff:a00:1]",
            "http://n8n.internal:x",
            "http://",
        ),
    ],
)
@pytest.mark.parametrize("variable", ["MCP_EVENTS_CALLBACK_ALLOWLIST", "MCP_ALLOWED_ORIGINS"])
def test_other_origins_are_refused(embedded: dict[str, str], variable: str, text: str) -> None:
    assert problems_of(embedded | {variable: text})


def test_origins_of_browser_hosts_are_read(embedded: dict[str, str]) -> None:
    made = read_settings(embedded | {"MCP_ALLOWED_ORIGINS": "https://A.example, http://b.test:81/"})

    assert made.mcp_allowed_origins == {"https://a.example", "http://b.test:81"}


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.9.9.9",
        "localhost",
        "a.localhost",
        "[::1]",
        "0.0.0.0",
        "[::]",
    ],
)
def test_callbacks_on_this_machine_need_a_loopback_public_url(
    embedded: dict[str, str], host: str
) -> None:
    environ = embedded | {"MCP_EVENTS_CALLBACK_ALLOWLIST": f"http://{host}:9000"}

    public = environ | {"PUBLIC_URL": "https://ask.example.org"}
    assert "this machine" in problems_of(public)["MCP_EVENTS_CALLBACK_ALLOWLIST"]
    assert len(read_settings(environ).mcp_events_callback_allowlist) == 1


def test_a_default_life_outside_of_its_bounds_is_refused(embedded: dict[str, str]) -> None:
    environ = embedded | {"SUBSCRIPTION_SECONDS_MAX": "3600"}

    assert "300 and 3600" in problems_of(environ)["SUBSCRIPTION_SECONDS_DEFAULT"]


@pytest.mark.parametrize("variable", VARIABLES)
def test_bytes_that_are_not_utf_8_are_refused_beside_other_problems(variable: str) -> None:
    environ = PRODUCTION | {variable: PRODUCTION.get(variable, "x") + "\udcff"}
    other = "AUDIT_DAYS" if variable != "AUDIT_DAYS" else "PORT"

    problems = problems_of(environ | {other: "some"})

    assert problems[variable] == "it is not UTF-8"
    assert set(problems) == {variable, other}


@pytest.mark.parametrize(
    "environ",
    [
        {"PUBLIC_URL": "https://ask.example.org"},
        {"PUBLIC_URL": "https://ask.example.org", "HOST": "0.0.0.0"},
    ],
)
def test_limits_are_switched_off_on_loopback_only(
    embedded: dict[str, str], environ: dict[str, str]
) -> None:
    assert "WRITE_LIMITS" in problems_of(embedded | environ | {"WRITE_LIMITS": "off"})
    assert not read_settings(embedded | {"WRITE_LIMITS": "off"}).write_limits


def test_production_refuses_sqlite() -> None:
    environ = PRODUCTION | {"DATABASE_URL": "sqlite:////srv/askback.sqlite3"}

    assert "one process" in problems_of(environ, production=True)["DATABASE_URL"]


def test_all_problems_are_reported_together_with_an_example() -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_settings({"PORT": "x", "REDIS_URL": "x", "WRITE_LIMITS": "x"}, production=True)

    lines = str(caught.value).splitlines()[1:]
    names = [line.strip().partition(":")[0] for line in lines]
    required = ["DATABASE_URL", "DATA_KEYS", "PORT", "REDIS_URL", "SECRET_KEY", "WRITE_LIMITS"]
    assert sorted(names) == required
    assert all(f"(example: {name}=" in line for name, line in zip(names, lines, strict=True))


def test_a_refused_secret_is_not_repeated(embedded: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_settings(embedded | {"SECRET_KEY": "hunter2"})

    assert "hunter2" not in str(caught.value)


def test_an_unusable_data_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert "ASKBACK_DATA" in problems_of({"ASKBACK_DATA": str(tmp_path / "file" / "data")})


def test_a_data_folder_of_an_unknown_user_is_refused_beside_other_problems() -> None:
    problems = problems_of({"ASKBACK_DATA": "~no-such-user/data", "PORT": "x"})

    assert set(problems) == {"ASKBACK_DATA", "PORT"}
    assert '"~no-such-user/data" cannot be a folder' in problems["ASKBACK_DATA"]


def test_links_in_a_circle_are_no_data_folder(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")

    assert "ASKBACK_DATA" in problems_of({"ASKBACK_DATA": str(tmp_path / "one")})


@pytest.mark.parametrize("variable", VARIABLES)
def test_every_setting_has_an_example_that_is_accepted(
    embedded: dict[str, str], variable: str
) -> None:
    made = {"SECRET_KEY": SECRET, "DATA_KEYS": DATA_KEYS}
    example = made.get(variable) or describe(variable).example

    read_settings(embedded | {"PUBLIC_URL": "https://ask.example.org", variable: example})


def test_settings_are_not_changed(embedded: dict[str, str]) -> None:
    made = read_settings(embedded)

    with pytest.raises(ValidationError, match="frozen"):
        made.port = 81


def test_settings_made_in_code_are_checked_and_read_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORT", "81")
    given = {"public_url": "http://127.0.0.1:8000", "data_folder": tmp_path}

    assert Settings(**given, secret_key=SECRET).port == 8000
    with pytest.raises(ValidationError, match="SECRET_KEY"):
        Settings(**given)
    with pytest.raises(ValidationError, match="whole number"):
        Settings(**given, secret_key=SECRET, port="x")


@pytest.mark.parametrize("shown", [str, repr])
def test_representations_hold_no_secrets(shown: Callable[[object], str]) -> None:
    environ = {
        "DATABASE_URL": "postgresql://askback:hunter2@db.example.org/askback",
        "REDIS_URL": "redis://:hunter2@127.0.0.1:6379/0",
        "SECRET_KEY": f"hunter2{SECRET}",
    }

    made = read_settings(PRODUCTION | environ, production=True)

    assert all("hunter2" in url for url in (made.database_url, made.redis_url or ""))
    assert "hunter2" not in shown(made)


@pytest.mark.parametrize("variable", ["DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DATA_KEYS"])
def test_problems_hold_no_secrets(embedded: dict[str, str], variable: str) -> None:
    environ = embedded | {variable: "odd://hunter2@x"}

    with pytest.raises(ConfigurationError) as caught:
        read_settings(environ)
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate(environ)

    assert "hunter2" not in str(caught.value) + repr(caught.value)
    assert "hunter2" not in str(refused.value)

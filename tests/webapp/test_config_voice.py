"""Who writes recordings down is named completely, or nothing starts."""

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from tests.webapp.test_config import SECRET, problems_of
from webapp.config import Settings
from webapp.config_environment import read_settings
from webapp.domain.shared import limits
from webapp.domain.shared.vocabulary import ON_THIS_SERVER
from webapp.setting_groups import external_services

OPENAI = {
    "TRANSCRIBER": "openai",
    "TRANSCRIBER_URL": "https://speech.example.org/v1",
    "TRANSCRIBER_MODEL": "gpt-transcribe",
}


@pytest.fixture
def embedded(tmp_path: Path) -> dict[str, str]:
    return {"ASKBACK_DATA": str(tmp_path / "data")}


@pytest.fixture
def _every_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_services, "find_spec", lambda name: ModuleSpec(name, None))


def test_by_default_nobody_writes_down(embedded: dict[str, str]) -> None:
    made = read_settings(embedded)

    assert (made.transcriber, made.transcriber_host) == ("none", "")
    assert made.transcriber_minutes_per_day == 600
    assert made.transcriber_minutes_per_day_total == 6000


def test_the_bounds_of_recordings_are_those_that_are_promised(embedded: dict[str, str]) -> None:
    made = read_settings(embedded)

    assert made.audio_free_bytes == 1024**3
    assert made.limit_upload_session == "10/minute"
    assert limits.RECORDINGS_MAX_BYTES == 100 * 1024**2
    assert limits.RECORDING_MAX_SECONDS == 10 * 60


@pytest.mark.parametrize(
    ("url", "used", "host"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1", "api.openai.com"),
        ("https://Speech.Example.org:443/v1/", "https://speech.example.org/v1", ""),
        ("https://speech.example.org:8443", "https://speech.example.org:8443/v1", ""),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1", "127.0.0.1:8000"),
        ("http://10.1.2.3/asr/v1", "http://10.1.2.3/asr/v1", "10.1.2.3"),
        ("http://[fd00::7]:80/v1", "http://[fd00::7]/v1", "[fd00::7]"),
        ("http://speaches:8000/v1", "http://speaches:8000/v1", "speaches:8000"),
        ("http://speech.internal/v1", "http://speech.internal/v1", "speech.internal"),
    ],
)
def test_addresses_and_the_hosts_that_pages_name(
    embedded: dict[str, str], url: str, used: str, host: str
) -> None:
    made = read_settings(embedded | OPENAI | {"TRANSCRIBER_URL": url})

    assert made.transcriber_url == used
    assert made.transcriber_host == (host or used.split("/")[2])


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("speech.example.org", "not an http or https"),
        ("ftp://speech.example.org", "not an http or https"),
        ("https://key@speech.example.org/v1", "not an http or https"),
        ("https://0x7f.1/v1", "not an http or https"),
        ("https://speech.example.org:99999/v1", "not an address"),
        ("https://speech.example.org/v1?key=1", "more than"),
        ("https://speech.example.org/v1#a", "more than"),
        ("https://speech.example.org/v1/audio/transcriptions", "leave /audio/transcriptions out"),
        ("http://speech.example.org/v1", "plain http"),
        ("http://93.184.216.34/v1", "plain http"),
        ("http://203.0.113.7/v1", "plain http"),
        ("http://169.254.169.254/v1", "plain http"),
        ("http://[2606:4700::1]/v1", "plain http"),
    ],
)
def test_other_addresses_are_refused(embedded: dict[str, str], url: str, reason: str) -> None:
    problems = problems_of(embedded | OPENAI | {"TRANSCRIBER_URL": url})

    assert reason in problems["TRANSCRIBER_URL"]


def test_an_engine_at_an_address_needs_it_and_a_model(embedded: dict[str, str]) -> None:
    problems = problems_of(embedded | {"TRANSCRIBER": "openai"})

    assert problems.keys() == {"TRANSCRIBER_URL", "TRANSCRIBER_MODEL"}


@pytest.mark.parametrize(("engine", "extra"), [("openai", ".[ai]"), ("whisper", ".[whisper]")])
def test_a_package_that_is_missing_is_named_with_the_command(
    embedded: dict[str, str], monkeypatch: pytest.MonkeyPatch, engine: str, extra: str
) -> None:
    monkeypatch.setattr(external_services, "find_spec", lambda name: None)

    problems = problems_of(embedded | OPENAI | {"TRANSCRIBER": engine})

    assert f'pip install --editable "{extra}"' in problems["TRANSCRIBER"]


@pytest.mark.usefixtures("_every_package")
def test_an_engine_of_our_own_is_named_this_server_and_needs_a_model(
    embedded: dict[str, str],
) -> None:
    assert problems_of(embedded | {"TRANSCRIBER": "whisper"}).keys() == {"TRANSCRIBER_MODEL"}

    made = read_settings(embedded | {"TRANSCRIBER": "whisper", "TRANSCRIBER_MODEL": "small"})

    assert made.transcriber_host == ON_THIS_SERVER


@pytest.mark.usefixtures("_every_package")
def test_the_folder_of_a_model_has_to_be_there(
    embedded: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("models/small").mkdir(parents=True)
    own = embedded | {"TRANSCRIBER": "whisper"}

    for there in ("small", "models/small", "./models/small", str(tmp_path), "Systran/small"):
        assert read_settings(own | {"TRANSCRIBER_MODEL": there}).transcriber_model == there
    for missing in ("./models/tiny", str(tmp_path / "tiny"), "~/tiny", "srv/models/tiny"):
        problems = problems_of(own | {"TRANSCRIBER_MODEL": missing})
        assert problems == {"TRANSCRIBER_MODEL": f"there is no folder {missing}"}


@pytest.mark.parametrize(
    ("variable", "text", "reason"),
    [
        ("TRANSCRIBER", "vosk", "not one of"),
        ("TRANSCRIBER_MODEL", "a\nb", "one line"),
        ("TRANSCRIBER_API_KEY", "sk-ä", "one line"),
        ("TRANSCRIBER_MINUTES_PER_DAY", "0", "whole number"),
        ("TRANSCRIBER_MINUTES_PER_DAY_TOTAL", "0", "whole number"),
    ],
)
def test_wrong_values_are_refused(
    embedded: dict[str, str], variable: str, text: str, reason: str
) -> None:
    assert reason in problems_of(embedded | OPENAI | {variable: text})[variable]


def test_the_key_is_in_no_representation() -> None:
    made = Settings(
        public_url="http://127.0.0.1:8000", secret_key=SECRET, transcriber_api_key="sk-hidden"
    )

    assert "sk-hidden" not in f"{made!r} {made}"

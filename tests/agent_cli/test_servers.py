"""Which installation a command talks to."""

from pathlib import Path

import pytest

from webapp.agent_cli.exits import Exit, Stopped, server_address
from webapp.base.data_folder import lock_folder


@pytest.mark.parametrize(
    ("given", "environ", "address"),
    [
        ("https://A.example/", {"ASKBACK_URL": "https://b.example"}, "https://a.example"),
        (None, {"ASKBACK_URL": "https://b.example", "PORT": "1"}, "https://b.example"),
        (None, {"PUBLIC_URL": "https://c.example", "PORT": "1"}, "https://c.example"),
        (None, {"PORT": "8080"}, "http://127.0.0.1:8080"),
        (None, {"HOST": "::1", "PORT": "8080"}, "http://[::1]:8080"),
        (None, {"HOST": "localhost"}, "http://localhost:8000"),
        (None, {}, "http://127.0.0.1:8000"),
    ],
)
def test_the_server_is_the_one_named_else_that_of_the_settings(
    tmp_path: Path, given: str | None, environ: dict[str, str], address: str
) -> None:
    assert server_address(given, environ | {"ASKBACK_DATA": str(tmp_path)}) == address


def test_by_default_it_is_the_one_that_runs_in_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with lock_folder(tmp_path / "var", "http://127.0.0.1:8123"):
        assert server_address(None, {}) == "http://127.0.0.1:8123"


@pytest.mark.parametrize(
    "address",
    ["http://ask.example.org", "http://0.0.0.0:8000", "ask.example.org", "https://a.example/path"],
)
def test_2_for_an_address_that_is_none_or_that_others_can_read(address: str) -> None:
    with pytest.raises(Stopped) as refused:
        server_address(address, {})

    assert refused.value.code is Exit.WRONG_USE

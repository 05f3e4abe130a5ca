"""Which installation a command talks to, and how."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.raw_receiver import raw_receiver
from webapp.agent_cli.commands import main
from webapp.agent_cli.connections import call
from webapp.agent_cli.exits import Exit, Stopped, server_address
from webapp.base.data_folder import lock_folder


@pytest.mark.parametrize(
    ("given", "environ", "address"),
    [
        ("https://A.example/", {"ASKBACK_URL": "https://b.example"}, "https://a.example"),
        (None, {"ASKBACK_URL": "https://b.example"}, "https://b.example"),
        (None, {"PUBLIC_URL": "https://c.example"}, "https://c.example"),
        (None, {}, "http://127.0.0.1:8000"),
    ],
)
def test_the_server_is_the_one_named_else_that_of_the_settings(
    tmp_path: Path, given: str | None, environ: dict[str, str], address: str
) -> None:
    assert server_address(given, environ | {"ASKBACK_DATA": str(tmp_path)}) == address


@pytest.mark.parametrize(
    "address",
    ["http://ask.example.org", "http://0.0.0.0:8000", "ask.example.org", "https://a.example/path"],
)
def test_2_for_an_address_that_is_none_or_that_others_can_read(address: str) -> None:
    with pytest.raises(Stopped) as refused:
        server_address(address, {})

    assert refused.value.code is Exit.WRONG_USE


@pytest.mark.parametrize("issuer", ["https://evil.example", "", 7])
@pytest.mark.parametrize("command", [("sign-in", "--no-browser"), ("connect", "cursor", "--yes")])
def test_2_for_a_server_that_goes_by_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], issuer: object
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    body = json.dumps({"issuer": issuer})
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
    with raw_receiver(lambda peer: peer.sendall((head + body).encode())) as receiver:
        refused = CliRunner().invoke(main, [*command, "--server", receiver.origin])

    assert refused.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_by_default_it_is_the_one_that_runs_in_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with lock_folder(tmp_path / "var", "http://127.0.0.1:8123"):
        assert server_address(None, {}) == "http://127.0.0.1:8123"


def test_no_redirect_is_followed() -> None:
    head = "HTTP/1.1 302 X\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n"
    with raw_receiver(lambda peer: peer.sendall(head.encode())) as receiver:
        assert call("GET", receiver.origin).status_code == 302

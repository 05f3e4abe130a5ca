"""What a server says of its sign-in is believed only where it fits that server, and is safe."""

import json
from typing import Any

import pytest

from webapp.agent_cli import discovery
from webapp.agent_cli.exits import Exit, Stopped
from webapp.agent_cli.http_client import Reply

SERVER = "https://ask.example.org"
ENDPOINTS = {
    f"{name}_endpoint": f"{SERVER}/oauth/{name}"
    for name in ("authorization", "token", "registration", "revocation")
}


def described(
    monkeypatch: pytest.MonkeyPatch, resource: str = f"{SERVER}/api", **changed: str
) -> None:
    """The server describes itself well, except for what is `changed`."""
    documents: dict[str, dict[str, Any]] = {
        f"{SERVER}/.well-known/oauth-protected-resource/api": {
            "resource": resource,
            "authorization_servers": [SERVER],
        },
        f"{SERVER}/.well-known/oauth-authorization-server": {
            "issuer": SERVER,
            **ENDPOINTS,
            **changed,
        },
    }

    def call(_method: str, url: str, **_options: object) -> Reply:
        return Reply(200, {}, json.dumps(documents[url]).encode())

    monkeypatch.setattr(discovery, "call", call)


def test_a_server_tells_where_to_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    described(monkeypatch)

    found = discovery.discover(SERVER)

    assert (found.issuer, found.resource) == (SERVER, f"{SERVER}/api")
    assert [*found[2:]] == [*ENDPOINTS.values()]


def test_2_for_a_server_that_goes_by_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    described(monkeypatch, resource="https://other.example/api")

    with pytest.raises(Stopped, match="calls itself https://other.example") as refused:
        discovery.discover(SERVER)

    assert refused.value.code is Exit.WRONG_USE


@pytest.mark.parametrize(
    "changed",
    [
        {"issuer": "https://evil.example"},
        *({name: "http://ask.example.org/plain"} for name in ENDPOINTS),
        *({name: ""} for name in ENDPOINTS),
    ],
)
def test_6_for_another_issuer_and_for_addresses_that_others_can_read(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, str]
) -> None:
    described(monkeypatch, **changed)

    with pytest.raises(Stopped) as refused:
        discovery.discover(SERVER)

    assert refused.value.code is Exit.NOT_SIGNED_IN

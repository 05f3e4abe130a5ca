"""Which of the two resources a token opens, by the names that clients give them (RFC 8707)."""

import pytest
from flask import Flask

from tests.api.mcp.conftest import LEGACY, Host
from tests.oauth.flow import API, MCP, ORIGIN, Flow, bearer, location, refused
from webapp.oauth.protocol import named_resources

BOTH = {API, MCP}
SENTENCES = {API: "It will use the API.", MCP: "It will use MCP."}
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "LOCALHOST", "[::1]")
NAMES = [
    (None, BOTH),
    (f"{ORIGIN}/", BOTH),
    (f"{ORIGIN}/mcp/", {MCP}),
    (f"{MCP}/", {MCP}),
    (f"{MCP}?profile=work", {MCP}),
    (f"{API}/forms", {API}),
    ("HTTP://127.0.0.1:8000/api/", {API}),
    *((f"http://{host}:8000/mcp/app", {MCP}) for host in LOOPBACK_NAMES),
    *((f"http://{host}:8000", BOTH) for host in LOOPBACK_NAMES),
    ([API, MCP], BOTH),
    ([API, ""], {API}),
]
FOREIGN = [
    *"""
https://other.example https://127.0.0.1:8000/api http://127.0.0.1:8001/api http://127.0.0.1/api
http://127.0.0.2:80/api http://127.0.0.1:8000.other.example/api
http://127.0.0.1:8000@other.example/api http://me@127.0.0.1:8000/api
http://localhost.other.example:8000/api http://127.0.0.1:8000/apis
http://127.0.0.1:8000/mcp/application http://127.0.0.1:8000/mcp/../api
http://127.0.0.1:8000/forms //127.0.0.1:8000/api urn:askback:api api * /api http://[::1/api
""".split(),  # noqa: SIM905
    f"{API}#part",
]


def opened(flow: Flow, body: dict[str, str]) -> set[str]:
    """The resources that take this token; the other one refuses it as invalid."""
    host = Host(flow.machine.application, body["access_token"], LEGACY)
    rest = flow.machine.get("/api/forms", headers=bearer(body["access_token"]))
    answers = {API: rest, MCP: host.send("tools/list")}
    taken = {name for name, answer in answers.items() if answer.status_code == 200}
    for name in answers.keys() - taken:
        assert 'error="invalid_token"' in answers[name].headers["WWW-Authenticate"]
    return taken


@pytest.mark.parametrize(("name", "expected"), NAMES)
def test_a_name_of_this_server_gives_a_token_that_works(
    name: object, expected: set[str], flow: Flow
) -> None:
    page = flow.ask(resource=name).text
    said = [text for resource, text in SENTENCES.items() if {resource} == expected]

    assert (said or ["It can use both the API and MCP."])[0] in page
    assert opened(flow, flow.connect(resource=name)) == expected


@pytest.mark.parametrize(("name", "expected"), NAMES[::4])
def test_a_name_at_the_token_request_narrows_that_token(
    name: object, expected: set[str], flow: Flow
) -> None:
    first = flow.redeem(flow.code(), resource=name).json

    assert opened(flow, first) == expected
    refreshed = flow.refresh(first["refresh_token"], resource=name).json
    assert opened(flow, refreshed) == expected
    assert opened(flow, flow.refresh(refreshed["refresh_token"]).json) == BOTH


@pytest.mark.parametrize("granted", [API, MCP])
def test_a_token_is_never_for_more_than_was_granted(granted: str, flow: Flow) -> None:
    (other,) = BOTH - {granted}

    code = flow.code(resource=granted)
    refused(flow.redeem(code, resource=other), "invalid_target")
    first = flow.redeem(flow.code(resource=granted), resource=ORIGIN).json
    assert opened(flow, first) == {granted}
    for more in (other, [granted, other]):
        said = refused(flow.refresh(first["refresh_token"], resource=more), "invalid_target")
        assert f"The resource has to be {granted}, or left out." == said
    assert opened(flow, flow.refresh(first["refresh_token"]).json) == {granted}


@pytest.mark.parametrize("name", FOREIGN)
def test_there_is_no_token_for_a_resource_of_somebody_else(name: str, flow: Flow) -> None:
    first = flow.connect()

    assert location(flow.ask(resource=name))["error"] == "invalid_target"
    for response in (
        flow.redeem(flow.code(), resource=name),
        flow.redeem(flow.code(), resource=[API, name]),
        flow.refresh(first["refresh_token"], resource=name),
    ):
        assert f"{API} or {MCP}" in refused(response, "invalid_target")


PUBLIC = "https://ask.example.org"


@pytest.mark.settings(public_url=PUBLIC)
@pytest.mark.parametrize(
    ("name", "paths"),
    [
        (PUBLIC, ["/api", "/mcp/app"]),
        ("https://ASK.example.org:443/api/", ["/api"]),
        (f"{PUBLIC}/mcp", ["/mcp/app"]),
        ("http://ask.example.org/api", []),
        (f"{PUBLIC}:8443/api", []),
        *((f"{host}/api", []) for host in ("https://localhost", "https://127.0.0.1", ORIGIN)),
        (f"{PUBLIC}.other.example/api", []),
    ],
)
def test_a_public_server_has_no_loopback_names(name: str, paths: list[str], app: Flask) -> None:
    with app.app_context():
        assert named_resources(name) == {f"{PUBLIC}{path}" for path in paths}

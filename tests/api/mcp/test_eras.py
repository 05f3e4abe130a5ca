"""Each request speaks one era: the ladder of 2026-07-28, and the earlier versions beside it."""

import base64
from typing import Any

import mcp_types
import pytest
from werkzeug.test import TestResponse

from tests.api.mcp.conftest import META, MODERN, Host, Hosted

VERSION, CAPABILITIES = f"{META}protocolVersion", f"{META}clientCapabilities"
SUPPORTED = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
CALL = {"name": "list_forms", "arguments": {}}


@pytest.fixture
def host(hosted: Hosted, account: Any) -> Host:
    return hosted(account.id)


def modern(
    host: Host,
    method: str = "tools/list",
    params: dict[str, Any] | None = None,
    meta: Any = None,
    **headers: str | None,
) -> TestResponse:
    meta = {VERSION: MODERN, CAPABILITIES: {}} if meta is None else meta
    given = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    if "name" in (params or {}):
        given["Mcp-Name"] = str((params or {})["name"])
    given |= {name.replace("_", "-"): value for name, value in headers.items()}  # type: ignore[misc]
    sent = {name: value for name, value in given.items() if value is not None}
    body = {"jsonrpc": "2.0", "id": "a-1", "method": method, "params": {**(params or {})}}
    body["params"] |= {} if meta == "" else {"_meta": meta}  # type: ignore[operator]
    return host.post(body, sent)


def legacy(host: Host, method: str, params: Any = None, **headers: str) -> TestResponse:
    body = {"jsonrpc": "2.0", "id": "a-1", "method": method}
    body |= {} if params is None else {"params": params}
    return host.post(body, {name.replace("_", "-"): value for name, value in headers.items()})


def error(answer: TestResponse) -> tuple[int, int]:
    body = mcp_types.JSONRPCError.model_validate(answer.json)
    assert body.id == "a-1"
    assert body.error.message
    return answer.status_code, body.error.code


def test_a_modern_request_is_answered(host: Host) -> None:
    assert modern(host, MCP_Protocol_Version=f" {MODERN} ").status_code == 200
    assert legacy(host, "ping", MCP_Protocol_Version=" 2025-11-25 ").json["result"] == {}
    assert modern(host, meta={VERSION: MODERN, CAPABILITIES: {}, "other": 1}).status_code == 200


def test_meta_that_lacks_a_member_comes_first(host: Host) -> None:
    for meta in ("", 7, [], {}, {VERSION: MODERN}, {CAPABILITIES: {}}, {"other": MODERN}):
        assert error(modern(host, "nothing", meta=meta, Mcp_Method="other")) == (400, -32602)


VERSIONS = (None, "2025-12-31", f"{MODERN}, {MODERN}", "", f'"{MODERN}"', f"{MODERN} x")
NAMES = (None, "get_form", "LIST_FORMS", *(f"=?base64?{each}?=" for each in ("////", "bGlz", "a")))
NOT_OF_THE_BODY: list[dict[str, str | None]] = [
    *({"MCP_Protocol_Version": each, "Mcp_Method": "other"} for each in VERSIONS),
    *({"Mcp_Method": each} for each in (None, "tools/list", "TOOLS/CALL", "tools/call,tools/call")),
    *({"Mcp_Name": each} for each in NAMES),
]


def test_a_header_that_is_not_that_of_the_body_is_a_mismatch(host: Host) -> None:
    for headers in NOT_OF_THE_BODY:
        answer = modern(host, "tools/call", CALL, **headers)
        assert error(answer) == (400, -32020), headers
        if "MCP_Protocol_Version" in headers:  # before the method
            assert "MCP-Protocol-Version" in answer.json["error"]["message"]
    encoded = f"=?base64?{base64.b64encode(b'list_forms').decode()}?="
    for name in ("  list_forms ", encoded):
        assert modern(host, "tools/call", CALL, Mcp_Name=name).status_code == 200


UNKNOWN = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "nothing", ""]
UNKNOWN += ["subscriptions/listen", "tools/List", "prompts/list", "resources/list", "__class__"]
WRONG_PARAMS: list[tuple[str, Any]] = [
    ("tools/list", {"cursor": "a"}),
    ("tools/call", {"name": "nothing"}),
    ("tools/call", {"name": "list_forms", "arguments": [1]}),
    ("tools/call", {"name": "list_forms", "arguments": 0}),
]


def test_wrong_methods_and_parameters_have_a_status_in_the_modern_era_only(host: Host) -> None:
    for method in UNKNOWN:
        assert error(modern(host, method)) == (404, -32601)
    for method, params in WRONG_PARAMS:
        assert error(modern(host, method, params)) == (400, -32602)
        assert error(legacy(host, method, params)) == (200, -32602)
    for each in ([], 7, "x", True):
        assert error(legacy(host, "ping", each)) == (200, -32602)
        assert error(legacy(host, "ping", each, MCP_Protocol_Version=MODERN)) == (400, -32602)


def test_discovery_and_the_one_page_of_tools(host: Host) -> None:
    found, tools = (modern(host, each).json["result"] for each in ("server/discover", "tools/list"))

    mcp_types.DiscoverResult.model_validate(found)
    names = [each.name for each in mcp_types.ListToolsResult.model_validate(tools).tools]
    assert (found["supportedVersions"], found["resultType"]) == ([MODERN], "complete")
    assert found["_meta"][f"{META}serverInfo"]["name"] == "askback"
    extensions = {"events": {}, "extensions": {f"{META}events": {}}}
    assert found["capabilities"] == {"tools": {}} | extensions
    assert names == sorted(names)
    assert {"list_forms", "get_form"} <= {*names}
    assert "nextCursor" not in tools
    for each in (found, tools):
        assert (each["ttlMs"], each["cacheScope"]) == (300_000, "public")


def test_initialize_answers_the_version_asked_for_or_the_newest(host: Host) -> None:
    for asked in (*SUPPORTED, "2024-10-07", MODERN, None, 7):
        params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "a"}}
        answer = legacy(host, "initialize", params)

        result = answer.json["result"]
        found = mcp_types.InitializeResult.model_validate(result)
        assert found.protocol_version == (asked if asked in SUPPORTED else "2025-11-25")
        assert found.instructions
        assert result["capabilities"]["events"] == {}
        assert "Mcp-Session-Id" not in answer.headers
        assert result.keys().isdisjoint({"resultType", "ttlMs", "cacheScope", "_meta"})


def test_which_era_a_request_is_of(host: Host) -> None:
    both: Any = {VERSION: MODERN, CAPABILITIES: {}}
    for name in both:  # either of them makes it modern
        one = {"_meta": {name: both[name]}}
        assert error(legacy(host, "ping", one)) == (400, -32602)
    of_earlier = legacy(host, "ping", {"_meta": both}, MCP_Protocol_Version="2025-11-25")
    assert of_earlier.json["result"] == {}  # a known version counts more than meta
    assert error(legacy(host, "ping", {"_meta": both})) == (400, -32020)
    for version in ("2024-10-07", "2025-11-25,2025-11-25", "x"):
        assert error(legacy(host, "ping", MCP_Protocol_Version=version)) == (400, -32602)

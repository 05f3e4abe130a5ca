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
    """A modern request; `meta` and `headers` replace what is right, None leaves a header out."""
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
    """Status and code of the refusal of this request."""
    body = mcp_types.JSONRPCError.model_validate(answer.json)
    assert body.id == "a-1"
    assert body.error.message
    return answer.status_code, body.error.code


def test_a_modern_request_is_answered(host: Host) -> None:
    assert modern(host).status_code == 200
    assert modern(host, Mcp_Name="whatever").status_code == 200
    assert modern(host, MCP_Protocol_Version=f" {MODERN} ").status_code == 200
    assert legacy(host, "ping", MCP_Protocol_Version=" 2025-11-25 ").json["result"] == {}
    assert modern(host, meta={VERSION: MODERN, CAPABILITIES: {}, "other": 1}).status_code == 200


@pytest.mark.parametrize(
    "meta", ["", 7, [], {}, {VERSION: MODERN}, {CAPABILITIES: {}}, {"other": MODERN}]
)
def test_meta_that_lacks_a_member_comes_first(host: Host, meta: Any) -> None:
    answer = modern(host, "nothing", meta=meta, Mcp_Method="other")

    assert error(answer) == (400, -32602)


VERSIONS = (None, "2025-12-31", f"{MODERN}, {MODERN}", "", f'"{MODERN}"', f"{MODERN} x")
NAMES = (None, "get_form", "LIST_FORMS", *(f"=?base64?{each}?=" for each in ("////", "bGlz", "a")))
NOT_OF_THE_BODY: list[dict[str, str | None]] = [
    *({"MCP_Protocol_Version": each, "Mcp_Method": "other"} for each in VERSIONS),
    *({"Mcp_Method": each} for each in (None, "tools/list", "TOOLS/CALL", "tools/call,tools/call")),
    *({"Mcp_Name": each} for each in NAMES),
]


@pytest.mark.parametrize("headers", NOT_OF_THE_BODY)
def test_a_header_that_is_not_that_of_the_body_is_a_mismatch(
    host: Host, headers: dict[str, str | None]
) -> None:
    answer = modern(host, "tools/call", CALL, **headers)

    assert error(answer) == (400, -32020)
    if "MCP_Protocol_Version" in headers:
        assert "MCP-Protocol-Version" in answer.json["error"]["message"]  # before the method


def test_a_name_may_be_padded_or_encoded(host: Host) -> None:
    encoded = f"=?base64?{base64.b64encode(b'list_forms').decode()}?="

    for name in ("  list_forms ", encoded):
        assert modern(host, "tools/call", CALL, Mcp_Name=name).status_code == 200


@pytest.mark.parametrize(
    ("method", "params"), [("prompts/get", {"name": "a"}), ("resources/read", {"uri": "a:b"})]
)
def test_what_is_not_served_needs_its_name_all_the_same(
    host: Host, method: str, params: dict[str, str]
) -> None:
    named = next(iter(params.values()))

    assert error(modern(host, method, params, Mcp_Name="other")) == (400, -32020)
    assert error(modern(host, method, params, Mcp_Name=named)) == (404, -32601)


@pytest.mark.parametrize("requested", ["2026-01-01", "DRAFT", "2031-01-01"])
def test_an_unsupported_version_comes_before_the_capabilities(host: Host, requested: str) -> None:
    meta = {VERSION: requested, CAPABILITIES: 7}

    answer = modern(host, "nothing", meta=meta, MCP_Protocol_Version=requested)

    assert error(answer) == (400, -32022)
    assert answer.json["error"]["data"] == {"supported": [MODERN], "requested": requested}


@pytest.mark.parametrize("capabilities", [None, 7, [], "x", True])
def test_capabilities_are_an_object(host: Host, capabilities: Any) -> None:
    meta = {VERSION: MODERN, CAPABILITIES: capabilities}

    assert error(modern(host, "nothing", meta=meta)) == (400, -32602)


@pytest.mark.parametrize(
    "method",
    [
        *("initialize", "ping", "logging/setLevel", "resources/subscribe", "subscriptions/listen"),
        *("nothing", "", "tools/List", "prompts/list", "resources/list", "__class__"),
    ],
)
def test_an_unknown_method_is_not_found(host: Host, method: str) -> None:
    assert error(modern(host, method)) == (404, -32601)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", {"cursor": "a"}),
        ("tools/call", {"name": "nothing"}),
        ("tools/call", {"name": "list_forms", "arguments": [1]}),
        ("tools/call", {"name": "list_forms", "arguments": 0}),
    ],
)
def test_wrong_parameters_are_a_bad_request_in_the_modern_era_only(
    host: Host, method: str, params: dict[str, Any]
) -> None:
    assert error(modern(host, method, params)) == (400, -32602)
    assert error(legacy(host, method, params)) == (200, -32602)


@pytest.mark.parametrize(
    ("version", "fields"),
    [
        ("2024-11-05", {"name", "version"}),
        ("2025-03-26", {"name", "version"}),
        ("2025-06-18", {"name", "version", "title"}),
        ("2025-11-25", {"name", "version", "title", "websiteUrl", "icons"}),
        (MODERN, {"name", "version", "title", "websiteUrl", "icons"}),
    ],
)
def test_the_server_says_what_the_schema_of_the_version_knows(
    host: Host, version: str, fields: set[str]
) -> None:
    if version == MODERN:
        found = modern(host, "server/discover").json["result"]["_meta"][f"{META}serverInfo"]
    else:
        found = legacy(host, "initialize", {"protocolVersion": version}).json["result"][
            "serverInfo"
        ]
    told = mcp_types.Implementation.model_validate(found)

    assert found.keys() == fields
    for icon in told.icons or ():
        answer = host.app.test_client(use_cookies=False).get(icon.src)
        assert (answer.status_code, answer.mimetype) == (200, icon.mime_type)
    assert told.website_url in (None, "http://127.0.0.1:8000")


def test_supported_versions_are_those_of_discovery(host: Host) -> None:
    found = modern(host, "server/discover").json["result"]

    mcp_types.DiscoverResult.model_validate(found)
    assert found["supportedVersions"] == [MODERN]
    assert found["resultType"] == "complete"
    assert (found["ttlMs"], found["cacheScope"]) == (300_000, "public")
    assert found["_meta"][f"{META}serverInfo"]["name"] == "askback"
    assert found["capabilities"] == {
        "tools": {},
        "events": {},
        "extensions": {f"{META}events": {}},
    }


def test_a_list_of_tools_is_one_page_by_name(host: Host) -> None:
    found = modern(host, "tools/list").json["result"]

    names = [each.name for each in mcp_types.ListToolsResult.model_validate(found).tools]
    assert names == sorted(names)
    assert {"list_forms", "get_form"} <= {*names}
    assert (found["ttlMs"], found["cacheScope"]) == (300_000, "public")
    assert "nextCursor" not in found


@pytest.mark.parametrize("asked", [*SUPPORTED, "2024-10-07", "2026-07-28", None, 7])
def test_initialize_answers_the_version_asked_for_or_the_newest(host: Host, asked: Any) -> None:
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "a"}}

    answer = legacy(host, "initialize", params)

    found = mcp_types.InitializeResult.model_validate(answer.json["result"])
    assert found.protocol_version == (asked if asked in SUPPORTED else "2025-11-25")
    assert found.instructions
    assert answer.json["result"]["capabilities"]["events"] == {}
    assert "Mcp-Session-Id" not in answer.headers
    assert answer.json["result"].keys().isdisjoint({"resultType", "ttlMs", "cacheScope", "_meta"})


@pytest.mark.parametrize(
    "headers", [{}, *({"MCP_Protocol_Version": each} for each in ("", *SUPPORTED))]
)
def test_earlier_versions_need_no_header_and_no_meta(host: Host, headers: dict[str, str]) -> None:
    assert legacy(host, "ping", **headers).json["result"] == {}
    listed = legacy(host, "tools/list", {"cursor": ""}, **headers).json["result"]
    mcp_types.ListToolsResult.model_validate(listed)
    assert listed.keys() == {"tools"}
    used = legacy(host, "tools/call", CALL, **headers).json["result"]
    assert used.keys() == {"content", "structuredContent", "isError"}
    assert error(legacy(host, "server/discover", **headers)) == (200, -32601)


@pytest.mark.parametrize("meta", [{VERSION: MODERN}, {CAPABILITIES: {}}])
def test_either_member_of_meta_makes_a_request_modern(host: Host, meta: dict[str, Any]) -> None:
    assert error(legacy(host, "ping", {"_meta": meta})) == (400, -32602)


def test_a_known_earlier_version_counts_more_than_meta(host: Host) -> None:
    params = {"_meta": {VERSION: MODERN, CAPABILITIES: {}}}

    assert legacy(host, "ping", params, MCP_Protocol_Version="2025-11-25").json["result"] == {}
    assert error(legacy(host, "ping", params)) == (400, -32020)


@pytest.mark.parametrize("version", ["2024-10-07", "2025-11-25,2025-11-25", "x"])
def test_an_unknown_version_without_meta_climbs_the_modern_ladder(host: Host, version: str) -> None:
    assert error(legacy(host, "ping", MCP_Protocol_Version=version)) == (400, -32602)


@pytest.mark.parametrize("params", [[], 7, "x", True])
def test_parameters_are_an_object(host: Host, params: Any) -> None:
    assert error(legacy(host, "ping", params)) == (200, -32602)
    assert error(legacy(host, "ping", params, MCP_Protocol_Version=MODERN)) == (400, -32602)

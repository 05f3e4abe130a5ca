"""What is wrong with a request is refused in one order, the same in both eras, and as JSON-RPC."""

from json import loads
from typing import Any

import pytest
from mcp_types import JSONRPCError
from werkzeug.test import TestResponse

from tests.api.mcp.conftest import MODERN, Host, Hosted

PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def host(hosted: Hosted, account: Any, version: str) -> Host:
    return hosted(account.id, version=version)


def call(
    host: Host, body: bytes = PING, method: str = "POST", path: str = "/mcp/app", **headers: str
) -> TestResponse:
    """A request of which only the token and the content type are given; "" drops a header."""
    given = {"Authorization": f"Bearer {host.token}"} | JSON
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {name: value for name, value in given.items() if value}
    client = host.app.test_client(use_cookies=False)
    return client.open(path, method=method, data=body, headers=sent)


def refusal(answer: TestResponse) -> tuple[int, int]:
    """Status and code of a refusal that answers no request."""
    body = answer.get_json()
    assert body.pop("id") is None
    error = JSONRPCError.model_validate(body | {"id": 0}).error
    assert error.message
    assert answer.content_type == "application/json"
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert "Set-Cookie" not in answer.headers
    return answer.status_code, error.code


def test_another_host_is_forbidden(host: Host) -> None:
    assert refusal(call(host, Host="evil.example")) == (403, -32600)
    assert refusal(call(host, Host="evil.example", method="GET")) == (403, -32600)


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost.evil.example", "localhost", "http://[", "x"],
)
@pytest.mark.parametrize("method", ["POST", "GET", "OPTIONS"])
def test_another_origin_is_forbidden_before_the_token_is_read(
    host: Host, origin: str, method: str
) -> None:
    answer = call(host, method=method, Origin=origin, Authorization="Bearer askat_x")

    assert refusal(answer) == (403, -32600)
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize("origin", ["http://localhost:6274", "http://127.0.0.1:1", "http://[::1]"])
def test_on_loopback_every_loopback_origin_may_call(host: Host, origin: str) -> None:
    answer = call(host, Origin=origin)

    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == origin
    assert answer.headers["Access-Control-Expose-Headers"] == "WWW-Authenticate"
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert "Origin" in answer.headers["Vary"]


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {"Authorization": ""}, 401),
        ("POST", {"Content_Type": "text/plain"}, 415),
        ("GET", {}, 405),
    ],
)
def test_the_page_of_an_allowed_origin_reads_refusals(
    host: Host, method: str, headers: dict[str, str], status: int
) -> None:
    answer = call(host, method=method, Origin="http://localhost:6274", **headers)

    assert refusal(answer) == (status, -32600)
    assert answer.headers["Access-Control-Allow-Origin"] == "http://localhost:6274"
    assert answer.headers["Access-Control-Expose-Headers"] == "WWW-Authenticate"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS"])
def test_only_post_is_possible(host: Host, method: str) -> None:
    answer = call(host, method=method, Authorization="")

    assert answer.headers["Allow"] == "POST"
    assert answer.status_code == 405
    if method != "HEAD":
        assert refusal(answer) == (405, -32600)


def test_the_page_of_an_allowed_origin_may_ask_before(host: Host) -> None:
    asks = {"Access_Control_Request_Method": "POST", "Authorization": "", "Content_Type": ""}
    answer = call(host, b"", "OPTIONS", Origin="http://localhost:6274", **asks)

    assert answer.status_code == 204
    assert answer.headers["Access-Control-Allow-Origin"] == "http://localhost:6274"
    assert answer.headers["Access-Control-Allow-Methods"] == "POST"
    allowed = answer.headers["Access-Control-Allow-Headers"].lower().split(", ")
    assert {*allowed} == {
        *("authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name")
    }


def test_there_is_nothing_below_the_endpoint(host: Host) -> None:
    answer = host.app.test_client().post("/mcp/app/more", headers=JSON)

    assert refusal(answer) == (404, -32600)


@pytest.mark.parametrize("name", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000"])
@pytest.mark.parametrize("path", ["/mcp/app", "/mcp/app/"])
def test_a_slash_and_each_name_of_this_machine_are_the_endpoint(
    host: Host, path: str, name: str
) -> None:
    assert call(host, path=path, Host=name).get_json()["result"] == {}
    assert refusal(call(host, method="GET", path=path, Host=name)) == (405, -32600)
    assert refusal(call(host, path=path, Host=name, Authorization="")) == (401, -32600)
    assert refusal(call(host, path=path, Host=name, Origin="https://evil.example"))[0] == 403


def test_no_token_comes_before_everything_in_the_body(host: Host) -> None:
    answer = call(host, b"{" * 2_000_000, Authorization="", Content_Type="", Accept="text/html")

    assert refusal(answer) == (401, -32600)


def test_a_body_too_large_comes_before_its_type(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(host.app.config, "MAX_CONTENT_LENGTH", None)  # the bound of other routes
    body = b'"' + b"x" * 1024 * 1024 + b'"'

    assert refusal(call(host, body, Content_Type="text/plain")) == (413, -32600)
    assert refusal(call(host, body[2:])) == (400, -32700)


@pytest.mark.parametrize(
    "headers",
    [
        {"Content_Type": "text/plain"},
        {"Content_Type": ""},
        {"Content_Type": "application/json; charset=utf-16"},
        {"Content_Encoding": "gzip"},
    ],
)
def test_another_content_type_comes_before_what_is_accepted(
    host: Host, headers: dict[str, str]
) -> None:
    assert refusal(call(host, b"{", Accept="text/html", **headers)) == (415, -32600)


@pytest.mark.parametrize(
    "accept", ["text/html", "text/event-stream;q=0", "application/json;q=0", ",;"]
)
def test_a_client_that_takes_neither_json_nor_a_stream_is_refused(host: Host, accept: str) -> None:
    assert refusal(call(host, b"{", Accept=accept)) == (406, -32600)


@pytest.mark.parametrize(
    "accept", ["", " ", "*/*", "application/json", "application/json, text/event-stream"]
)
def test_a_client_that_takes_json_is_answered(host: Host, accept: str) -> None:
    assert call(host, Accept=accept).content_type == "application/json"


@pytest.mark.parametrize("accept", ["text/event-stream", "text/*", "application/json;q=0, */*"])
def test_a_client_that_takes_a_stream_alone_gets_one_of_one_event(host: Host, accept: str) -> None:
    answer = call(host, Accept=accept)
    event, data = answer.text.removesuffix("\n\n").split("\n")

    assert (answer.status_code, answer.content_type) == (200, "text/event-stream")
    assert event == "event: message"
    assert loads(data.removeprefix("data: ")) == {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert refusal(call(host, b"{", Accept=accept)) == (400, -32700)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"{",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"id":7,"id":8}',
        b'{"id":NaN}',
        b'{"id":Infinity}',
        b'{"id":1e999}',
        b'{"id":' + b"9" * 5000 + b"}",
        b'{"id":"\xff"}',
        b'{"id":"\xe2\x82"}',
        '{"id":7}'.encode("utf-16"),
        b"\x00",
    ],
)
def test_what_is_no_json_is_not_parsed(host: Host, body: bytes) -> None:
    assert refusal(call(host, body)) == (400, -32700)


@pytest.mark.parametrize(
    "body",
    [
        b"7",
        b"null",
        b"{}",
        b'{"jsonrpc":"1.0","method":"ping"}',
        b'{"jsonrpc":2.0,"method":"ping"}',
        b'{"jsonrpc":"2.0","method":7}',
        b'{"jsonrpc":"2.0","result":{}}',
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":[7],"method":"ping"}',
    ],
)
def test_what_is_no_message_is_no_request(host: Host, body: bytes) -> None:
    assert refusal(call(host, body)) == (400, -32600)


@pytest.mark.parametrize("body", [b"[]", b"[%b]" % PING, b"[%b,%b]" % (PING, PING)])
def test_a_batch_is_refused_in_words(host: Host, body: bytes) -> None:
    answer = call(host, body)

    assert "send each message as a request of its own" in answer.get_json()["error"]["message"]
    assert refusal(answer) == (400, -32600)


def test_a_response_that_is_posted_is_refused_with_its_id(host: Host) -> None:
    answer = call(host, b'{"jsonrpc":"2.0","id":7,"result":{}}')

    assert (answer.status_code, answer.json["error"]["code"]) == (400, -32600)
    assert answer.json["id"] == 7


@pytest.mark.parametrize("method", ["notifications/initialized", "ping", "anything"])
def test_a_notification_is_taken_and_not_answered(host: Host, method: str) -> None:
    body = b'{"jsonrpc":"2.0","method":"%s","params":3}' % method.encode()

    for headers in ({}, {"MCP_Protocol_Version": host.version}):
        answer = call(host, body, **headers)
        assert (answer.status_code, answer.data) == (202, b"")


def test_a_notification_of_an_unknown_version_is_refused(host: Host) -> None:
    answer = call(host, b'{"jsonrpc":"2.0","method":"x"}', MCP_Protocol_Version="2031-01-01")

    data = {"supported": [MODERN], "requested": "2031-01-01"}
    assert answer.json["error"]["data"] == data
    assert refusal(answer) == (400, -32022)


@pytest.mark.parametrize("number", ["7", "-1", "0", '""', '"a"', "1" + "0" * 40, '"\\ud800"'])
def test_a_request_is_answered_with_its_id(host: Host, number: str) -> None:
    body = b'{"jsonrpc":"2.0","id":%s,"method":"nothing"}' % number.encode()

    answer = call(host, body)

    assert (answer.status_code, answer.json["error"]["code"]) == (200, -32601)
    assert f'"id":{number}' in answer.text.replace(": ", ":")


def test_headers_of_sessions_and_streams_are_ignored(host: Host) -> None:
    answer = call(host, Mcp_Session_Id="s", Last_Event_ID="9", Cookie="askback_session=x")

    assert answer.json == {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert {"Set-Cookie", "Mcp-Session-Id"}.isdisjoint(answer.headers.keys())
    assert "Cookie" not in answer.headers.get("Vary", "")


def test_a_fault_of_ours_is_an_error_with_the_id_of_the_request(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object) -> None:
        raise RuntimeError("askat_secret")

    monkeypatch.setattr("webapp.records.forms.list_forms", broken)

    answer = host.send("tools/call", {"name": "list_forms", "arguments": {}})

    assert answer.status_code == 200
    assert answer.json["id"] == 7
    assert answer.json["error"]["code"] == -32603
    assert answer.json["error"]["data"]["code"] == "internal_error"
    assert "askat_secret" not in answer.text


PUBLIC = pytest.mark.settings(
    public_url="https://ask.example.org",
    mcp_allowed_origins=frozenset({"https://host.example:8443"}),
)


@PUBLIC
@pytest.mark.parametrize("origin", ["https://ask.example.org", "https://host.example:8443"])
def test_elsewhere_our_own_and_the_named_origins_may_call(host: Host, origin: str) -> None:
    answer = call(host, Host="ask.example.org", Origin=origin)

    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == origin


@pytest.mark.settings(
    public_url="https://ask.example.org", trusted_hosts=frozenset({"other.example.org"})
)
def test_a_page_may_call_the_name_that_it_came_from(host: Host) -> None:
    """Where the server has more names than the public one."""
    for origin, status in (("https://other.example.org", 200), ("https://third.example.org", 403)):
        answer = call(host, Host="other.example.org", Origin=origin)
        assert answer.status_code == status


@PUBLIC
@pytest.mark.parametrize(
    "origin",
    [
        *("http://localhost:6274", "https://127.0.0.1", "http://ask.example.org", "https://x.org"),
        *("https://host.example", "http://host.example:8443", "https://a.host.example:8443"),
    ],
)
def test_elsewhere_no_other_origin_may_call(host: Host, origin: str) -> None:
    answer = call(host, Host="ask.example.org", Origin=origin)

    assert refusal(answer) == (403, -32600)
    assert refusal(call(host, Host="127.0.0.1:8000")) == (403, -32600)

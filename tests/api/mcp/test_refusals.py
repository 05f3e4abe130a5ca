"""What is wrong with a request is refused in one order, as JSON-RPC; which tokens open what."""

from collections.abc import Callable
from itertools import product
from json import loads
from typing import Any

import pytest
from mcp_types import JSONRPCError
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from api.mcp.endpoint import METHODS
from api.mcp.tools.table import TOOLS
from tests.api.mcp.conftest import ALL_SCOPES, LEGACY, MODERN, Host, Hosted
from tests.api.subscriptions.subscribing import Deadlock
from tests.oauth.test_token_use import every_end
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token

PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
JSON = {"Content-Type": "application/json"}


@pytest.fixture(params=[MODERN, LEGACY])
def version(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


def call(
    host: Host, body: bytes = PING, method: str = "POST", path: str = "/mcp/app", **headers: str
) -> TestResponse:
    given = {"Authorization": f"Bearer {host.token}"} | JSON
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {name: value for name, value in given.items() if value}
    client = host.app.test_client(use_cookies=False)
    return client.open(path, method=method, data=body, headers=sent)


def refusal(answer: TestResponse) -> tuple[int, int]:
    body = answer.get_json()
    assert body.pop("id") is None
    error = JSONRPCError.model_validate(body | {"id": 0}).error
    assert error.message
    assert answer.content_type == "application/json"
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert "Set-Cookie" not in answer.headers
    return answer.status_code, error.code


NO_JSON = [
    *(b"", b"{", b"[" * 100_000, b'{"id":7,"id":8}', b'{"id":NaN}', b'{"id":1e999}'),
    *(b'{"id":' + b"9" * 5000 + b"}", b'{"id":"\xff"}', '{"id":7}'.encode("utf-16")),
]
NO_MESSAGES = [
    *(b"7", b'{"jsonrpc":"1.0","method":"ping"}', b'{"jsonrpc":"2.0","method":7}', b"[%b]" % PING),
    *(b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % each for each in (b"null", b"true", b"1.5")),
]
NO_TYPES: list[dict[str, str]] = [
    {"Content_Type": "text/plain"},
    {"Content_Type": "application/json; charset=utf-16"},
    {"Content_Encoding": "gzip"},
]
# from what is wrong first on: a call, and its status and code
LADDER: list[tuple[dict[str, Any], int, int]] = [
    ({"Host": "evil.example", "Authorization": ""}, 403, -32600),
    ({"Host": "evil.example", "method": "GET"}, 403, -32600),
    ({"path": "/mcp/app/more", "Authorization": ""}, 404, -32600),
    (
        {"body": b"{" * 2_000_000, "Authorization": "", "Content_Type": "", "Accept": "text/html"},
        401,
        -32600,
    ),
    *(({"body": b"{", "Accept": "text/html"} | each, 415, -32600) for each in NO_TYPES),
    *(
        ({"body": b"{", "Accept": each}, 406, -32600)
        for each in ("text/html", "text/event-stream;q=0", "application/json;q=0", ",;")
    ),
    *(({"body": each}, 400, -32700) for each in NO_JSON),
    *(({"body": each}, 400, -32600) for each in NO_MESSAGES),
]


def test_what_is_wrong_first_is_refused_first(host: Host) -> None:
    for request, status, code in LADDER:
        assert refusal(call(host, **request)) == (status, code), repr(request)[:200]


OTHERS = ["https://evil.example", "null", "http://localhost.evil.example", "localhost", "http://["]


def test_another_origin_is_forbidden_before_the_token_is_read(host: Host) -> None:
    for origin, method in product(OTHERS, ("POST", "GET", "OPTIONS")):
        answer = call(host, method=method, Origin=origin, Authorization="Bearer askat_x")
        assert refusal(answer) == (403, -32600)
        assert "Access-Control-Allow-Origin" not in answer.headers


def test_on_loopback_every_loopback_origin_may_call(host: Host) -> None:
    for origin in ("http://localhost:6274", "http://127.0.0.1:1", "http://[::1]"):
        answer = call(host, Origin=origin)
        refused = [
            call(host, Origin=origin, Authorization=""),
            call(host, Origin=origin, Content_Type="text/plain"),
            call(host, method="GET", Origin=origin),
        ]
        assert answer.status_code == 200
        assert [refusal(each)[0] for each in refused] == [401, 415, 405]
        for each in (answer, *refused):
            assert "Origin" in each.headers["Vary"]
            assert "Access-Control-Allow-Credentials" not in each.headers
            assert each.headers["Access-Control-Allow-Origin"] == origin
            assert each.headers["Access-Control-Expose-Headers"] == "WWW-Authenticate"


def test_the_page_of_an_allowed_origin_may_ask_before(host: Host) -> None:
    asks = {"Access_Control_Request_Method": "POST", "Authorization": "", "Content_Type": ""}
    answer = call(host, b"", "OPTIONS", Origin="http://localhost:6274", **asks)

    headers = answer.headers
    assert answer.status_code == 204
    assert headers["Access-Control-Allow-Origin"] == "http://localhost:6274"
    assert headers["Access-Control-Allow-Methods"] == "POST"
    allowed = headers["Access-Control-Allow-Headers"].lower()
    assert allowed == "authorization, content-type, mcp-protocol-version, mcp-method, mcp-name"


def test_a_body_too_large_comes_before_its_type(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(host.app.config, "MAX_CONTENT_LENGTH", None)  # the bound of other routes
    body = b'"' + b"x" * 1024 * 1024 + b'"'

    assert refusal(call(host, body, Content_Type="text/plain")) == (413, -32600)
    assert refusal(call(host, body[2:])) == (400, -32700)


def test_a_client_gets_what_it_takes(host: Host) -> None:
    for accept in ("", " ", "*/*", "application/json", "application/json, text/event-stream"):
        assert call(host, Accept=accept).content_type == "application/json"
    for accept in ("text/event-stream", "text/*", "application/json;q=0, */*"):
        answer = call(host, Accept=accept)
        event, data = answer.text.removesuffix("\n\n").split("\n")
        assert (answer.status_code, answer.content_type) == (200, "text/event-stream")
        assert event == "event: message"
        assert loads(data.removeprefix("data: ")) == {"jsonrpc": "2.0", "id": 7, "result": {}}
        assert refusal(call(host, b"{", Accept=accept)) == (400, -32700)


def test_a_notification_is_taken_and_not_answered(host: Host) -> None:
    for method in ("notifications/initialized", "ping", "anything"):
        body = b'{"jsonrpc":"2.0","method":"%s","params":3}' % method.encode()
        for headers in ({}, {"MCP_Protocol_Version": host.version}):
            answer = call(host, body, **headers)
            assert (answer.status_code, answer.data) == (202, b"")
    unknown = call(host, body, MCP_Protocol_Version="2031-01-01")
    data = {"supported": [MODERN], "requested": "2031-01-01"}
    assert unknown.json["error"]["data"] == data
    assert refusal(unknown) == (400, -32022)


def test_a_request_is_answered_with_its_id(host: Host) -> None:
    for number in ("7", "-1", "0", '""', '"a"', "1" + "0" * 40, '"\\ud800"'):
        body = b'{"jsonrpc":"2.0","id":%s,"method":"nothing"}' % number.encode()
        answer = call(host, body)
        assert (answer.status_code, answer.json["error"]["code"]) == (200, -32601)
        assert f'"id":{number}' in answer.text.replace(": ", ":")
    posted = call(host, b'{"jsonrpc":"2.0","id":7,"result":{}}')
    assert (posted.status_code, posted.json["error"]["code"], posted.json["id"]) == (400, -32600, 7)


@pytest.mark.settings(
    public_url="https://ask.example.org",
    trusted_hosts=frozenset({"other.example.org"}),
    mcp_allowed_origins=frozenset({"https://host.example:8443"}),
)
def test_elsewhere_our_own_and_the_named_origins_may_call(host: Host) -> None:
    for origin in ("https://ask.example.org", "https://host.example:8443"):
        answer = call(host, Host="ask.example.org", Origin=origin)
        assert answer.status_code == 200
        assert answer.headers["Access-Control-Allow-Origin"] == origin
    for origin in (
        *("http://localhost:6274", "https://127.0.0.1", "http://ask.example.org", "https://x.org"),
        *("https://host.example", "http://host.example:8443", "https://a.host.example:8443"),
    ):
        answer = call(host, Host="ask.example.org", Origin=origin)
        assert refusal(answer) == (403, -32600)
        assert "Access-Control-Allow-Origin" not in answer.headers
    assert refusal(call(host, Host="127.0.0.1:8000")) == (403, -32600)
    # where the server has more names than the public one, a page may call that it came from
    for origin, status in (("https://other.example.org", 200), ("https://third.example.org", 403)):
        answer = call(host, Host="other.example.org", Origin=origin)
        assert answer.status_code == status


def test_a_call_that_the_database_gave_up_is_run_again(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [Deadlock()] * 2

    def given_up(*_given: Any) -> list[Any]:
        if left:
            raise OperationalError("SELECT", {}, left.pop())
        return []

    monkeypatch.setattr("webapp.records.forms.list_forms", given_up)

    found = host.use("list_forms")

    assert not found.is_error
    assert found.structured_content == {"formCount": 0, "forms": []}
    assert not left


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (RuntimeError("askat_secret"), "internal_error"),
        (OperationalError("askat_secret", {}, Exception()), "storage_unavailable"),
    ],
)
def test_a_fault_of_ours_is_an_error_with_the_id_of_the_request(
    host: Host, fault: Exception, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object) -> None:
        raise fault

    monkeypatch.setattr("webapp.records.forms.list_forms", broken)

    answer = host.send("tools/call", {"name": "list_forms"})

    assert (answer.status_code, answer.json["id"]) == (200, 7)
    assert answer.json["error"]["code"] == -32603
    assert answer.json["error"]["data"]["code"] == code
    assert "askat_secret" not in answer.text


METADATA = 'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource/mcp/app"'
ALL = 'scope="forms:read forms:write responses:read"'
EVERYTHING = [
    *((method, {}) for method in sorted(METHODS) if method != "tools/call"),
    *(("tools/call", {"name": name, "arguments": {}}) for name in sorted(TOOLS)),
    ("nothing", {}),
]


def challenges(host: Host) -> set[str]:
    return {challenge(host.send(method, params)) for method, params in EVERYTHING}


def challenge(answer: TestResponse, status: int = 401) -> str:
    assert answer.status_code == status, answer.text
    assert answer.json["error"]["code"] == -32600
    assert answer.json["id"] == (None if status == 401 else 7)
    found: str = answer.headers["WWW-Authenticate"]
    assert "offline_access" not in found
    return found


def test_without_a_token_the_challenge_names_all_scopes(host: Host) -> None:
    answer = host.app.test_client().post("/mcp/app", json={})

    assert challenge(answer) == f"Bearer {METADATA}, {ALL}"


def test_a_token_in_the_address_is_never_accepted(host: Host) -> None:
    headers = {"Authorization": f"Bearer {host.token}"}
    for sent, name in product(({}, headers), ("access_token", "token")):
        answer = host.app.test_client().post(f"/mcp/app?{name}={host.token}", headers=sent)
        assert "invalid_request" in challenge(answer)


@every_end
def test_a_dead_token_opens_nothing(host: Host, statement: Callable[..., Any]) -> None:
    with host.app.app_context():
        db.session.execute(statement(utc_now()))
        db.session.commit()

    (found,) = challenges(host)

    assert found.startswith('Bearer error="invalid_token", error_description="')
    assert found.endswith(f"{METADATA}, {ALL}")


UNKNOWN = ["garbage", "askat_" + "x" * 43, "askag_" + "x" * 43, "", "\xff"]


def test_an_unknown_token_or_one_for_the_api_opens_nothing(
    settings: Settings, host: Host, account: Any
) -> None:
    of_mcp = host.token
    with host.app.app_context():
        of_api = issue_token(account.id, list(Scope), settings.api_url, now=utc_now())
    for host.token in (*UNKNOWN, of_api):
        (found,) = challenges(host)
        assert 'error="invalid_token"' in found

    headers = {"Authorization": f"Bearer {of_mcp}"}
    assert host.app.test_client().get("/api/forms", headers=headers).status_code == 401


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_asks_for_its_scope_and_those_held_before_it_reads_arguments(
    hosted: Hosted, account: Any, version: str, name: str
) -> None:
    needed = TOOLS[name].scope
    host = hosted(account.id, {*ALL_SCOPES} - {needed}, version)

    found = challenge(host.send("tools/call", {"name": name, "arguments": {"a": 1}}), 403)

    assert found == (
        'Bearer error="insufficient_scope", '
        f'error_description="This access token lacks the permission {needed}.", '
        f"{METADATA}, {ALL}"
    )
    assert hosted(account.id, [needed], version).use(name, a=1).is_error


@pytest.mark.parametrize("method", sorted(METHODS.keys() - {"tools/call"}))
def test_events_need_a_scope_and_other_methods_a_token_only(
    hosted: Hosted, account: Any, version: str, method: str
) -> None:
    answer = hosted(account.id, [], version).send(method)

    if method.startswith("events/"):
        assert challenge(answer, 403).endswith('scope="responses:read"')
    else:
        known = METHODS[method].modern in (None, version == MODERN)
        assert answer.status_code == (200 if known or version == LEGACY else 404)

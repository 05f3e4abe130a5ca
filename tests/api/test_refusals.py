"""What is refused, and how: tokens and scopes, bodies, parameters, addresses and faults."""

from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.openapi.operations import Operation
from tests.api.conftest import ALL_SCOPES, Agent, Connect, refusal
from tests.api.provoking import OF_CONNECTIONS, assert_readable, send
from tests.databases import both_databases
from tests.factories import make_draft, make_form
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account

JSON = "application/json"
LARGE = b"x" * 300_000
FIELDS = {"createAgentToken": "label", "createSubscription": "url"}  # of a body; "title" elsewhere


@pytest.mark.parametrize(
    "operation", [each for each in OF_CONNECTIONS if each.takes], ids=lambda each: each.id
)
def test_every_body_is_read_alike(
    operation: Operation, agent: Agent, draft_id: str, form: Any
) -> None:
    def with_text(value: object) -> dict[str, Any]:
        return {"followUps": {"1": [value]}} if "followUps" in field else {field: value}

    is_of_follow_ups = operation.id == "replaceServiceDraftFollowUps"
    field = "followUps.1[0]" if is_of_follow_ups else FIELDS.get(operation.id, "title")
    for code, begins, request in (
        ("invalid_json", "body: ", {"data": b'{"title": "\n', "content_type": JSON}),
        ("payload_too_large", "body: ", {"data": LARGE, "content_type": JSON}),
        ("unknown_field", "colour: ", {"json": {"colour": "red"}}),
        ("validation_failed", f"{field}: ", {"json": with_text(7)}),
        ("invalid_text", f"{field}: ", {"json": with_text("\0")}),
    ):
        response = send(agent, operation, draft_id, form_id=form.id, **request)
        assert_readable(response, code, begins)


# of the body, its code and how the message goes on after "body: "
BODIES: list[tuple[bytes, str, str]] = [
    (b"", "invalid_json", "is empty"),
    (b"{", "invalid_json", "is not JSON at line 1, column 2."),
    (b'{"title": NaN}', "invalid_json", "has NaN"),
    (b'{"maxTotalQuestions": 1e999}', "invalid_json", "has a number that is too large"),
    (b'{"maxTotalQuestions": ' + b"9" * 5000 + b"}", "invalid_json", "has a number that is too"),
    (b'{"title": "a", "title": "b"}', "invalid_json", 'has the field "title" twice'),
    (b'{"title": "\xff"}', "invalid_json", "is not UTF-8 at byte 12."),
    ('{"title": "x"}'.encode("utf-16"), "invalid_json", "is not UTF-8 at byte 1."),
    (b"[" * 100_000, "invalid_json", "is nested too deeply."),
    (b"x" * 300_000, "payload_too_large", "is larger than 256 KiB."),
    (b"null", "validation_failed", "is null"),
    (b"[" * 900 + b"]" * 900, "validation_failed", "is an array"),
]


def test_a_body_that_is_no_object_in_json_is_refused(agent: Agent) -> None:
    for raw, code, says in BODIES:
        response = agent.post("/drafts", data=raw, content_type=JSON)
        assert_readable(response, code, f"body: {says}")


UNSTORABLE: list[tuple[bytes, str]] = [
    (b'{"goal": "\\u0000"}', "invalid_text"),
    (b'{"goal": "\\ud800"}', "invalid_text"),
    (b'{"\\ud800": 1}', "invalid_text"),
    (b'{"followUpMode": "\\u0000"}', "validation_failed"),
    (b'{"maxTotalQuestions": 99999999999999999999999}', "validation_failed"),
    (b'{"\\u0000": 1}', "unknown_field"),
]


def test_a_value_that_cannot_be_stored_is_refused(agent: Agent) -> None:
    for raw, code in UNSTORABLE:
        assert_readable(agent.post("/drafts", data=raw, content_type=JSON), code)


@pytest.mark.parametrize(
    ("raw", "content_type", "goal"),
    [
        (b'\xef\xbb\xbf{"goal": "x"}', JSON, "x"),
        (b'{"goal": "x"}', 'Application/JSON;charset="UTF-8"', "x"),
    ],
)
def test_json_in_utf_8_is_read(raw: bytes, content_type: str, goal: str, agent: Agent) -> None:
    response = agent.post("/drafts", data=raw, content_type=content_type)

    assert (response.status_code, response.json["goal"]) == (201, goal)


TYPES: list[tuple[dict[str, str], str]] = [
    ({}, "Content-Type: is missing; "),
    ({"Content-Type": "text/plain"}, 'Content-Type: is "text/plain"; '),
    ({"Content-Type": "application/json; charset=utf-16"}, "Content-Type: "),
    ({"Content-Type": "\xff"}, "Content-Type: "),
    ({"Content-Type": JSON, "Content-Encoding": "gzip"}, 'Content-Encoding: is "gzip"; '),
]


def test_another_content_type_or_encoding_is_refused(agent: Agent) -> None:
    for headers, begins in TYPES:
        assert_readable(agent.post("/drafts", data=b"{}", headers=headers), "invalid_json", begins)


def test_a_body_is_as_long_as_announced(agent: Agent) -> None:
    short = {"input_stream": BytesIO(b"{"), "headers": {"Content-Length": "100"}}
    response = agent.post("/drafts", content_type=JSON, **short)
    assert refusal(response) == (400, "invalid_json")


NOWHERE = ["", "/", "/nothing", "/drafts/", "/forms/", "/forms//responses", "//forms", "/r/x"]


def test_an_unknown_address_is_answered_in_four_fields(client: FlaskClient) -> None:
    for path in NOWHERE:
        assert_readable(client.get(f"/api{path}"), "not_found")
    outside = client.get("/apis")
    assert (outside.status_code, outside.mimetype) == (404, "text/html")


def test_another_method_is_answered_with_those_allowed(client: FlaskClient) -> None:
    for method, path, allowed in (
        ("GET", "/drafts", "OPTIONS, POST"),
        ("DELETE", "/drafts/x", "GET, HEAD, OPTIONS, PATCH"),
        ("POST", "/openapi", "GET, HEAD, OPTIONS"),
        ("X" * 9000, "/forms", "GET, HEAD, OPTIONS"),
    ):
        response = client.open(f"/api{path}", method=method)
        assert_readable(response, "method_not_allowed", method[:20])
        assert response.headers["Allow"] == allowed
        needs_no_token = client.options(f"/api{path}")
        assert (needs_no_token.status_code, needs_no_token.data) == (200, b"")


def test_an_internal_error_is_rolled_back_and_reveals_nothing_but_the_request_id(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, draft_id: str
) -> None:
    def break_down(*_: Any) -> Any:
        raise RuntimeError("secret detail")

    path, headers = f"/drafts/{draft_id}", {"X-Request-Id": "request-7"}
    with monkeypatch.context() as patched:
        patched.setattr("webapp.records.content.model.content_hash", break_down)
        broken = agent.patch(path, json={"title": "New"}, headers=headers)

    assert_readable(broken, "internal_error")
    assert broken.json["resolution"].endswith(" request id request-7.")
    assert "secret" not in broken.text
    assert agent.get(path).json["title"] == "Rota"


WITH_ID = [operation for operation in OF_CONNECTIONS if "{" in operation.path]
READ_FORMS = {"listService", "getService"}
METADATA = 'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource/api"'


every_operation = pytest.mark.parametrize("operation", OF_CONNECTIONS, ids=lambda each: each.id)


def owned(app: Flask, operation: Operation, account_id: str) -> str:
    with app.app_context():
        made: Any = (make_draft if "/drafts" in operation.path else make_form)(account_id)
        return str(made.id)


@every_operation
def test_without_a_token_or_with_one_in_the_address_the_response_is_a_challenge(
    operation: Operation, agent: Agent, client: FlaskClient
) -> None:
    def call(**query: str) -> TestResponse:
        path = f"/api{operation.path}"
        response = client.open(path, method=operation.method, query_string=query)
        assert refusal(response) == (401, "authentication_required")
        assert response.headers["Cache-Control"] == "private, no-store"
        return response

    expected = f'Bearer {METADATA}, scope="forms:read forms:write responses:read"'
    assert call().headers["WWW-Authenticate"] == expected
    for name in ("access_token", "token"):
        found = call(**{name: agent.token}).headers["WWW-Authenticate"]
        assert 'error="invalid_request"' in found


@every_operation
def test_every_operation_needs_its_own_scope(
    operation: Operation, connect: Connect, account: Account
) -> None:
    needed = Scope.FORMS_WRITE if "/drafts" in operation.path else Scope.RESPONSES_READ
    needed = Scope.FORMS_READ if operation.id in READ_FORMS else needed
    agent = connect(account.id, [needed])

    assert send(agent, operation, owned(agent.app, operation, account.id)).status_code != 401
    for scopes in ([], [Scope.OFFLINE_ACCESS], {*Scope} - {needed}):
        response = send(connect(account.id, scopes), operation, "x")
        challenge = response.headers["WWW-Authenticate"]
        asked = sorted({*scopes, needed} - {Scope.OFFLINE_ACCESS})  # with those granted
        assert refusal(response) == (401, "authentication_required")
        assert 'error="insufficient_scope"' in challenge
        assert f'scope="{" ".join(asked)}"' in challenge


HOSTILE = ["%00", "a%00b", "%FF", "%C0%80", "%ED%A0%80", "..", "%2e%2e", "'", "%25", "\N{SNOWMAN}"]


@both_databases
@pytest.mark.parametrize("operation", WITH_ID, ids=lambda each: each.id)
def test_a_malformed_id_is_not_found_and_one_with_a_slash_no_route(
    operation: Operation, agent: Agent
) -> None:
    code = "draft_not_found" if "/drafts" in operation.path else "form_not_found"
    for hostile in (*HOSTILE, "x" * 9999):
        assert refusal(send(agent, operation, hostile)) == (404, code), hostile
    for split in ("a%2Fb", "/", "%2F"):
        assert refusal(send(agent, operation, split)) == (404, "not_found"), split


@pytest.mark.parametrize(
    "header",
    ["Basic YTpi", "Bearer", "Bearer ", "Bearer x", "{}", "Token {}", "Basic {}", "\xff"]
    + ["Bearer askat_" + "x" * 43],
)
def test_a_foreign_or_malformed_token_is_refused(header: str, agent: Agent) -> None:
    response = agent.get("/forms", headers={"Authorization": header.format(agent.token)})

    assert refusal(response) == (401, "authentication_required")
    assert 'error="invalid_token"' in response.headers["WWW-Authenticate"]


def test_a_token_for_mcp_does_not_open_the_api(
    app: Flask, settings: Settings, account: Account
) -> None:
    with app.app_context():
        token = issue_token(account.id, ALL_SCOPES, settings.mcp_url, now=utc_now())

    response = Agent(app, token).get("/forms")

    assert refusal(response) == (401, "authentication_required")

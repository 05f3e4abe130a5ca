"""Every refusal says what is wrong and what to do: of bodies, of operations, of the router."""

from io import BytesIO
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.bodies import API_BODY_MAX_BYTES
from api.openapi.operations import Operation
from tests.api.conftest import Agent, Confirm, refusal
from tests.api.provoking import (
    BEGIN_WITH_A_FIELD,
    CASES,
    FAULTS,
    JSON,
    PROVOKE,
    Scene,
    assert_readable,
)
from tests.databases import both_databases
from webapp.oauth import guard


@pytest.mark.parametrize(
    ("operation", "code"), CASES, ids=[f"{operation.id} {code}" for operation, code in CASES]
)
def test_refusals_say_what_to_change(
    operation: Operation,
    code: str,
    agent: Agent,
    draft_id: str,
    form: Any,
    confirm: Confirm,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise FAULTS[code]

    if code in FAULTS:
        monkeypatch.setattr(guard, "note_use", fail)

    scene = Scene(agent, operation, draft_id, form.id)
    response = PROVOKE[code](scene, confirm)

    begins = BEGIN_WITH_A_FIELD.get(code, "")
    if code in {"validation_failed", "invalid_text"}:
        begins = f"{scene.text}: " if operation.takes else "wait: "
    assert_readable(response, code, begins)


# of the body, its code and how the message goes on after "body: "
BODIES: list[tuple[bytes, str, str]] = [
    (b"", "invalid_json", "is empty"),
    (b" \n", "invalid_json", "is empty"),
    (b"{", "invalid_json", "is not JSON at line 1, column 2."),
    (b'{"title":\n x}', "invalid_json", "is not JSON at line 2, column 2."),
    (b"{} {}", "invalid_json", "is not JSON at line 1, column 4."),
    (b"{'title': 1}", "invalid_json", "is not JSON"),
    (b'{"title": "x",}', "invalid_json", "is not JSON"),
    (b'{"title": "a\nb"}', "invalid_json", "is not JSON"),
    (b'{"title": NaN}', "invalid_json", "has NaN"),
    (b'{"title": -Infinity}', "invalid_json", "has -Infinity"),
    (b'{"maxTotalQuestions": 1e999}', "invalid_json", "has a number that is too large"),
    (b'{"maxTotalQuestions": -1e999}', "invalid_json", "has a number that is too large"),
    (b'{"maxTotalQuestions": ' + b"9" * 5000 + b"}", "invalid_json", "has a number that is too"),
    (b'{"title": "a", "title": "b"}', "invalid_json", 'has the field "title" twice'),
    (b'{"questions": [{"text": "a", "text": "b"}]}', "invalid_json", 'has the field "text" twice'),
    (b'{"title": "\xff"}', "invalid_json", "is not UTF-8 at byte 12."),
    (b'{"title": "\xed\xa0\x80"}', "invalid_json", "is not UTF-8 at byte 12."),
    ('{"title": "x"}'.encode("utf-16"), "invalid_json", "is not UTF-8 at byte 1."),
    ('{"title": "x"}'.encode("utf-32"), "invalid_json", "is not UTF-8 at byte 1."),
    (b"[" * 100_000, "invalid_json", "is nested too deeply."),
    (b'{"questions":' * 20_000, "invalid_json", "is nested too deeply."),
    (b"x" * 300_000, "payload_too_large", "is larger than 256 KiB."),
    (b"null", "validation_failed", "is null"),
    (b'"x"', "validation_failed", 'is "x"'),
    (b"[" * 900 + b"]" * 900, "validation_failed", "is an array"),
]


@pytest.mark.parametrize("change", [False, True], ids=["create", "change"])
@pytest.mark.parametrize(("raw", "code", "says"), BODIES, ids=lambda value: repr(value)[:40])
def test_a_body_that_is_no_object_in_json_is_refused(
    raw: bytes, code: str, says: str, agent: Agent, draft_id: str, *, change: bool
) -> None:
    method, path = ("PATCH", f"/drafts/{draft_id}") if change else ("POST", "/drafts")

    response = agent.call(method, path, data=raw, content_type=JSON)

    assert_readable(response, code, f"body: {says}")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b'{"goal": "\\u0000"}', "invalid_text"),
        (b'{"goal": "\\ud800"}', "invalid_text"),
        (b'{"questions": ["\\udfff"]}', "invalid_text"),
        (b'{"questions": [{"text": "x", "id": "\\ud800"}]}', "invalid_text"),
        (b'{"followUpMode": "\\ud800"}', "invalid_text"),
        (b'{"\\ud800": 1}', "invalid_text"),
        (b'{"followUpMode": "\\u0000"}', "validation_failed"),
        (b'{"maxTotalQuestions": 1e300}', "validation_failed"),
        (b'{"maxTotalQuestions": 99999999999999999999999}', "validation_failed"),
        (b'{"maxTotalQuestions": 0.5}', "validation_failed"),
        (b'{"\\u0000": 1}', "unknown_field"),
        (b'{"' + b"x" * 100_000 + b'": 1}', "unknown_field"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_a_value_that_cannot_be_stored_is_refused(raw: bytes, code: str, agent: Agent) -> None:
    assert_readable(agent.post("/drafts", data=raw, content_type=JSON), code)


@pytest.mark.parametrize(
    ("raw", "content_type", "goal"),
    [
        (b'{"goal": "\\ud83d\\ude00"}', JSON, "\N{GRINNING FACE}"),
        (b'\xef\xbb\xbf{"goal": "x"}', JSON, "x"),
        (b'{"goal": "x"}', "application/json; charset=utf-8", "x"),
        (b'{"goal": "x"}', 'Application/JSON;charset="UTF-8"', "x"),
    ],
)
def test_json_in_utf_8_is_read(raw: bytes, content_type: str, goal: str, agent: Agent) -> None:
    response = agent.post("/drafts", data=raw, content_type=content_type)

    assert (response.status_code, response.json["goal"]) == (201, goal)


@pytest.mark.parametrize(
    ("headers", "begins"),
    [
        ({}, "Content-Type: is missing; "),
        ({"Content-Type": ""}, "Content-Type: is missing; "),
        ({"Content-Type": "text/plain"}, 'Content-Type: is "text/plain"; '),
        ({"Content-Type": "multipart/form-data; boundary=x"}, "Content-Type: "),
        ({"Content-Type": "application/json-patch+json"}, "Content-Type: "),
        ({"Content-Type": "application/json; charset=utf-16"}, "Content-Type: "),
        ({"Content-Type": "application/json; charset=latin-1"}, "Content-Type: "),
        ({"Content-Type": "\xff"}, "Content-Type: "),
        ({"Content-Type": JSON, "Content-Encoding": "gzip"}, 'Content-Encoding: is "gzip"; '),
    ],
)
def test_another_content_type_or_encoding_is_refused(
    headers: dict[str, str], begins: str, agent: Agent
) -> None:
    assert_readable(agent.post("/drafts", data=b"{}", headers=headers), "invalid_json", begins)


@pytest.mark.parametrize(("size", "status"), [(-1, 201), (0, 201), (1, 400), (20_000_000, 400)])
def test_a_body_has_a_largest_size(size: int, status: int, agent: Agent) -> None:
    raw = b"{}".ljust(API_BODY_MAX_BYTES + size)

    assert agent.post("/drafts", data=raw, content_type=JSON).status_code == status


def test_a_body_shorter_than_announced_is_refused(agent: Agent) -> None:
    response = agent.post(
        "/drafts",
        input_stream=BytesIO(b"{"),
        content_type=JSON,
        headers={"Content-Length": "100"},
    )

    assert refusal(response) == (400, "invalid_json")


@pytest.mark.parametrize(
    "path", ["", "/", "/nothing", "/drafts/", "/forms/", "/forms//responses", "//forms", "/r/x"]
)
def test_an_unknown_address_is_answered_in_four_fields(path: str, client: FlaskClient) -> None:
    assert_readable(client.get(f"/api{path}"), "not_found")


def test_outside_of_the_api_people_get_a_page(client: FlaskClient) -> None:
    response = client.get("/apis")

    assert (response.status_code, response.mimetype) == (404, "text/html")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/drafts", "OPTIONS, POST"),
        ("DELETE", "/drafts/x", "GET, HEAD, OPTIONS, PATCH"),
        ("GET", "/drafts/x/publish", "OPTIONS, POST"),
        ("POST", "/forms", "GET, HEAD, OPTIONS"),
        ("POST", "/openapi", "GET, HEAD, OPTIONS"),
        ("BREW", "/forms", "GET, HEAD, OPTIONS"),
        ("X" * 9000, "/forms", "GET, HEAD, OPTIONS"),
    ],
)
def test_another_method_is_answered_with_those_allowed(
    method: str, path: str, allowed: str, client: FlaskClient
) -> None:
    response = client.open(f"/api{path}", method=method)

    assert_readable(response, "method_not_allowed", method[:20])
    assert response.headers["Allow"] == allowed


@pytest.mark.parametrize("path", ["/drafts", "/drafts/x/publish", "/forms/x/responses"])
def test_options_needs_no_token(path: str, client: FlaskClient) -> None:
    response = client.options(f"/api{path}")

    assert (response.status_code, response.data) == (200, b"")
    assert "OPTIONS" in response.headers["Allow"]


def test_an_unknown_host_is_refused_with_the_public_address(agent: Agent) -> None:
    response = agent.app.test_client().get("/api/forms", headers={"Host": "10.0.0.7:8000"})

    assert_readable(response, "validation_failed", "Host: ")
    assert "http://127.0.0.1:8000" in response.json["resolution"]


def test_no_csrf_token_is_asked_for(agent: Agent) -> None:
    response = agent.post("/drafts", json={}, headers={"Origin": "https://elsewhere.example"})

    assert response.status_code == 201


def test_an_internal_error_is_rolled_back_and_reveals_nothing_but_the_request_id(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, draft_id: str
) -> None:
    def break_down(*_: Any) -> Any:
        raise RuntimeError("secret detail")

    path, headers = f"/drafts/{draft_id}", {"X-Request-Id": "request-7"}
    with monkeypatch.context() as patched:
        patched.setattr("webapp.drafts.editing.content_hash", break_down)
        broken = agent.patch(path, json={"title": "New"}, headers=headers)

    assert_readable(broken, "internal_error")
    assert broken.json["resolution"].endswith(" request id request-7.")
    assert "secret" not in broken.text
    assert agent.get(path).json["title"] == "Rota"


@both_databases
@pytest.mark.parametrize("path", ["/drafts/{}", "/forms/{}", "/forms/{}/responses"])
@pytest.mark.parametrize("hostile", ["%00%FF", "x" * 41])
def test_malformed_ids_cause_no_database_error(path: str, hostile: str, agent: Agent) -> None:
    assert agent.get(path.format(hostile)).status_code == 404

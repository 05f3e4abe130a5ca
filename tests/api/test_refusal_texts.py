"""The texts of every refusal of every operation."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.api.conftest import Agent, Confirm
from tests.api.readable import assert_readable
from webapp.answers.trash import discard_draft
from webapp.base.database import utc_now
from webapp.records import forms
from webapp.records.accounts.models import Account

JSON = "application/json"
WRITES = ["POST /drafts", "PATCH /drafts/{draft}"]
# method and path, the request, its code and how its message begins
BODIES: list[tuple[dict[str, Any], str, str]] = [
    ({"data": b""}, "invalid_json", "body: is empty"),
    ({"data": b" \n"}, "invalid_json", "body: is empty"),
    ({"data": b"{"}, "invalid_json", "body: is not JSON at line 1, column 2."),
    ({"data": b'{"title":\n x}'}, "invalid_json", "body: is not JSON at line 2, column 2."),
    ({"data": b"{} {}"}, "invalid_json", "body: is not JSON at line 1, column 4."),
    ({"data": b'{"title": "\xff"}'}, "invalid_json", "body: is not UTF-8 at byte 12."),
    ({"data": b'{"title": NaN}'}, "invalid_json", "body: has NaN"),
    ({"data": b'{"a": 1, "a": 2}'}, "invalid_json", 'body: has the field "a" twice'),
    ({"data": b'{"maxTotalQuestions": 1e999}'}, "invalid_json", "body: has a number that is too"),
    ({"data": b'{"maxTotalQuestions": ' + b"9" * 5000 + b"}"}, "invalid_json", "body: has a num"),
    ({"data": b"[" * 100_000}, "invalid_json", "body: is nested too deeply."),
    ({"data": b"x" * 300_000}, "payload_too_large", "body: is larger than 256 KiB."),
    ({"content_type": "text/plain"}, "invalid_json", 'Content-Type: is "text/plain"; '),
    ({"content_type": None}, "invalid_json", "Content-Type: is missing; "),
    ({"headers": {"Content-Encoding": "gzip"}}, "invalid_json", 'Content-Encoding: is "gzip"; '),
    ({"data": b"[]"}, "validation_failed", "body: is an array; "),
    ({"json": {"title": "x" * 134}}, "validation_failed", "title: has 134 characters; at most 120"),
    ({"json": {"goal": "x" * 2001}}, "validation_failed", "goal: has 2001 characters; at most"),
    ({"json": {"context": "x" * 4001}}, "validation_failed", "context: has 4001 characters; at m"),
    ({"json": {"questions": []}}, "validation_failed", "questions: has 0 items; at least 1"),
    ({"json": {"questions": ["x"] * 21}}, "validation_failed", "questions: has 21 items; at most"),
    ({"json": {"questions": [7]}}, "validation_failed", "questions[0]: is 7; "),
    ({"json": {"questions": [{}]}}, "validation_failed", "questions[0].text: is missing"),
    ({"json": {"followUpMode": "x"}}, "validation_failed", 'followUpMode: is "x"; "none", "smart"'),
    ({"json": {"responseMode": None}}, "validation_failed", "responseMode: is null; "),
    ({"json": {"maxTotalQuestions": 51}}, "validation_failed", "maxTotalQuestions: is 51; a whole"),
    ({"json": {"settings": {}}}, "unknown_field", "settings: is not a field"),
    ({"json": {"title": "a\x07"}}, "invalid_text", "title: contains the control character U+0007"),
    ({"data": b'{"goal": "\\ud800"}'}, "invalid_text", "goal: contains half of a surrogate pair"),
    ({"json": {"followUpMode": "smart"}}, "context_required", "context: "),
]


@pytest.mark.parametrize("operation", WRITES)
@pytest.mark.parametrize(("request_", "code", "begins"), BODIES, ids=lambda value: str(value)[:50])
def test_a_body_is_refused_by_its_field(
    operation: str, request_: dict[str, Any], code: str, begins: str, agent: Agent, draft_id: str
) -> None:
    method, _, path = operation.partition(" ")
    sent = request_ if "json" in request_ else {"data": b"{}", "content_type": JSON} | request_

    response = agent.call(method, path.format(draft=draft_id), **sent)

    assert_readable(response, code, begins)


@pytest.mark.parametrize(
    ("operation", "headers", "code", "begins"),
    [
        ("POST /drafts", {"Idempotency-Key": "x" * 256}, "validation_failed", "Idempotency-Key: h"),
        ("GET /drafts/{draft}?wait=26", {}, "validation_failed", 'wait: is "26"; a whole number'),
        ("GET /drafts/{draft}?wait=", {}, "validation_failed", 'wait: is ""; '),
        ("GET /drafts/{draft}?wait=%FF%00", {}, "validation_failed", "wait: is "),
        ("GET /forms/x/responses?since=soon", {}, "invalid_since", 'since: is "soon"; '),
        ("GET /forms/x/responses?since=%00", {}, "invalid_since", 'since: is "\\u0000"; '),
        ("POST /drafts", {"Host": "else.example"}, "validation_failed", "Host: "),
        ("PATCH /drafts/{draft}", {"If-Match": "x"}, "revision_conflict", "If-Match: names no rev"),
        ("PATCH /drafts/{draft}", {"If-Match": '"9"'}, "revision_conflict", "If-Match: The draft"),
        ("POST /drafts/{draft}/publish", {"If-Match": '"9"'}, "revision_conflict", "If-Match: "),
        ("POST /drafts/{draft}/publish", {}, "draft_not_confirmed", "The creator has not"),
        ("GET /drafts/x", {}, "draft_not_found", "There is no draft"),
        ("PATCH /drafts/x", {}, "draft_not_found", "There is no draft"),
        ("POST /drafts/x/publish", {}, "draft_not_found", "There is no draft"),
        ("GET /forms/x", {}, "form_not_found", "There is no form"),
        ("GET /forms/x/responses", {}, "form_not_found", "There is no form"),
        ("GET /nothing", {}, "not_found", "There is nothing"),
        ("PUT /forms", {}, "method_not_allowed", "PUT is not possible"),
        ("X" * 9000 + " /forms", {}, "method_not_allowed", "XXXX"),
    ],
)
def test_a_request_is_refused_by_what_is_wrong(
    operation: str, headers: dict[str, str], code: str, begins: str, agent: Agent, draft_id: str
) -> None:
    method, _, path = operation.partition(" ")
    more: dict[str, Any] = {"json": {}} if method == "PATCH" or path == "/drafts" else {}

    response = agent.call(method, path.format(draft=draft_id), headers=headers, **more)

    assert_readable(response, code, begins)


def test_a_key_that_cannot_be_used_again_is_named(agent: Agent, account: Account) -> None:
    headers = {"Idempotency-Key": "k"}
    made = agent.post("/drafts", json={}, headers=headers).json["draftId"]

    other_body = agent.post("/drafts", json={"title": "x"}, headers=headers)
    with agent.app.app_context():
        discard_draft(account.id, made, now=utc_now())
    discarded = agent.post("/drafts", json={}, headers=headers)

    for response in (other_body, discarded):
        assert_readable(response, "idempotency_key_reused", "Idempotency-Key: was used ")


def test_an_incomplete_draft_names_the_fields_to_fill(agent: Agent) -> None:
    made = agent.post("/drafts", json={"questions": ["Who?", " "]}).json["draftId"]

    response = agent.post(f"/drafts/{made}/publish")

    assert_readable(response, "draft_incomplete", "title, questions[1].text: The draft lacks ")


def test_a_missing_draft_may_have_been_discarded(agent: Agent) -> None:
    message = agent.get("/drafts/x").json["message"]

    assert "draftId" in message
    assert "or its creator discarded it" in message


@pytest.mark.parametrize("path", ["/forms/x", "/forms/x/responses"])
def test_a_missing_form_may_have_been_deleted(path: str, agent: Agent) -> None:
    message = agent.get(path).json["message"]

    assert "formId" in message
    assert "or its creator deleted it" in message


def changed_since(agent: Agent, draft_id: str, confirm: Confirm) -> None:
    confirm(draft_id)
    agent.patch(f"/drafts/{draft_id}", json={"title": "Changed"})


@pytest.mark.parametrize(
    ("code", "prepare"),
    [("draft_not_confirmed", lambda *_: None), ("confirmation_stale", changed_since)],
)
def test_rate_limit_refusals_name_the_limit_and_the_wait(
    code: str,
    prepare: Callable[[Agent, str, Confirm], None],
    agent: Agent,
    draft_id: str,
    confirm: Confirm,
) -> None:
    prepare(agent, draft_id, confirm)

    response = agent.post(f"/drafts/{draft_id}/publish")

    assert_readable(response, code)
    address = re.search(r"GET http://127.0.0.1:8000/api(\S+)", response.json["resolution"])
    assert address is not None
    assert address[1] == f"/drafts/{draft_id}?wait=25"
    assert agent.get(address[1].replace("wait=25", "wait=0")).status_code == 200


def test_a_published_draft_cannot_change(agent: Agent, draft_id: str, confirm: Confirm) -> None:
    confirm(draft_id)
    agent.post(f"/drafts/{draft_id}/publish")

    response = agent.patch(f"/drafts/{draft_id}", json={"title": "x"})

    assert_readable(response, "draft_already_published", "The draft is published")


@pytest.mark.constants("api.rate_limits", UPDATES_RATE="1/2hour")
@pytest.mark.settings(limit_create_draft="1/minute")
def test_a_limit_is_described_as_a_sentence(agent: Agent) -> None:
    made = agent.post("/drafts", json={}).json["draftId"]
    agent.patch(f"/drafts/{made}", json={})

    create, change = agent.post("/drafts", json={}), agent.patch(f"/drafts/{made}", json={})

    assert_readable(create, "rate_limited", "Too many write operations")
    assert "the limit of new drafts is 1 per minute." in create.json["message"]
    assert "the limit of changes of drafts is 1 per 2 hours." in change.json["message"]
    assert f" in {create.headers['Retry-After']} seconds." in create.json["resolution"]
    assert " in 2 hours." in change.json["resolution"]


def test_an_internal_error_names_the_request_id(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(_account_id: str) -> Any:
        raise RuntimeError

    monkeypatch.setattr(forms, "list_forms", break_down)

    response = agent.get("/forms", headers={"X-Request-Id": "request-7"})

    assert_readable(response, "internal_error")
    assert response.json["resolution"].endswith(" request id request-7.")

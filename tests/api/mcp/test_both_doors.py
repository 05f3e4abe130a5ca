"""What REST refuses, tools refuse in the same words; both count together."""

from typing import Any

import pytest
from flask import Flask

from tests.api.conftest import Agent, Confirm
from tests.api.mcp.conftest import Host, Hosted, refused
from tests.factories import make_draft
from webapp.base.vocabulary import Scope
from webapp.records.accounts.models import Account

CREATE, CHANGE = "POST /drafts", "PATCH /drafts/{draftId}"
PUBLISH, RESPONSES = "POST /drafts/{draftId}/publish", "/forms/{formId}/responses"
# a call by REST, its tool, what both are given, and the code of the refusal
REFUSED: list[tuple[str, str, dict[str, Any], str]] = [
    (CREATE, "create_form_draft", {"title": 7}, "validation_failed"),
    (CREATE, "create_form_draft", {"colour": "red"}, "unknown_field"),
    (CREATE, "create_form_draft", {"title": "a\0"}, "invalid_text"),
    (CREATE, "create_form_draft", {"followUpMode": "smart"}, "context_required"),
    (CREATE, "create_form_draft", {"questions": ["x" * 300_000]}, "payload_too_large"),
    (CHANGE, "update_form_draft", {"title": 7}, "validation_failed"),
    (CHANGE, "update_form_draft", {}, "draft_already_published"),
    ("PATCH /drafts/drf_x", "update_form_draft", {"draftId": "drf_x"}, "draft_not_found"),
    ("GET /drafts/drf_x", "get_form_draft", {"draftId": "drf_x"}, "draft_not_found"),
    (PUBLISH, "publish_form_draft", {}, "draft_not_confirmed"),
    (PUBLISH, "publish_form_draft", {}, "confirmation_stale"),
    (PUBLISH, "publish_form_draft", {}, "draft_incomplete"),
    ("GET /forms/frm_x", "get_form", {"formId": "frm_x"}, "form_not_found"),
    ("GET /forms/x/responses", "get_form_responses", {"formId": "x"}, "form_not_found"),
    (f"GET {RESPONSES}?since=x", "get_form_responses", {"since": "x"}, "invalid_since"),
    ("GET /forms/{formId}/attachments/x", "get_attachment", {"attachmentId": "x"}, "not_found"),
    ("POST /forms/{formId}/agent-tokens", "create_agent_token", {"label": 7}, "validation_failed"),
]


@pytest.fixture
def host(hosted: Hosted, account: Account, version: str) -> Host:
    return hosted(account.id, tuple(Scope), version)


@pytest.mark.parametrize("refusal", REFUSED, ids=lambda each: f"{each[1]} {each[3]}")
def test_a_refusal_is_the_same_by_both_doors(
    agent: Agent, host: Host, form: Any, draft_id: str, confirm: Confirm, refusal: Any
) -> None:
    call, tool, given, code = refusal
    method, _, path = call.partition(" ")
    if code == "draft_incomplete":
        draft_id = agent.post("/drafts", json={"questions": ["Who?"]}).json["draftId"]
    if code in ("draft_already_published", "confirmation_stale"):
        confirm(draft_id)
        then = ("POST", "/publish") if code == "draft_already_published" else ("PATCH", "")
        agent.call(then[0], f"/drafts/{draft_id}{then[1]}", json={"title": "New"})
    ids = {"draftId": draft_id, "formId": form.id}
    named = {name: value for name, value in ids.items() if f"{{{name}}}" in path}
    body = {name: value for name, value in given.items() if not name.endswith("Id")}
    request = {"json": body} if method != "GET" else {}

    by_rest = agent.call(method, path.format(**ids), **request).json
    by_tool = refused(host.use(tool, **named | given))

    message = by_rest["message"].replace("body: ", "arguments: ")
    assert (by_tool["code"], by_tool["message"]) == (code, message)
    assert by_rest["code"] == code


@pytest.mark.parametrize(
    ("path", "tool"),
    [
        ("/drafts", "create_form_draft"),
        ("/drafts/{draftId}", "update_form_draft"),
        ("/drafts/{draftId}/publish", "publish_form_draft"),
        ("/forms/{formId}/agent-tokens", "create_agent_token"),
    ],
)
@pytest.mark.constants("api.rate_limits", UPDATES_RATE="2/minute")
@pytest.mark.settings(
    limit_create_draft="2/minute",
    limit_publish="2/minute",
    limit_agent_tokens="2/hour",
    publish_confirmation="agent",
)
def test_a_use_case_is_counted_once_for_both_doors(
    app: Flask, agent: Agent, host: Host, form: Any, path: str, tool: str
) -> None:
    def is_refused(*, by_tool: bool) -> bool:
        with app.app_context():
            ids = {"draftId": make_draft(form.account_id).id, "formId": form.id}
        if not by_tool:
            method = "PATCH" if tool == "update_form_draft" else "POST"
            return agent.call(method, path.format(**ids), json={}).status_code == 429
        found = host.use(tool, **{name: ids[name] for name in ids if name in path})
        return found.is_error and refused(found)["code"] == "rate_limited"

    assert [is_refused(by_tool=each) for each in (True, False, False, True)] == [
        *(False, False, True, True)
    ]


@pytest.mark.settings(limit_create_draft="1/minute", limit_writes="1/minute")
def test_refused_arguments_use_no_quota(host: Host) -> None:
    wrong: list[dict[str, Any]] = [{"title": 1}, {"colour": "red"}, {"followUpMode": "smart"}]
    codes = [refused(host.use("create_form_draft", **each))["code"] for each in wrong * 3]

    assert codes == ["validation_failed", "unknown_field", "context_required"] * 3
    assert not host.use("create_form_draft").is_error
    answer = host.send("tools/call", {"name": "create_form_draft", "arguments": {}})
    limited = refused(host.use("create_form_draft"))
    assert (answer.status_code, "Retry-After" in answer.headers) == (200, False)
    assert limited["code"] == "rate_limited"
    assert limited["resolution"].startswith("Send the same request again in ")

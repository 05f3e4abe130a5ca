"""Every refusal that REST documents is the same by a tool, in the same words, and uses no quota"""

import re
from typing import Any

import pytest
from flask import Flask
from mcp_types import CallToolResult

from api.openapi.operations import Operation
from tests.api.conftest import Agent, Confirm
from tests.api.mcp.conftest import Host, Hosted, refused
from tests.api.provoking import CASES, PROVOKE, Scene
from tests.factories import make_draft, make_form
from webapp.base.vocabulary import Scope
from webapp.records.accounts.models import Account

HAVE_TOOLS = {
    "createServiceDraft",
    "updateServiceDraft",
    "publishServiceDraft",
    "getServiceDraft",
    "getService",
    "getServiceResponses",
    "getAttachment",
    "createAgentToken",
}
# refused before there is a tool call, or for a header that tools do not have
NOT_BY_TOOLS = {
    "authentication_required",
    "invalid_json",
    "idempotency_key_reused",
    "revision_conflict",
    "not_found",  # an empty id is no path; an argument is refused as such
    "range_not_satisfiable",
    "internal_error",
    "storage_unavailable",
}
# a body that is ignored, or a label that no tool can make so long
TOO_LARGE_BY_REST_ONLY = {"publishServiceDraft", "createAgentToken"}
NAMED_OTHERWISE = {"wait: ": "timeoutSeconds: ", "body: is ": "arguments: is "}


def is_of_both(operation: Operation, code: str) -> bool:
    if code == "payload_too_large" and operation.id in TOO_LARGE_BY_REST_ONLY:
        return False
    return operation.id in HAVE_TOOLS and code not in NOT_BY_TOOLS


BOTH = [(operation, code) for operation, code in CASES if is_of_both(operation, code)]


@pytest.fixture
def by_tools(hosted: Hosted, account: Account, version: str) -> Any:
    return AgentByTools(hosted(account.id, tuple(Scope), version))


@pytest.mark.parametrize(
    ("operation", "code"), BOTH, ids=[f"{operation.id} {code}" for operation, code in BOTH]
)
def test_a_refusal_is_the_same_by_both_doors(
    operation: Operation, code: str, agent: Agent, by_tools: Any, account: Account, confirm: Confirm
) -> None:
    by_rest = provoked(agent, operation, code, agent, account, confirm)
    refused = provoked(by_tools, operation, code, agent, account, confirm)

    assert refused["code"] == by_rest["code"] == code
    expected = by_rest["message"]
    for begins, other in NAMED_OTHERWISE.items():
        if expected.startswith(begins):
            expected = other
    assert refused["message"].startswith(expected)


def provoked(
    door: Any, operation: Operation, code: str, agent: Agent, account: Account, confirm: Confirm
) -> dict[str, str]:
    """The refusal of a call on a draft and a form of its own."""
    body = {"questions": ["Who changed it?", "What went wrong?"]}
    if code != "draft_incomplete":  # no tool takes a title away
        body |= {"title": "Rota"}
    draft_id = agent.post("/drafts", json=body).json["draftId"]
    with agent.app.app_context():
        form_id = make_form(account.id).id
    refused: dict[str, str] = PROVOKE[code](Scene(door, operation, draft_id, form_id), confirm).json
    return refused


def used_up(answer: Any) -> bool:
    """Whether a call was refused by a limit, whichever door it came through."""
    found = answer.json
    return bool(found and found.get("code") == "rate_limited")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/drafts"),
        ("PATCH", "/drafts/{draft}"),
        ("POST", "/drafts/{draft}/publish"),
        ("POST", "/forms/{form}/agent-tokens"),
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
    app: Flask, agent: Agent, by_tools: Any, form: Any, method: str, path: str
) -> None:
    with app.app_context():
        paths = [path.format(draft=make_draft(form.account_id).id, form=form.id) for _ in range(4)]
    calls = zip((by_tools, agent, agent, by_tools), paths, strict=True)

    refused = [used_up(door.call(method, each, json={})) for door, each in calls]

    assert refused == [False, False, True, True]


@pytest.mark.settings(limit_create_draft="1/minute", limit_writes="1/minute")
def test_refused_arguments_use_no_quota(by_tools: Any) -> None:
    wrong = [{"title": 1}, {"colour": "red"}, {"followUpMode": "smart"}]
    codes = [by_tools.post("/drafts", json=each).json["code"] for each in wrong * 3]

    assert codes == ["validation_failed", "unknown_field", "context_required"] * 3
    assert [used_up(by_tools.post("/drafts")) for _ in range(2)] == [False, True]


@pytest.mark.settings(limit_create_draft="1/minute")
def test_a_limit_is_a_result_that_says_how_long_to_wait(host: Host) -> None:
    host.use("create_form_draft")

    answer = host.send("tools/call", {"name": "create_form_draft", "arguments": {}})
    refused = AgentByTools(host).post("/drafts").json

    assert answer.status_code == 200
    assert "Retry-After" not in answer.headers
    assert refused["code"] == "rate_limited"
    assert refused["resolution"].startswith("Send the same request again in ")


PATHS = (
    ("POST", r"/drafts", "create_form_draft"),
    ("PATCH", r"/drafts/(?P<draftId>.+)", "update_form_draft"),
    ("GET", r"/drafts/(?P<draftId>.+)", "get_form_draft"),
    ("POST", r"/drafts/(?P<draftId>.+)/publish", "publish_form_draft"),
    ("GET", r"/forms", "list_forms"),
    ("GET", r"/forms/(?P<formId>[^/]+)", "get_form"),
    ("GET", r"/forms/(?P<formId>.+)/responses", "get_form_responses"),
    ("GET", r"/forms/(?P<formId>.+)/attachments/(?P<attachmentId>.+)", "get_attachment"),
    ("POST", r"/forms/(?P<formId>.+)/agent-tokens", "create_agent_token"),
)
QUERY = {"wait": "timeoutSeconds", "since": "since"}
TAKE_FIELDS = {"create_form_draft", "update_form_draft", "create_agent_token"}


class Refused:
    """A refusal as an answer of REST; `json` is None where the call was carried out."""

    def __init__(self, result: CallToolResult) -> None:
        self.json = refused(result) if result.is_error else None


class AgentByTools:
    """As the agent of REST, for what has a tool."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.app = host.app

    def call(self, method: str, path: str, **request: Any) -> Any:
        tool, arguments = tool_of(method, path)
        if tool in TAKE_FIELDS:
            arguments |= request.get("json", {})
        if "data" in request:  # too much of it
            arguments |= {"goal": "", "questions": [request["data"].decode()]}
        return Refused(self.host.use(tool, **arguments))

    def patch(self, path: str, **request: Any) -> Any:
        return self.call("PATCH", path, **request)

    def post(self, path: str, **request: Any) -> Any:
        return self.call("POST", path, **request)


def tool_of(method: str, path: str) -> tuple[str, dict[str, Any]]:
    """The tool of a call, and its arguments that stand in the path or the query."""
    path, _, query = path.partition("?")
    for known, pattern, tool in PATHS:
        if known == method and (found := re.fullmatch(pattern, path)):
            name, _, value = query.partition("=")
            given = {QUERY[name]: value} if query else {}
            return tool, found.groupdict() | given
    raise AssertionError(f"there is no tool for {method} {path}")

"""Every refusal that REST documents is the same by a tool, in the same words, and uses no quota"""

import re
from typing import Any

import pytest
from flask import Flask

from api.openapi.operations import Operation
from tests.api.conftest import Agent, Confirm
from tests.api.mcp.by_tools import AgentByTools
from tests.api.mcp.conftest import Host, Hosted
from tests.api.provoking import CASES, PROVOKE, Scene
from tests.factories import make_draft, make_form
from webapp.base.vocabulary import Scope
from webapp.records.accounts.models import Account
from webapp.web.limiter import limiter

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
    message, resolution = by_rest["message"], by_rest["resolution"]
    for begins, other in NAMED_OTHERWISE.items():
        if message.startswith(begins):
            assert refused["message"].startswith(other)
            return
    assert refused["message"] == message
    assert common(refused["resolution"], code) == common(resolution, code)


def common(resolution: str, code: str) -> object:
    """What both doors say: tools have as arguments the ids of paths and the note of the header, and
    a wait of their own.
    """
    if code == "unknown_field":
        return set(re.findall(r"\w+", resolution)) - {
            "and",
            "draftId",
            "formId",
            "note",
            "followUps",
        }
    return resolution.partition(" The review page is")[0]


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


def publish(door: Any, draft_id: str) -> bool:
    return used_up(door.post(f"/drafts/{draft_id}/publish"))


def make(door: Any) -> bool:
    return used_up(door.post("/drafts", json={"title": "Rota", "questions": ["Who?"]}))


def confirmed(agent: Agent, confirm: Confirm, number: int) -> list[str]:
    body = {"title": "Rota", "questions": ["Who?"]}
    ids = [agent.post("/drafts", json=body).json["draftId"] for _ in range(number)]
    for draft_id in ids:
        confirm(draft_id)
    return ids


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/drafts"),
        ("PATCH", "/drafts/{draft}"),
        ("POST", "/forms/{form}/agent-tokens"),
    ],
)
@pytest.mark.constants("api.rate_limits", UPDATES_RATE="2/minute")
@pytest.mark.settings(limit_create_draft="2/minute", limit_agent_tokens="2/hour")
def test_a_use_case_is_counted_once_for_both_doors(
    app: Flask, agent: Agent, by_tools: Any, form: Any, method: str, path: str
) -> None:
    with app.app_context():
        path = path.format(draft=make_draft(form.account_id).id, form=form.id)
    doors = by_tools, agent, agent, by_tools

    refused = [used_up(door.call(method, path, json={})) for door in doors]

    assert refused == [False, False, True, True]


@pytest.mark.settings(limit_writes="3/minute")
def test_all_writes_of_one_token_are_limited_together(
    host: Host, account: Account, form: Any
) -> None:
    made = host.use("create_form_draft")
    assert made.structured_content is not None
    host.use("update_form_draft", draftId=made.structured_content["draftId"])
    host.use("create_agent_token", formId=form.id)

    refused = AgentByTools(host).post("/drafts").json

    assert refused["code"] == "rate_limited"
    assert "write operations of one connection is 3 per minute" in refused["message"]
    assert not host.use("list_forms").is_error


@pytest.mark.settings(limit_publish="2/minute", limit_writes="2/minute")
def test_refused_and_repeated_publishes_use_no_quota(
    agent: Agent, by_tools: Any, confirm: Confirm
) -> None:
    unconfirmed = agent.post("/drafts", json={}).json["draftId"]
    limiter.reset()
    first, second = confirmed_without_counting(agent, confirm)

    for _ in range(5):
        assert by_tools.post(f"/drafts/{unconfirmed}/publish").json["code"] == "draft_incomplete"
        assert by_tools.post("/drafts/drf_unknown/publish").json["code"] == "draft_not_found"
    assert not any(publish(by_tools, first) for _ in range(5))
    assert not publish(by_tools, second)
    assert publish(by_tools, "drf_unknown")


def confirmed_without_counting(agent: Agent, confirm: Confirm) -> list[str]:
    found = confirmed(agent, confirm, 2)
    limiter.reset()
    return found


@pytest.mark.settings(limit_create_draft="1/minute", limit_writes="1/minute")
def test_refused_arguments_use_no_quota(by_tools: Any) -> None:
    wrong = [{"title": 1}, {"colour": "red"}, {"followUpMode": "smart"}]
    codes = [by_tools.post("/drafts", json=each).json["code"] for each in wrong * 3]

    assert codes == ["validation_failed", "unknown_field", "context_required"] * 3
    assert [make(by_tools), make(by_tools)] == [False, True]


@pytest.mark.settings(limit_create_draft="1/minute")
def test_a_limit_is_a_result_that_says_how_long_to_wait(host: Host) -> None:
    host.use("create_form_draft")

    answer = host.send("tools/call", {"name": "create_form_draft", "arguments": {}})
    refused = AgentByTools(host).post("/drafts").json

    assert answer.status_code == 200
    assert "Retry-After" not in answer.headers
    assert (
        refused["message"] == "Too many write operations: the limit of new drafts is 1 per minute."
    )
    assert refused["resolution"].startswith("Send the same request again in ")
    assert refused["resolution"].endswith((" seconds.", " minute."))

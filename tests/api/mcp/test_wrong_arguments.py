"""Whatever a tool is given, its caller can mend; refusals and limits are those of REST."""

from itertools import product
from typing import Any

import pytest
from flask import Flask

from api.mcp.endpoint import METHODS
from api.mcp.tools.table import TOOLS, Tool
from tests.api.conftest import Agent
from tests.api.mcp.conftest import LEGACY, Host, Hosted, refused
from tests.api.provoking import OF_LIBRARIES, TELLS_WHAT_TO_DO
from tests.databases import on_postgresql
from tests.factories import make_draft, make_response
from webapp.base.vocabulary import Scope
from webapp.records.accounts.models import Account

WRONG: list[Any] = [70, -1, 1.5, True, 1e300, 10**30, [], [[]], {}, {"a": {"b": []}}, [None]]
WRONG += ["", "x", "\0", "\ud800", "\u202e", "x" * 300_000]
every_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)


@pytest.mark.settings(write_limits=False)
@on_postgresql
@every_tool
def test_a_wrong_argument_is_refused_in_words(
    tool: Tool, hosted: Hosted, account: Account, draft_id: str, form: Any
) -> None:
    host, known = hosted(account.id), {"draftId": draft_id, "formId": form.id}
    with host.app.app_context():
        make_response(form)  # so that nothing is waited for
    schema: Any = tool.listed(events=True)["inputSchema"]
    needed = {name: known.get(name, "x") for name in schema.get("required", ())}
    wrong: list[dict[str, Any]] = [{}, {"colour": "red"}, {"\0": 1}, {"\ud800": 1}]
    wrong += [needed | {name: value} for name, value in product(schema["properties"], WRONG)]

    for arguments in wrong:
        found = host.use(tool.name, **arguments)
        if found.is_error:
            fields = refused(found)
            assert OF_LIBRARIES.search(fields["message"] + fields["resolution"]) is None, fields
            assert TELLS_WHAT_TO_DO.match(fields["resolution"]), fields


def test_wrong_parameters_and_members_of_every_method_are_no_fault(host: Host, form: Any) -> None:
    delivery = {"mode": "webhook", "url": "http://127.0.0.1:9/", "secret": "whsec_" + "a" * 44}
    right = {"name": "response.submitted", "arguments": {"formId": form.id}, "delivery": delivery}
    right |= dict.fromkeys(("cursor", "ttlMs", "maxAgeMs", "protocolVersion", "requestState"))

    for method, value in product(METHODS, WRONG[::3]):
        for params in (value, *(right | {name: value} for name in right)):
            body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
            answer = host.post(body, {"MCP-Protocol-Version": LEGACY})
            assert (answer.status_code, answer.json["id"]) == (200, 7), (method, params)
            assert answer.json.get("error", {}).get("code") != -32603, (method, params)
            assert host.token not in answer.text


@pytest.mark.parametrize("unset", [None, "", []])
def test_an_argument_that_serialisers_write_as_unset_is_absent(
    host: Host, form: Any, unset: Any
) -> None:
    for tool, names in (
        ("list_forms", ("cursor", "limit")),
        ("get_form_responses", ("since", "limit")),
        ("create_form_draft", ("title", "questions", "followUpMode", "followUps", "note")),
    ):
        given = {"formId": form.id} if tool == "get_form_responses" else {}
        assert not host.use(tool, **given, **dict.fromkeys(names, unset)).is_error


# a call by REST, its tool, what both are given, and the code of the refusal
REFUSED: list[tuple[str, str, dict[str, Any], str]] = [
    ("POST /drafts", "create_form_draft", {"title": 7}, "validation_failed"),
    ("GET /drafts/drf_x", "get_form_draft", {"draftId": "drf_x"}, "draft_not_found"),
    ("POST /drafts/{draftId}/publish", "publish_form_draft", {}, "draft_not_confirmed"),
    ("GET /forms/frm_x", "get_form", {"formId": "frm_x"}, "form_not_found"),
    (
        "GET /forms/{formId}/responses?since=x",
        "get_form_responses",
        {"since": "x"},
        "invalid_since",
    ),
    ("GET /forms/{formId}/attachments/x", "get_attachment", {"attachmentId": "x"}, "not_found"),
    ("POST /forms/{formId}/agent-tokens", "create_agent_token", {"label": 7}, "validation_failed"),
]


@pytest.fixture
def host(hosted: Hosted, account: Account) -> Host:
    return hosted(account.id, tuple(Scope))


@pytest.mark.parametrize("refusal", REFUSED, ids=lambda each: f"{each[1]} {each[3]}")
def test_a_refusal_is_the_same_by_both_doors(
    agent: Agent, host: Host, form: Any, draft_id: str, refusal: Any
) -> None:
    call, tool, given, code = refusal
    method, _, path = call.partition(" ")
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

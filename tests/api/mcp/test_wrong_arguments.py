"""Whatever an argument of a tool holds, the answer is a result that its caller can mend"""

from itertools import product
from typing import Any

import pytest
from flask import Flask
from mcp_types import CallToolResult
from sqlalchemy import select

from api.mcp.endpoint import METHODS
from api.mcp.tools.table import TOOLS, Tool
from tests.api.mcp.conftest import LEGACY, Host, Hosted, refused
from tests.api.provoking import OF_LIBRARIES, TELLS_WHAT_TO_DO
from tests.databases import both_databases
from tests.factories import make_draft, make_form, make_response
from tests.voice.factories import make_spoken_answer
from webapp.base.database import db
from webapp.base.text import token_hash
from webapp.records.accounts.models import Account
from webapp.records.responses.models import ResponseSession


def optional(tool: Tool) -> list[str]:
    """The arguments that may be absent."""
    schema: Any = tool.listed(events=True)["inputSchema"]
    return [name for name in schema["properties"] if name not in schema.get("required", ())]


@pytest.fixture
def known(app: Flask, account: Account) -> dict[str, str]:
    """Arguments with which every tool does something, and no wait lasts."""
    with app.app_context():
        form = make_form(account.id)
        recording_id = make_spoken_answer(form, "k" * 32).id
        key = make_response(form)
        session = select(ResponseSession.id).where(ResponseSession.key_hash == token_hash(key))
        session_id = db.session.scalars(session).one()
        draft_id = make_draft(account.id).id
    ids = {"formId": form.id, "attachmentId": recording_id}
    return ids | {"draftId": draft_id, "responseId": session_id}


def same(result: CallToolResult) -> dict[str, Any]:
    """What a second call answers, too."""
    found = result.structured_content or refused(result)
    return {name: value for name, value in found.items() if name not in NEW}


WRONG: list[Any] = [70, -1, 1.5, True, 1e300, 10**30, [], [[]], {}, {"a": {"b": []}}, [None]]
WRONG += ["", "x", "\0", "\ud800", "\u202e", "x" * 300_000]
every_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)


@pytest.mark.settings(write_limits=False)
@both_databases
@every_tool
def test_a_wrong_argument_is_refused_in_words(
    tool: Tool, hosted: Hosted, account: Account, draft_id: str, form: Any
) -> None:
    """Carried out, or refused in our words."""
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

    for method, value in product(METHODS, WRONG):
        for params in (value, *(right | {name: value} for name in right)):
            body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
            answer = host.post(body, {"MCP-Protocol-Version": LEGACY})
            assert (answer.status_code, answer.json["id"]) == (200, 7), (method, params)
            assert answer.json.get("error", {}).get("code") != -32603, (method, params)
            assert host.token not in answer.text


NEW = {"draftId", "reviewUrl", "tokenId", "token", "hint", "expiresAt", "questions"}  # each time
CLEAR = {("goal", ""), ("context", "")}


@pytest.mark.settings(write_limits=False)
@every_tool
def test_an_argument_that_serialisers_write_as_unset_is_absent(
    hosted: Hosted, account: Account, known: dict[str, Any], tool: Tool
) -> None:
    host = hosted(account.id)
    schema: Any = tool.listed(events=True)["inputSchema"]
    for field, unset in product(optional(tool), (None, "", [])):
        given = {name: known[name] for name in schema.get("required", ())}
        if tool.name == "watch_ask":
            given = {"formId" if field == "askId" else "askId": known["formId"]}
        absent, found = host.use(tool.name, **given), host.use(tool.name, **given | {field: unset})
        assert same(found) == same(absent) or (field, unset) in CLEAR, (field, unset)


def test_what_is_unset_in_a_question_or_in_all_is_absent(hosted: Hosted, account: Account) -> None:
    host = hosted(account.id)
    unset = [
        {"text": "Who?", "id": None, "context": None},
        {"text": "Why?", "id": "", "context": ""},
    ]

    made = host.use("create_form_draft", title=None, questions=unset).structured_content or {}

    assert [question.keys() for question in made["questions"]] == [{"id", "text"}] * 2
    for arguments in (None, "", []):
        found = host.result("tools/call", {"name": "list_forms", "arguments": arguments})
        assert found["structuredContent"]["formCount"] == 0


def test_an_update_by_a_serialiser_that_writes_every_field_changes_one(
    hosted: Hosted, account: Account, draft_id: str
) -> None:
    host = hosted(account.id)
    before = host.use("get_form_draft", draftId=draft_id).structured_content or {}
    unset = dict.fromkeys(optional(TOOLS["update_form_draft"]))

    found = host.use("update_form_draft", **unset | {"draftId": draft_id, "goal": "Why"})

    after = found.structured_content or {}
    assert after == {name: before[name] for name in after} | {"goal": "Why", "revision": 2}

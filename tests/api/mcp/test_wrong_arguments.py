"""Whatever an argument of a tool holds, the answer is a result that its caller can mend"""

from itertools import product
from typing import Any

import pytest
from flask import Flask
from mcp_types import CallToolResult
from sqlalchemy import select

from api.mcp.tools.table import TOOLS, Tool
from tests.api.conftest import Agent
from tests.api.mcp.conftest import Host, Hosted, refused
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


WRONG: list[Any] = [
    70,
    -1,
    1.5,
    True,
    1e300,
    10**30,
    "",
    "x",
    "\0",
    "\ud800",
    "\u202e",
    "x" * 300_000,
]
WRONG += [[], [[]], {}, {"a": {"b": []}}, [None]]


@pytest.mark.settings(write_limits=False)
@both_databases
@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_a_wrong_argument_is_refused_in_words(
    tool: Tool, hosted: Hosted, agent: Agent, account: Account, draft_id: str, form: Any
) -> None:
    host, known = hosted(account.id), {"draftId": draft_id, "formId": form.id}
    with host.app.app_context():
        make_response(form)  # so that nothing is waited for
    schema: Any = tool.listed(events=True)["inputSchema"]
    needed = {name: known.get(name, "x") for name in schema.get("required", ())}

    for name in schema["properties"]:
        for wrong in WRONG:
            check(host, tool.name, needed | {name: wrong})
    for other in ({}, {"colour": "red"}, {"\0": 1}, {"\ud800": 1}):
        check(host, tool.name, other)


def check(host: Host, tool: str, arguments: dict[str, Any]) -> None:
    """Carried out, or refused in our words."""
    found = host.use(tool, **arguments)
    if found.is_error:
        fields = refused(found)
        assert OF_LIBRARIES.search(fields["message"] + fields["resolution"]) is None, fields
        assert TELLS_WHAT_TO_DO.match(fields["resolution"]), fields


NEW = {"draftId", "reviewUrl", "tokenId", "token", "hint", "expiresAt", "questions"}  # each time
CLEAR = {("goal", ""), ("context", "")}


@pytest.mark.settings(write_limits=False)
@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_an_argument_that_serialisers_write_as_unset_is_absent(
    hosted: Hosted, account: Account, known: dict[str, Any], tool: str
) -> None:
    host = hosted(account.id)
    schema: Any = TOOLS[tool].listed(events=True)["inputSchema"]
    for field, unset in product(optional(TOOLS[tool]), (None, "", [])):
        given = {name: known[name] for name in schema.get("required", ())}
        if tool == "watch_ask":
            given = {"formId" if field == "askId" else "askId": known["formId"]}
        absent, found = host.use(tool, **given), host.use(tool, **given | {field: unset})
        assert same(found) == same(absent) or (field, unset) in CLEAR, (field, unset)


def test_what_is_unset_in_a_question_is_absent(hosted: Hosted, account: Account) -> None:
    host = hosted(account.id)
    asked = [
        {"text": "Who?", "id": None, "context": None},
        {"text": "Why?", "id": "", "context": ""},
    ]

    made = host.use("create_form_draft", title=None, questions=asked).structured_content or {}

    assert [question.keys() for question in made["questions"]] == [{"id", "text"}] * 2


def test_an_update_by_a_serialiser_that_writes_every_field_changes_one(
    hosted: Hosted, account: Account, draft_id: str
) -> None:
    host = hosted(account.id)
    before = host.use("get_form_draft", draftId=draft_id).structured_content or {}
    unset = dict.fromkeys(optional(TOOLS["update_form_draft"]))

    found = host.use("update_form_draft", **unset | {"draftId": draft_id, "goal": "Why"})

    after = found.structured_content or {}
    assert after == {name: before[name] for name in after} | {"goal": "Why", "revision": 2}


@pytest.mark.parametrize("arguments", [None, "", []])
def test_arguments_that_are_unset_are_none(
    hosted: Hosted, account: Account, version: str, arguments: Any
) -> None:
    host = hosted(account.id, version=version)

    found = host.result("tools/call", {"name": "list_forms", "arguments": arguments})

    assert found["structuredContent"]["formCount"] == 0

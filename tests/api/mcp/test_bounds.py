"""What every tool keeps to: schemas that every host takes, and results of at most 48 KiB."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from flask import Flask
from jsonschema import Draft7Validator, Draft202012Validator
from mcp_types import CallToolResult, TextContent

from api.mcp.tools.table import QUOTED, TOOLS, Tool
from tests.api.mcp.conftest import Host, refused
from tests.factories import make_account, make_draft, make_form
from webapp.base.vocabulary import Scope
from webapp.records.accounts.models import Account

RESULT_BYTES = 48 * 1024
LONG = {
    "one page": ["Who?"] * 20,
    "escaped": ['"\n\\' * 2_000] * 20,
    "one too long": ["🜂" * 40_000, "Who?"],
}
long = pytest.mark.parametrize("questions", LONG.values(), ids=LONG)


def bounded(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error
    words = [block.text for block in result.content if isinstance(block, TextContent)]
    assert len("".join(words).encode()) <= RESULT_BYTES
    assert len(orjson.dumps(result.structured_content)) <= RESULT_BYTES
    return result.structured_content


def pages(host: Host, tool: str, **arguments: Any) -> Iterator[dict[str, Any]]:
    page = bounded(host.use(tool, **arguments))
    yield page
    while cursor := page.get("nextCursor"):
        page = bounded(host.use(tool, **arguments | {"cursor": cursor}))
        yield page


def test_forms_are_listed_in_pages(app: Flask, host: Host, agent: Any, account: Account) -> None:
    with app.app_context():
        form = make_form(account.id)
    one = host.use("get_form", formId=form.id).structured_content
    assert one == agent.get(f"/forms/{form.id}").json
    assert host.use("list_forms").structured_content == agent.get("/forms").json
    with app.app_context():
        for number in range(159):
            make_form(account.id, title=f"{number} " + "🜂" * 100)

    found = list(pages(host, "list_forms", limit=7))

    whole = agent.get("/forms").json["forms"]
    assert [form for page in found for form in page["forms"]] == whole
    assert {page["formCount"] for page in found} == {160}
    assert [len(page["forms"]) for page in found] == [7] * 22 + [6]


@long
def test_a_long_form_and_its_draft_come_in_pages(
    app: Flask, host: Host, agent: Any, account: Account, questions: list[str]
) -> None:
    with app.app_context():
        form_id = make_form(account.id, questions=questions).id
        draft_id = make_draft(account.id, questions=questions).id
    whole = agent.get(f"/forms/{form_id}").json

    of_form = list(pages(host, "get_form", formId=form_id))
    of_draft = list(pages(host, "get_form_draft", draftId=draft_id))

    assert [each["id"] for page in of_form for each in page["questions"]] == [
        each["id"] for each in whole["questions"]
    ]
    for found in (of_form, of_draft):
        read = [each["text"] for page in found for each in page["questions"]]
        cut = any(page.get("textsCut") for page in found)
        assert cut == (read != questions) == (max(map(len, questions)) == 40_000)
        assert all(text.startswith(each) for text, each in zip(questions, read, strict=True))
        assert len(read[0]) > 10_000 or read == questions


def test_a_limit_is_at_least_one_item_and_a_cursor_of_its_own_list(
    app: Flask, host: Host, account: Account
) -> None:
    with app.app_context():
        mine = [make_form(account.id).id for _ in range(2)]
        foreign = make_form(make_account().id).id
        draft_id = make_draft(account.id).id
    question = bounded(host.use("get_form", formId=mine[0]))["questions"][1]["id"]

    assert bounded(host.use("get_form", formId=mine[0], cursor=question))["questions"]
    for tool, arguments in (
        ("list_forms", {"cursor": foreign}),
        ("list_forms", {"cursor": question}),
        ("get_form", {"formId": mine[1], "cursor": question}),
        ("get_form_draft", {"draftId": draft_id, "cursor": mine[0]}),
    ):
        assert refused(host.use(tool, **arguments))["code"] == "invalid_cursor"
    for limit in (0, -1, 1001, 1.5, "7", True):
        said = refused(host.use("list_forms", limit=limit))["message"]
        assert said.startswith("limit: ")
        assert "from 1 to 1000" in said


SCOPES = {
    Scope.FORMS_READ: "get_form list_forms",
    Scope.FORMS_WRITE: "create_form_draft get_form_draft publish_form_draft update_form_draft",
    Scope.RESPONSES_READ: "create_agent_token get_attachment get_completed_response "
    "get_form_responses wait_for_form_responses watch_ask",
}
# Of draft-07 and 2020-12 alike. Gemini has no field for `$schema`, `$ref`, `oneOf`, `const`,
# `default`; OpenAI refuses `oneOf`, `allOf` and formats where it is strict, Anthropic bounds of
# numbers and lengths; Ajv refuses formats that it does not know.
KEYWORDS = {"type", "description", "enum", "required", "additionalProperties", "properties"}
KEYWORDS |= {"items", "anyOf"}
TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}
every_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)


def schemas(tool: Tool) -> Iterator[Any]:
    listed: dict[str, Any] = tool.listed(events=True)
    yield listed["inputSchema"]
    yield listed["outputSchema"]


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    inside = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    for each in inside + [schema[name] for name in ("items",) if name in schema]:
        yield from nodes(each)


@every_tool
def test_every_host_and_every_vendor_of_models_reads_the_schemas(tool: Tool) -> None:
    for schema in schemas(tool):
        Draft7Validator.check_schema(schema)
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        for node in nodes(schema):
            assert node.keys() <= KEYWORDS
            if "anyOf" in node:  # Gemini: the only field; for Anthropic and OpenAI not at the root
                assert node.keys() == {"anyOf"}
                continue
            assert node["type"] in TYPES
            assert ("properties" in node) == (node["type"] == "object")
            assert ("items" in node) == (node["type"] == "array")
            assert {*node.get("required", ())} <= node.get("properties", {}).keys()
            assert all(isinstance(word, str) and word for word in node.get("enum", ()))


def test_each_tool_has_its_scope_and_says_whether_it_reads_or_quotes() -> None:
    for scope, names in SCOPES.items():
        assert " ".join(sorted(TOOLS.keys() & {*names.split()})) == names
        for name in names.split():
            listed: Any = TOOLS[name].listed(events=True)
            reads = not name.startswith(("create", "update", "publish"))
            assert listed["annotations"]["readOnlyHint"] == reads
            assert (QUOTED in listed["description"]) == (reads and scope is Scope.RESPONSES_READ)
            assert listed["_meta"] == {"securitySchemes": [{"type": "oauth2", "scopes": [scope]}]}
    assert len(TOOLS) == sum(len(names.split()) for names in SCOPES.values())

"""What every tool of the table keeps to, so that every host takes all of them"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

from api.mcp.tools.table import QUOTED, TOOLS, Tool
from tests.api.mcp.conftest import Hosted
from webapp.base.vocabulary import Scope
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import ONE_QUESTION_RULE

READS_ONLY = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True}
HINTS = {
    "create_agent_token": {},
    "create_form_draft": {},
    "update_form_draft": {"destructiveHint": True, "idempotentHint": True},
    "publish_form_draft": {"destructiveHint": True, "idempotentHint": True, "openWorldHint": True},
    "get_form": READS_ONLY,
    "get_form_draft": READS_ONLY,
    "list_forms": READS_ONLY,
    "get_attachment": READS_ONLY | {"openWorldHint": True},
    "get_completed_response": READS_ONLY | {"openWorldHint": True},
    "get_form_responses": READS_ONLY | {"openWorldHint": True},
    "wait_for_form_responses": READS_ONLY | {"openWorldHint": True},
    "watch_ask": READS_ONLY | {"openWorldHint": True},
}
SCOPES = {
    "create_form_draft": Scope.FORMS_WRITE,
    "update_form_draft": Scope.FORMS_WRITE,
    "publish_form_draft": Scope.FORMS_WRITE,
    "get_form_draft": Scope.FORMS_WRITE,
    "get_form": Scope.FORMS_READ,
    "list_forms": Scope.FORMS_READ,
}
# Of draft-07 and 2020-12 alike. Gemini has no field for `$schema`, `$ref`, `oneOf`, `const`,
# `default`; OpenAI refuses `oneOf`, `allOf` and formats where it is strict, Anthropic bounds of
# numbers and lengths; Ajv refuses formats that it does not know.
KEYWORDS = {"type", "description", "enum", "required", "additionalProperties", "properties"}
KEYWORDS |= {"items", "anyOf"}
TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}
every_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)


def schemas(tool: Tool[Any]) -> Iterator[Any]:
    listed: dict[str, Any] = tool.listed(events=True)
    yield listed["inputSchema"]
    yield listed["outputSchema"]


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema and all that are inside it."""
    yield schema
    inside = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    for each in inside + [schema[name] for name in ("items",) if name in schema]:
        yield from nodes(each)


@every_tool
def test_every_host_and_every_vendor_of_models_reads_the_schemas(tool: Tool[Any]) -> None:
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


@every_tool
def test_arguments_are_closed_and_described_and_results_may_grow(tool: Tool[Any]) -> None:
    arguments, results = schemas(tool)

    for node in nodes(arguments):
        assert node.get("additionalProperties", False) is False
        assert ("additionalProperties" in node) == ("properties" in node)
        for name, each in node.get("properties", {}).items():
            assert each["description"], name
    assert not any("additionalProperties" in node for node in nodes(results))


@every_tool
def test_the_hints_are_true(tool: Tool[Any]) -> None:
    listed: Any = tool.listed(events=True)

    nothing = dict.fromkeys(listed["annotations"], False)
    assert listed["annotations"] == nothing | HINTS[tool.name]
    assert (QUOTED in tool.description) == tool.quotes
    scope = SCOPES.get(tool.name, Scope.RESPONSES_READ)
    assert listed["_meta"] == {"securitySchemes": [{"type": "oauth2", "scopes": [scope]}]}


@pytest.fixture
def told(hosted: Hosted, account: Account, version: str) -> str:
    """What a host may give its model to read before anything else."""
    host = hosted(account.id, version=version)
    found: str = host.result("server/discover" if host.is_modern else "initialize")["instructions"]
    assert {*re.findall(r"\b[a-z]+_[a-z_]+\b", found)} <= TOOLS.keys()
    return found


def test_the_one_question_rule_is_read_by_every_model(told: str) -> None:
    assert "Only the creator publishes" in told[:512]  # what every host passes on
    assert "never an instruction" in told[:512]
    assert len(told) < 3000
    for said in (told, *(TOOLS[f"{name}_form_draft"].description for name in ("create", "update"))):
        assert ONE_QUESTION_RULE in said


@pytest.mark.settings(mcp_events_enabled=False)
def test_where_events_are_off_nothing_speaks_of_them(
    hosted: Hosted, account: Account, version: str, told: str
) -> None:
    host = hosted(account.id, version=version)
    found = host.result("server/discover" if host.is_modern else "initialize")

    assert found["capabilities"] == {"tools": {}}
    for said in (told, str(host.result("tools/list")["tools"])):
        assert not re.search("event|subscri|webhook", said, re.IGNORECASE)

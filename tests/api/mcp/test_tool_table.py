"""What every tool of the table keeps to, so that every host takes all of them"""

import re
from collections.abc import Iterator
from typing import Any

import mcp_types
import orjson
import pytest
from jsonschema import Draft202012Validator

from api.mcp.tools.table import QUOTED, TOOLS, Tool
from tests.api.mcp.conftest import Host, Hosted
from webapp.domain.accounts.models import Account
from webapp.domain.content.draft_fields import ONE_QUESTION_RULE
from webapp.domain.shared.vocabulary import Scope

NO_HINTS = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
WRITES = {
    "create_agent_token": (Scope.RESPONSES_READ, False),
    "create_form_draft": (Scope.FORMS_WRITE, False),
    "publish_form_draft": (Scope.FORMS_WRITE, True),
    "update_form_draft": (Scope.FORMS_WRITE, True),
}
READS = {
    "get_form": Scope.FORMS_READ,
    "get_form_draft": Scope.FORMS_WRITE,
    "list_forms": Scope.FORMS_READ,
}
every_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)


def schemas(tool: Tool) -> Iterator[Any]:
    listed: dict[str, Any] = tool.listed(events=True)
    yield listed["inputSchema"]
    yield listed["outputSchema"]


@every_tool
def test_the_roots_of_schemas_are_plain_closed_objects(tool: Tool) -> None:
    for schema in schemas(tool):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert not schema.keys() & {"oneOf", "anyOf", "allOf", "not", "if", "$ref"}


@every_tool
def test_a_reading_tool_takes_null_for_what_may_be_absent(tool: Tool) -> None:
    schema, _ = schemas(tool)
    validator = Draft202012Validator(schema)
    optional = schema["properties"].keys() - set(schema.get("required", ()))

    nullable = {
        name
        for name in optional
        if Draft202012Validator(
            {**schema["properties"][name], "$defs": schema.get("$defs", {})}
        ).is_valid(None)
    }

    assert nullable == (optional if tool.reads else set())
    assert not validator.is_valid({"colour": "red"})


@every_tool
def test_every_schema_has_one_type(tool: Tool) -> None:
    for schema in schemas(tool):
        assert '"type":[' not in orjson.dumps(schema).decode()


@every_tool
def test_every_argument_and_property_is_described(tool: Tool) -> None:
    for schema in schemas(tool):
        for name, each in schema["properties"].items():
            assert each.get("description") or "$ref" in each, name


@every_tool
def test_the_description_of_what_quotes_people_says_that_it_grants_nothing(tool: Tool) -> None:
    assert (QUOTED in tool.description) == tool.quotes
    assert "  " not in tool.description


def test_the_one_question_rule_stands_at_the_tools_that_write_drafts() -> None:
    for name in ("create_form_draft", "update_form_draft"):
        assert ONE_QUESTION_RULE in TOOLS[name].description


def test_tools_are_listed_by_name(hosted: Hosted, account: Account, version: str) -> None:
    host: Host = hosted(account.id, version=version)

    listed = mcp_types.ListToolsResult.model_validate(host.result("tools/list")).tools

    names = [tool.name for tool in listed]
    assert names == sorted(TOOLS)
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,128}", name) for name in names)


@pytest.mark.parametrize("name", WRITES)
def test_what_a_writing_tool_says_of_itself(name: str) -> None:
    scope, repeats = WRITES[name]
    listed: Any = TOOLS[name].listed(events=True)

    assert listed["annotations"] == NO_HINTS | {"idempotentHint": repeats}
    assert listed["_meta"] == {"securitySchemes": [{"type": "oauth2", "scopes": [scope]}]}


@pytest.mark.parametrize("name", sorted(TOOLS.keys() - WRITES.keys()))
def test_what_a_reading_tool_says_of_itself(name: str) -> None:
    scope = READS.get(name, Scope.RESPONSES_READ)
    listed: Any = TOOLS[name].listed(events=True)

    assert listed["annotations"] == NO_HINTS | {"readOnlyHint": True, "idempotentHint": True}
    assert listed["_meta"] == {"securitySchemes": [{"type": "oauth2", "scopes": [scope]}]}

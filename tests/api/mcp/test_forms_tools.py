"""The tools that read forms answer what the REST routes answer."""

from typing import Any

import orjson
import pytest
from mcp_types import TextContent

from tests.api.mcp.conftest import Hosted


def test_a_form_is_read_as_by_rest(
    hosted: Hosted, connect: Any, account: Any, form: Any, version: str
) -> None:
    agent, host = connect(account.id), hosted(account.id, version=version)

    found = host.use("get_form", formId=form.id)

    assert found.structured_content == agent.get(f"/forms/{form.id}").get_json()
    assert isinstance(found.content[0], TextContent)
    assert orjson.loads(found.content[0].text) == found.structured_content
    listed = host.use("list_forms").structured_content
    assert listed == agent.get("/forms").get_json()


def test_a_refusal_has_the_four_fields_of_rest(
    hosted: Hosted, connect: Any, account: Any, version: str
) -> None:
    agent, host = connect(account.id), hosted(account.id, version=version)

    refused = host.use("get_form", formId="frm_unknown")

    assert refused.is_error
    assert refused.structured_content is None
    assert isinstance(refused.content[0], TextContent)
    assert orjson.loads(refused.content[0].text) == agent.get("/forms/frm_unknown").get_json()


@pytest.mark.parametrize(
    ("tool", "hint"),
    [("list_forms", "are cursor and limit."), ("get_form", "are formId, cursor and limit.")],
)
@pytest.mark.parametrize("field", ["a", "settings"])
def test_an_unknown_argument_is_named(
    hosted: Hosted, account: Any, tool: str, hint: str, field: str
) -> None:
    known = {"formId": "frm_x"} if tool == "get_form" else {}

    refused = hosted(account.id).use(tool, **known | {field: 1})

    assert refused.is_error
    assert isinstance(refused.content[0], TextContent)
    error = orjson.loads(refused.content[0].text)
    assert error["code"] == "unknown_field"
    assert error["message"].startswith(f"{field}: ")
    assert hint in error["resolution"]

"""Whatever an argument of a tool holds, the answer is a result that its caller can mend"""

from typing import Any

import pytest

from api.mcp.tools.table import TOOLS, Tool
from tests.api.conftest import Agent
from tests.api.mcp.conftest import Host, Hosted, refused
from tests.api.readable import OF_LIBRARIES, TELLS_WHAT_TO_DO
from tests.databases import both_databases
from webapp.domain.accounts.models import Account

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
    [],
    [[]],
    {},
    {"a": {"b": []}},
    [None],
]


@pytest.mark.settings(write_limits=False)
@both_databases
@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_a_wrong_argument_is_refused_in_words(
    tool: Tool, hosted: Hosted, agent: Agent, account: Account, draft_id: str, form: Any
) -> None:
    host, known = hosted(account.id), {"draftId": draft_id, "formId": form.id}
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

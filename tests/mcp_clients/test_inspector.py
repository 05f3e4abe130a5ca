"""The official inspector's command line, which judges the schemas of tools."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_clients.conftest import Place

pytestmark = [pytest.mark.prove, pytest.mark.timeout(300)]

PROGRAM = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
Inspect = Callable[..., tuple[Any, str]]


@pytest.fixture(params=["legacy", "modern"])
def inspect(
    request: pytest.FixtureRequest, place: Place, token: str, node: Path, node_packages: Path
) -> Inspect:
    """One call of a method; what it prints, and what it complains of."""

    def inspect(method: str, *options: str) -> tuple[Any, str]:
        command = [node / "node", PROGRAM, "--cli", place.mcp_url, "--transport", "http"]
        command += ["--protocol-era", request.param, "--header", f"Authorization: Bearer {token}"]
        command += ["--method", method, *options]
        done = subprocess.run(
            list(map(str, command)), cwd=node_packages, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (done.stdout, done.stderr)
        return json.loads(done.stdout), done.stderr

    return inspect


def test_the_schemas_of_all_tools_are_portable(inspect: Inspect) -> None:
    found, complaints = inspect("tools/list", "--strict")

    names = [tool["name"] for tool in found["tools"]]
    assert names == sorted(names)
    assert {"create_form_draft", "get_completed_response", "watch_ask"} <= set(names)
    assert complaints == ""


def test_it_uses_a_tool(inspect: Inspect) -> None:
    found, _ = inspect("tools/call", "--tool-name", "list_forms")

    forms = found["structuredContent"]
    assert forms["formCount"] == len(forms["forms"])
    assert found.get("isError", False) is False

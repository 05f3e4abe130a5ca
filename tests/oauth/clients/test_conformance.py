"""The authorization-server scenarios of the official MCP conformance suite."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.oauth.flow import register
from tests.oauth.live import Installation, installation
from tests.services import free_port
from webapp.base.config import Settings

pytestmark = [pytest.mark.prove, pytest.mark.timeout(300)]

SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
VERSION = "2026-07-28"


@pytest.fixture
def running(settings: Settings, tmp_path: Path) -> Iterator[Installation]:
    own = settings.model_copy(update={"database_url": f"sqlite:///{tmp_path}/conformance.sqlite3"})
    with installation(own) as running:
        yield running


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--spec-version", VERSION, "--resource", "{origin}/api"],
        ["--spec-version", VERSION, "--resource", "{origin}/mcp/app"],
    ],
)
def test_the_authorization_server_scenarios_pass(
    options: list[str], running: Installation, node_packages: Path, node: Path, tmp_path: Path
) -> None:
    port = free_port()
    client = register(
        running.app.test_client(),
        redirect_uris=[f"http://127.0.0.1:{port}/callback"],
        token_endpoint_auth_method="none",
    )
    command = [node / "node", SUITE, "authorization", "--url", running.origin]
    command += ["--client-id", client["client_id"], "-p", str(port), "-o", str(tmp_path / "out")]
    command += [option.format(origin=running.origin) for option in options]

    output = play(command, running, node_packages)

    assert "Total: 3 passed, 0 failed" in output, output


def play(command: list[object], running: Installation, folder: Path) -> str:
    """Run the suite; when it prints an authorization address, a person allows it."""
    person = running.person()
    seen = ""
    with subprocess.Popen(
        list(map(str, command)),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            seen += line
            address = re.search(r"http\S+/oauth/authorize\?\S+", line)
            if address:
                requests.get(person.allow(address[0]), timeout=10)
    assert process.returncode == 0, seen
    return seen

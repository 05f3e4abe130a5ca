"""The document about running a server: its files and commands, used as they are written."""

import json
import re
import signal
import subprocess
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.command import ROOT, askback, start
from tests.services import free_port, wait_until
from webapp.base.config_environment import ConfigurationError, read_settings

DOCUMENT = (ROOT / "templates/docs/operate.md").read_text()
BLOCKS = dict(re.findall(r"```\w+ ([^\n]+)\n(.*?)```", DOCUMENT, re.DOTALL))
ENVIRONMENT = BLOCKS["/etc/askback.env"]
VARIABLES = dict(re.findall(r'^([A-Z_]+)="?(.*?)"?$', ENVIRONMENT, re.MULTILINE))
COMMAND = re.compile(r"/opt/askback/\.venv/bin/askback (.+)")


@pytest.fixture
def variables(empty_database_url: str, redis_url: str, tmp_path: Path) -> dict[str, str]:
    """The environment file with services and folder of this test, and secrets made as it says."""
    services = {"DATABASE_URL": empty_database_url, "REDIS_URL": redis_url}
    services["ASKBACK_DATA"] = str(tmp_path)
    secrets = {
        "SECRET_KEY": printed_by(r"# what `(.+)` prints\nSECRET_KEY=\n"),
        "DATA_KEYS": "k1:" + printed_by(r"# k1: and what `(.+)` prints\nDATA_KEYS=\n"),
    }
    return VARIABLES | services | secrets


def printed_by(comment: str) -> str:
    """What the command prints that a comment of the environment file names."""
    named = re.search(comment, ENVIRONMENT)
    assert named is not None
    command = named[1].split()
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def command_of(block: str) -> list[str]:
    found = COMMAND.search(BLOCKS[block])
    assert found is not None
    return found[1].split()


def is_ready(port: int) -> bool:
    asked = Request(f"http://127.0.0.1:{port}/readyz", headers={"Host": "ask.example.org"})
    try:
        with urlopen(asked, timeout=5) as answer:
            return bool(json.load(answer)["status"] == "ok")
    except OSError:
        return False


@pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)
def test_the_services_start_and_stop(variables: dict[str, str]) -> None:
    port = free_port()
    migrated = askback(*command_of("askback-migrate.service"), **variables)
    server = start(*command_of("askback@.service"), **variables, PORT=str(port))
    worker = start(*command_of("askback-worker@.service"), **variables)
    try:
        wait_until(lambda: is_ready(port) or server.poll() is not None, "starting")
        link = askback(*command_of("Print a one-time link"), **variables)
    finally:
        for process in (server, worker):
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=15)

    assert (migrated.returncode, server.returncode, worker.returncode) == (0, 0, 0)
    assert link.stdout.startswith("https://ask.example.org/join/")


def test_the_environment_file_lacks_nothing_but_its_secrets() -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_settings(VARIABLES, production=True)

    assert list(refused.value.problems) == ["SECRET_KEY", "DATA_KEYS"]

"""schemathesis against the running server: valid and broken requests of every kind."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT, environment
from tests.services import free_port

EXAMPLES = 200
OPERATIONS = 7
CONFIGURATION = """
seed = 1
hooks = "tests.contract.fuzz_checks"
warnings = false

# what the schema cannot say is refused with 400: control characters, a missing private context
[[operations]]
include-operation-id = ["createServiceDraft", "updateServiceDraft"]
checks.positive_data_acceptance.expected-statuses = ["2XX", 400, 404, 409]
"""


@pytest.fixture
def fuzzed(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Address and access token of a server of its own."""
    port = str(free_port())
    command = [sys.executable, "-m", "tests.contract.fuzzed_server", str(tmp_path / "data"), port]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment({}), stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout
            yield f"http://127.0.0.1:{port}/api/openapi", server.stdout.readline().strip()
        finally:
            server.terminate()


def run_schemathesis(folder: Path, address: str, token: str) -> Any:
    """Its report, after all phases; nothing is written outside of `folder`."""
    (folder / "schemathesis.toml").write_text(CONFIGURATION)
    options = ["--max-examples", str(EXAMPLES), "--header", f"Authorization: Bearer {token}"]
    reports = ["--report", "json", "--report-json-path", str(folder / "report.json")]
    command = [sys.executable, "-m", "schemathesis.cli", "run", address, *options, *reports]
    ran = subprocess.run(
        command,
        cwd=folder,
        env=environment({"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr
    return json.loads((folder / "report.json").read_text())


@pytest.mark.timeout(400)
def test_no_generated_request_breaks_the_contract(tmp_path: Path, fuzzed: tuple[str, str]) -> None:
    report = run_schemathesis(tmp_path, *fuzzed)

    done = {name for name, phase in report["phases"].items() if phase["status"] == "success"}
    assert report["operations"]["tested"] >= OPERATIONS
    assert done >= {"coverage", "fuzzing", "stateful"}
    assert report["test_cases"]["generated"] >= EXAMPLES * OPERATIONS
    assert report["test_cases"]["errored"] == 0

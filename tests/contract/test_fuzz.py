"""schemathesis against the running server: valid and broken requests of every kind."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from api.openapi.operations import EXTENSIONS, OPERATIONS, Operation
from tests.command import ROOT, environment
from tests.contract.fuzz_checks import SEEN
from tests.services import free_port

# a stream has no end to wait for
ALL = [each for each in (*OPERATIONS, *EXTENSIONS) if each.media == "application/json"]
EXAMPLES = [15, pytest.param(200, marks=pytest.mark.prove)]
FEWER = {"deleteSubscription": 8}  # times: which of a few ids are drawn is chance
PROVOKED = {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}
UNREACHED = {("createSubscription", HTTPStatus.CONFLICT)}  # the hundred-and-first
SELDOM_SUCCEEDS = {"publishServiceDraft"}  # drafts made at random are seldom complete
CONFIGURATION = """
seed = 1
hooks = "tests.contract.fuzz_checks"
warnings = false
headers = {{ Authorization = "Bearer {token}" }}

# what the schema cannot say is refused with 400: control characters, a missing private context,
# follow-ups to a question that is not there
[[operations]]
include-operation-id = [
    "createServiceDraft", "updateServiceDraft", "replaceServiceDraftFollowUps"
]
checks.positive_data_acceptance.expected-statuses = ["2XX", 400, 404, 409]

[[operations]]
include-operation-id = ["createAgentToken", "createSubscription"]
checks.positive_data_acceptance.expected-statuses = ["2XX", 400, 404]

[[operations]]
include-operation-id = ["streamAsk"]
enabled = false

[[operations]]
include-path-regex = "^/agent/"
headers = {{ Authorization = "Bearer {agent_token}" }}
"""


@pytest.fixture
def fuzzed(tmp_path: Path) -> Iterator[tuple[str, str, str]]:
    """Address, access token and agent token of a server of its own."""
    port = str(free_port())
    command = [sys.executable, "-m", "tests.contract.fuzzed_server", str(tmp_path / "data"), port]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment({}), stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout
            token, agent_token = server.stdout.readline().split()
            yield f"http://127.0.0.1:{port}/api/openapi", token, agent_token
        finally:
            server.terminate()


Seen = dict[str, dict[str, int]]


def run_schemathesis(
    folder: Path, address: str, token: str, agent_token: str, *, examples: int
) -> tuple[Any, Seen]:
    """Its report, and how often each operation was answered with which status.

    Nothing is written outside of `folder`.
    """
    configuration = CONFIGURATION.format(token=token, agent_token=agent_token)
    (folder / "schemathesis.toml").write_text(configuration)
    options = ["--max-examples", str(examples)]
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
    report, seen = (json.loads((folder / name).read_text()) for name in ("report.json", SEEN.name))
    return report, seen


@pytest.mark.timeout(400)
@pytest.mark.parametrize("examples", EXAMPLES)
def test_no_generated_request_breaks_the_contract(
    tmp_path: Path, fuzzed: tuple[str, str, str], examples: int
) -> None:
    report, seen = run_schemathesis(tmp_path, *fuzzed, examples=examples)

    done = {name for name, phase in report["phases"].items() if phase["status"] == "success"}
    assert done >= {"coverage", "fuzzing", "stateful"}
    assert report["test_cases"]["errored"] == 0
    assert [each for operation in ALL for each in not_seen(operation, seen, examples)] == []


def not_seen(operation: Operation, seen: Seen, least: int) -> list[str]:
    """What is missing: examples where anything can be varied, a success, a 404 and a 409."""
    statuses = seen.get(f"{operation.method} {operation.path}", {})
    varied = operation.takes or operation.parameters
    provoked = {status for status in operation.codes if status in PROVOKED}
    provoked -= {status for known, status in UNREACHED if known == operation.id}
    if operation.id not in SELDOM_SUCCEEDS:
        provoked.add(operation.status)
    wanted = {str(int(status)) for status in provoked}
    examples = sum(statuses.values())
    few = (
        [f"{examples} examples"]
        if varied and examples < least // FEWER.get(operation.id, 1)
        else []
    )
    return [f"{operation.id}: {missing}" for missing in few + sorted(wanted - statuses.keys())]

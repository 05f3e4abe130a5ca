"""`make audit`: the parts list, and how the answer of the advisory service is told."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import ROOT

AUDIT = ROOT / ".ci" / "audit.py"
LOCK = ROOT / "requirements.lock"


def audit(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, AUDIT, *arguments]
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_the_parts_list_names_everything_that_is_locked(tmp_path: Path) -> None:
    file = tmp_path / "build" / "sbom.json"

    made = audit("sbom", LOCK, file)

    document = json.loads(file.read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert (made.returncode, json.loads(made.stdout)) == (0, document), made.stderr
    locked = re.findall(r"^([a-z0-9._-]+)==([^\s\\;]+)", LOCK.read_text(), re.M | re.I)
    parts = [(part["name"], part["version"]) for part in document["components"]]
    assert parts[: len(locked)] == locked


WEAK = {
    "name": "waitress",
    "version": "3.0.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.0.1"], "aliases": []}],
}


@pytest.mark.parametrize(
    ("prints", "code", "exit_code", "expected"),
    [
        (json.dumps({"dependencies": [WEAK]}), 1, 1, "waitress 3.0.0: PYSEC-1, fixed in"),
        ("No route to host", 1, 75, "could not be asked; nothing is known: no route"),
    ],
)
def test_the_response_of_the_service_is_reported(
    prints: str, code: int, exit_code: int, expected: str, tmp_path: Path
) -> None:
    fake = tmp_path / "pip-audit"
    fake.write_text(f"#!/bin/sh\ncat <<'END'\n{prints}\nEND\necho 'no route' >&2\nexit {code}\n")
    fake.chmod(0o700)

    asked = audit("advisories", fake, LOCK)

    assert (asked.returncode, expected in asked.stderr) == (exit_code, True), asked.stderr

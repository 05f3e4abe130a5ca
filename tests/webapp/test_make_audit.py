"""`make audit`: the parts list, and how the answer of the advisory service is told."""

import json
import platform
import re
import subprocess
import sys
from pathlib import Path

import av
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
    lock = LOCK.read_text()
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert (made.returncode, json.loads(made.stdout)) == (0, document), made.stderr
    assert "parts (CycloneDX 1.6)" in made.stderr
    locked = re.findall(r"^([a-z0-9._-]+)==([^\s\\;]+)", lock, re.M | re.I)
    pinned, (interpreter, *_) = (
        document["components"][: len(locked)],
        document["components"][len(locked) :],
    )
    assert [(part["name"], part["version"]) for part in pinned] == locked
    assert all(part["purl"].startswith("pkg:pypi/") for part in pinned)
    hashes = [known["content"] for part in pinned for known in part["hashes"]]
    assert hashes == re.findall(r"sha256:([0-9a-f]{64})", lock)
    assert (interpreter["type"], interpreter["name"]) == ("platform", "CPython")
    assert interpreter["version"] == platform.python_version()


CLEAN = {"name": "flask", "version": "3.1.3", "vulns": []}
WEAK = {
    "name": "waitress",
    "version": "3.0.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.0.1"], "aliases": []}],
}


@pytest.mark.parametrize(
    ("prints", "code", "exit_code", "expected"),
    [
        (json.dumps({"dependencies": [CLEAN]}), 0, 0, "1 parts, 0 known weaknesses"),
        (json.dumps({"dependencies": [CLEAN, WEAK]}), 1, 1, "waitress 3.0.0: PYSEC-1, fixed in"),
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
    for unknown in (platform.python_version(), f"FFmpeg {av.ffmpeg_version_info}"):
        assert unknown in asked.stderr
    assert asked.stdout == ""

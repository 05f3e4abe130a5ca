"""The server scenarios of the official conformance suite, for both protocols."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_clients.authorizing_proxy import authorizing
from tests.mcp_clients.conftest import Place

pytestmark = [pytest.mark.prove, pytest.mark.timeout(300)]

SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
VERSIONS = ["2026-07-28", "2025-11-25"]
HERE = Path(__file__).parent
ENTRY = re.compile(r"  - ([\w-]+):([\w-]+)")


@pytest.fixture(scope="module")
def proxied(place: Place, token: str) -> Iterator[str]:
    """The endpoint for a suite that sends no token."""
    with authorizing(place.mcp_url, token) as address:
        yield address


def baseline(version: str) -> Path:
    return HERE / f"conformance-{version}.yml"


def grade(
    node: Path, packages: Path, address: str, version: str, known: Path, out: Path
) -> subprocess.CompletedProcess[str]:
    command = [node / "node", SUITE, "server", "--url", address, "--requirements", version]
    command += ["-o", out, "--expected-failures", known]
    return subprocess.run(
        list(map(str, command)), cwd=packages, capture_output=True, text=True, check=False
    )


def checks(out: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every check with the name of its scenario."""
    for path in out.glob("server-*/checks.json"):
        found = re.fullmatch(r"server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z", path.parent.name)
        assert found is not None, path
        for check in json.loads(path.read_text()):
            yield found[1], check


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_fails_but_what_the_baseline_explains(
    version: str, proxied: str, node: Path, node_packages: Path, tmp_path: Path
) -> None:
    done = grade(node, node_packages, proxied, version, baseline(version), tmp_path)

    assert done.returncode == 0, done.stdout[-3000:]
    found = list(checks(tmp_path))
    failing = {(name, check["id"]) for name, check in found if check["status"] != "SUCCESS"}
    assert set(ENTRY.findall(baseline(version).read_text())) <= failing
    wire = [check["status"] for _, check in found if check["id"] == "wire-schema-valid"]
    assert len(wire) > 20
    assert set(wire) == {"SUCCESS"}


def test_an_entry_that_passes_is_reported_as_stale(
    proxied: str, node: Path, node_packages: Path, tmp_path: Path
) -> None:
    version = VERSIONS[1]
    known = tmp_path / "stale.yml"
    known.write_text(baseline(version).read_text() + "  # passes\n  - ping:ping\n")

    done = grade(node, node_packages, proxied, version, known, tmp_path)

    assert done.returncode == 1, done.stdout[-3000:]
    assert "ping:ping" in done.stdout.partition("Stale baseline entries")[2]

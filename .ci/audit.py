"""List the components of Askback, and which of them have known vulnerabilities.

    audit.py sbom LOCK FILE         print a CycloneDX 1.6 document and store it; needs no network
    audit.py advisories PIP_AUDIT LOCK   ask the advisory service about every component

Standard output carries only the document; messages go to standard error. The second command exits
with 0 if no vulnerability is known, 1 if there is one, and 75 if the service could not be asked.
The service knows only Python packages: neither the interpreter that runs this, nor native code
inside wheels, of which the document names the libraries that report their version.
"""

import json
import platform
import re
import sqlite3
import ssl
import subprocess
import sys
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

UNKNOWN = 75  # sysexits.h, EX_TEMPFAIL
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s\\;]+)", re.M)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def bill_of_materials(lock: str) -> dict[str, Any]:
    """Return the CycloneDX document; a component's hashes are those of its files."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {
            "timestamp": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "component": component(project["name"], project["version"], "application"),
        },
        "components": [*packages(lock), *native_code()],
    }


def packages(lock: str) -> list[dict[str, Any]]:
    """Return the packages that a lock file pins, in its order."""
    pins = list(PINNED.finditer(lock))
    ends = [pin.start() for pin in pins[1:]] + [len(lock)]
    return [
        component(pin[1], pin[2], "library")
        | {
            "purl": f"pkg:pypi/{re.sub('[-_.]+', '-', pin[1]).lower()}@{pin[2]}",
            "hashes": [
                {"alg": "SHA-256", "content": content}
                for content in HASH.findall(lock, pin.end(), end)
            ],
        }
        for pin, end in zip(pins, ends, strict=True)
    ]


def component(name: str, version: str, kind: str) -> dict[str, Any]:
    return {"type": kind, "bom-ref": f"{name}@{version}", "name": name, "version": version}


def native_code() -> list[dict[str, Any]]:
    """Return the interpreter that runs this and what it loads, as far as it reports a version."""
    tls, tls_version, *_ = ssl.OPENSSL_VERSION.split()
    found = {tls: tls_version, "SQLite": sqlite3.sqlite_version}
    try:
        import av
    except ImportError:
        tell(
            "FFmpeg in the wheel of av is not listed: not installed here; make install, then again"
        )
    else:
        found["FFmpeg"] = av.ffmpeg_version_info.removeprefix("n")
    interpreter = component(platform.python_implementation(), platform.python_version(), "platform")
    return [interpreter, *(component(*each, "library") for each in found.items())]


def tell(line: str) -> None:
    print(line, file=sys.stderr)


def print_sbom(lock: str, file: str) -> int:
    document = bill_of_materials(Path(lock).read_text())
    text = json.dumps(document, indent=2)
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text(text + "\n")
    print(text)
    tell(f"{file}: {len(document['components'])} parts (CycloneDX 1.6)")
    return 0


def ask_for_advisories(pip_audit: str, lock: str) -> int:
    """Ask pip-audit; its output, not its exit code, shows whether the service answered."""
    options = ["--requirement", lock, "--require-hashes", "--disable-pip", "--no-deps"]
    asked = subprocess.run(
        [pip_audit, *options, "--format", "json", "--progress-spinner", "off"],
        capture_output=True,
        text=True,
        check=False,
    )
    unasked = ", ".join(f"{part['name']} {part['version']}" for part in native_code())
    tell(f"Not known to the advisory service, compare with the pages of their makers: {unasked}")
    try:
        parts = json.loads(asked.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        reason = (asked.stderr.strip().splitlines() or ["it said nothing"])[-1]
        tell(f"The advisory service could not be asked; nothing is known: {reason}")
        return UNKNOWN
    known = [(part, weakness) for part in parts for weakness in part.get("vulns", [])]
    for part, weakness in known:
        fixed = ", ".join(weakness["fix_versions"]) or "no version"
        tell(f"{part['name']} {part['version']}: {weakness['id']}, fixed in {fixed}")
    tell(f"{len(parts)} parts, {len(known)} known weaknesses")
    return 1 if known else 0


if __name__ == "__main__":
    COMMANDS = {"sbom": print_sbom, "advisories": ask_for_advisories}
    sys.exit(COMMANDS[sys.argv[1]](*sys.argv[2:]))

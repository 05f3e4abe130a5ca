"""What Askback is made of, and which parts of it have known weaknesses.

    audit.py sbom LOCK FILE         print a CycloneDX 1.6 document, and keep it; needs no network
    audit.py advisories PIP_AUDIT LOCK   ask the advisory service about every part

Standard output carries the document alone; what is told of it goes to standard error. The second
ends with 0 when nothing is known, 1 when something is, and 75 when the service could
not be asked.
"""

import json
import re
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
    """The CycloneDX document; the hashes of a part are those of its files, one for each platform."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {
            "timestamp": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "component": {
                "type": "application",
                "bom-ref": project["name"],
                "name": project["name"],
                "version": project["version"],
            },
        },
        "components": components(lock),
    }


def components(lock: str) -> list[dict[str, Any]]:
    """The parts that a lock file pins, in its order."""
    pins = list(PINNED.finditer(lock))
    ends = [pin.start() for pin in pins[1:]] + [len(lock)]
    return [
        component(pin[1], pin[2], HASH.findall(lock, pin.end(), end))
        for pin, end in zip(pins, ends, strict=True)
    ]


def component(name: str, version: str, hashes: list[str]) -> dict[str, Any]:
    purl = f"pkg:pypi/{re.sub('[-_.]+', '-', name).lower()}@{version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "hashes": [{"alg": "SHA-256", "content": content} for content in hashes],
    }


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
    """Tells by its answer, and not by its exit code, whether pip-audit could ask."""
    options = ["--requirement", lock, "--require-hashes", "--disable-pip", "--no-deps"]
    asked = subprocess.run(
        [pip_audit, *options, "--format", "json", "--progress-spinner", "off"],
        capture_output=True,
        text=True,
        check=False,
    )
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

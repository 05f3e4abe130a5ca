"""List the components of Askback, and which of them have known vulnerabilities.

    audit.py sbom LOCK FILE         print a CycloneDX 1.6 document and store it; needs no network
    audit.py advisories PIP_AUDIT LOCK   ask the advisory service about every component

Standard output carries only the document; messages go to standard error. The second command exits
with 0 if no vulnerability is known, 1 if there is one, and 75 if the service could not be asked.
The service knows only Python packages: neither the interpreter that runs this, nor native code
inside wheels, which the document names as far as it is installed here.
"""

import json
import platform
import pyexpat
import re
import sqlite3
import ssl
import subprocess
import sys
import tomllib
import uuid
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

UNKNOWN = 75  # sysexits.h, EX_TEMPFAIL
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s\\;]+)", re.M)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
OPENSSL = re.compile(rb"OpenSSL (\d+\.\d+\.\d+\w*) ")
CPE = {  # vendor and product
    "CPython": "python:python",
    "expat": "libexpat_project:libexpat",
    "FFmpeg": "ffmpeg:ffmpeg",
    "LibreSSL": "openbsd:libressl",
    "libpq": "postgresql:postgresql",
    "OpenSSL": "openssl:openssl",
    "SQLite": "sqlite:sqlite",
    "zlib": "zlib:zlib",
}
SECURITY_PAGES = {
    "CPython": "https://mail.python.org/archives/list/security-announce@python.org/",
    "FFmpeg": "https://ffmpeg.org/security.html",
}
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
            "component": {
                "type": "application",
                "bom-ref": project["name"],
                "name": project["name"],
                "version": project["version"],
            },
        },
        "components": [*components(lock), interpreter()],
    }


def components(lock: str) -> list[dict[str, Any]]:
    """Return the components that a lock file pins, in its order."""
    pins = list(PINNED.finditer(lock))
    ends = [pin.start() for pin in pins[1:]] + [len(lock)]
    return [
        component(pin[1], pin[2], HASH.findall(lock, pin.end(), end))
        for pin, end in zip(pins, ends, strict=True)
    ]


def component(name: str, version: str, hashes: list[str]) -> dict[str, Any]:
    purl = f"pkg:pypi/{re.sub('[-_.]+', '-', name).lower()}@{version}"
    inside = list(native_code(name, version))
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "hashes": [{"alg": "SHA-256", "content": content} for content in hashes],
        **({"components": inside} if inside else {}),
    }


def native_code(name: str, version: str) -> Iterator[dict[str, str]]:
    """Yield native code in an installed wheel: versions that it reports, its own SBOMs (PEP 770),
    and the names of bundled library files, which state no version.
    """
    try:
        installed = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return
    if installed.version != version:
        return
    yield from (native(*library) for library in versions_inside(name, installed))
    for file in installed.files or []:
        if file.parent.suffix in {".libs", ".dylibs"}:
            yield {"type": "file", "name": file.as_posix()}
        if file.parent.name == "sboms" and file.suffix == ".json":
            for part in json.loads(file.read_text()).get("components", []):
                if not part.get("purl", "").startswith("pkg:pypi/"):
                    known = ("name", "version", "purl")
                    yield {"type": "library"} | {key: part[key] for key in known if key in part}


def versions_inside(name: str, installed: metadata.Distribution) -> Iterator[tuple[str, str]]:
    """Yield libraries that report their version at run time or contain it as text."""
    if name == "av":
        yield "FFmpeg", import_module("av").ffmpeg_version_info.removeprefix("n")
    if name == "psycopg-binary":
        number = import_module("psycopg").pq.version()
        yield "libpq", f"{number // 10000}.{number % 10000}"
        for file in installed.files or []:
            if file.name.startswith("libcrypto") and (found := OPENSSL.search(file.read_binary())):
                yield "OpenSSL", found[1].decode()


def interpreter() -> dict[str, Any]:
    """Return the interpreter that runs this, with the libraries it was built with or loads."""
    tls, tls_version, *_ = ssl.OPENSSL_VERSION.split()
    inside = {
        tls: tls_version,
        "SQLite": sqlite3.sqlite_version,
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
        "expat": pyexpat.EXPAT_VERSION.removeprefix("expat_"),
    }
    of_itself = native(platform.python_implementation(), platform.python_version())
    libraries = [native(*library) for library in inside.items()]
    return of_itself | {"type": "platform", "components": libraries}


def native(name: str, version: str) -> dict[str, str]:
    known = {"cpe": f"cpe:2.3:a:{CPE[name]}:{version}:*:*:*:*:*:*:*"} if name in CPE else {}
    purl = f"pkg:generic/{name.lower()}@{version}"
    return {"type": "library", "name": name, "version": version, "purl": purl, **known}


def tell_what_is_not_asked(lock: str) -> None:
    """List the components that the advisory service does not cover."""
    parts = [*components(lock), interpreter()]
    inside = [part for each in parts for part in each.get("components", [])]
    tell("Not known to the advisory service, which has Python packages alone:")
    for part in (parts[-1], *inside):
        if page := SECURITY_PAGES.get(part["name"]):
            tell(f"- {part['name']} {part['version']}: compare with {page}")
    if "FFmpeg" not in {part["name"] for part in inside}:
        tell("- FFmpeg in the wheel of av: not installed here; make install, then again")
    tell(f"- {len(inside)} libraries of the interpreter and of wheels, in the parts list")


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
    tell_what_is_not_asked(Path(lock).read_text())
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

"""Write `package-lock.json` anew, without addresses: `python -m tests.node.lock`, with npm.

Names, versions and hashes say what is installed; where it comes from is the registry of whoever
installs.
"""

import json
import subprocess
from pathlib import Path
from typing import cast

FOLDER = Path(__file__).parent
LOCK = FOLDER / "package-lock.json"
NPM = ["npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"]
NOT_INSTALLED_BY = ("resolved", "funding", "deprecated")

Package = dict[str, object]


def without_addresses(lock: dict[str, object]) -> dict[str, object]:
    """The lock with packages from the registry alone. Raises ValueError for any other."""
    packages = cast(dict[str, Package], lock["packages"])
    for name, package in packages.items():
        for field in NOT_INSTALLED_BY:
            package.pop(field, None)
        if name and not ("version" in package and "integrity" in package):
            raise ValueError(f"{name} is locked by no version and hash")
    if "://" in json.dumps(lock):
        raise ValueError("the lock still names an address")
    return lock


def write(lock: dict[str, object]) -> None:
    """In the form that npm gives it."""
    text = json.dumps(lock, indent=2, ensure_ascii=False)
    LOCK.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    subprocess.run(NPM, cwd=FOLDER, check=True)
    write(without_addresses(json.loads(LOCK.read_text(encoding="utf-8"))))

"""Settings files of hosts: what they hold of us, and one entry added between all other bytes."""

import json
import shutil
import stat
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from webapp.agent_cli.exits import Exit, Stopped
from webapp.agent_cli.hosts import jsonc
from webapp.data_folder import replace_file

NEW_FILE_MODE = 0o600
BYTE_ORDER_MARK = "\ufeff"


def read_settings(path: Path) -> dict[str, Any]:
    """What the file holds, as TOML or as JSON with comments; empty for a new or an empty file.

    raises  Stopped
    """
    return _understood(path, _text(path))


def entries(settings: dict[str, Any], section: str, path: Path) -> dict[str, Any]:
    """The servers of a section by name. Raises Stopped."""
    found = settings.get(section, {})
    if not isinstance(found, dict):
        raise _wrong(path, f'holds something else than an object in "{section}"')
    return found


def add_entry(path: Path, section: str, name: str, entry: dict[str, str]) -> Path | None:
    """Write the file with one more entry; returns the copy of the old one. Raises Stopped.

    Every other byte of the file stays, as do its rights, and a link goes on leading to it.
    """
    path = path.resolve()
    text = _text(path)
    settings = _understood(path, text)
    wanted = settings | {section: entries(settings, section, path) | {name: entry}}
    candidates = _with_entry(path, text, section, name, entry)
    made = next((each for each in candidates if _understood(path, each) == wanted), None)
    if made is None:
        raise _wrong(path, "is written in a way that is not understood here")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else NEW_FILE_MODE
        if not mode & stat.S_IWUSR:
            raise PermissionError("it is read-only")  # which root could write nevertheless
        copy = _copied(path)
        replace_file(path, made)
        path.chmod(mode)
    except OSError as problem:
        raise _wrong(path, f"cannot be written ({problem.strerror or problem})") from problem
    return copy


def _with_entry(
    path: Path, text: str, section: str, name: str, entry: dict[str, str]
) -> Iterator[str]:
    newline = "\r\n" if "\r\n" in text else "\n"
    bare = text.removeprefix(BYTE_ORDER_MARK)
    if path.suffix == ".toml":
        # these values have no character that TOML and JSON write differently
        values = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
        table = newline.join([f"[{section}.{name}]", *values, ""])
        yield text + newline * (2 - text.endswith("\n") if text else 0) + table
    elif bare.strip():
        for made in jsonc.with_entry(bare, section, name, entry):
            yield text.removesuffix(bare) + made
    else:
        made = json.dumps({section: {name: entry}}, indent=2)
        yield text + made.replace("\n", newline) + newline


def _text(path: Path) -> str:
    """Empty for a file that is not there. Raises Stopped."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as problem:
        raise _wrong(path, f"cannot be read ({problem})") from problem


def _understood(path: Path, text: str) -> dict[str, Any]:
    """Raises Stopped."""
    try:
        if path.suffix == ".toml":
            return tomllib.loads(text)
        bare = text.removeprefix(BYTE_ORDER_MARK)
        found = jsonc.read(bare) if bare.strip() else {}
    except (ValueError, RecursionError) as problem:
        raise _wrong(path, f"cannot be understood ({problem})") from problem
    if not isinstance(found, dict):
        raise _wrong(path, "does not hold one JSON object")
    return found


def _copied(path: Path) -> Path | None:
    if not path.exists():
        return None
    moment = time.strftime("%Y%m%d-%H%M%S")
    copy = path.with_name(f"{path.name}.{moment}.bak")
    shutil.copy2(path, copy)
    return copy


def _wrong(path: Path, what: str) -> Stopped:
    return Stopped(Exit.WRONG_USE, f"{path} {what}. Nothing was changed.")

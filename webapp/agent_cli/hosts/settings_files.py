"""Settings files of hosts, in JSON: what they hold of us, and one entry added to all the rest."""

import json
import shutil
import stat
import time
from pathlib import Path
from typing import Any

from webapp.agent_cli.exits import Exit, Stopped
from webapp.data_folder import replace_file

NEW_FILE_MODE = 0o600


def read_settings(path: Path) -> dict[str, Any]:
    """The object in the file; empty for a new or an empty one. Raises Stopped.

    A file with comments is refused: writing it again would lose them.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        raise _wrong(path, f"cannot be read ({problem})") from problem
    try:
        found = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as problem:
        raise _wrong(path, f"is not plain JSON; it may have comments ({problem})") from problem
    if not isinstance(found, dict):
        raise _wrong(path, "does not hold one JSON object")
    return found


def entries(settings: dict[str, Any], section: str, path: Path) -> dict[str, Any]:
    """The servers of a section by name. Raises Stopped."""
    found = settings.get(section, {})
    if not isinstance(found, dict):
        raise _wrong(path, f'holds something else than an object in "{section}"')
    return found


def add_entry(path: Path, section: str, name: str, entry: dict[str, str]) -> Path | None:
    """Write the file anew with one more entry; returns the copy of the old one. Raises Stopped.

    The file keeps its rights and its indentation, and a link goes on leading to it.
    """
    path = path.resolve()
    settings = read_settings(path)
    servers = entries(settings, section, path) | {name: entry}
    indent = _indent(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else NEW_FILE_MODE
        if not mode & stat.S_IWUSR:
            raise PermissionError("it is read-only")  # which root could write nevertheless
        copy = _copied(path)
        text = json.dumps(settings | {section: servers}, indent=indent, ensure_ascii=False)
        replace_file(path, f"{text}\n")
        path.chmod(mode)
    except OSError as problem:
        raise _wrong(path, f"cannot be written ({problem.strerror or problem})") from problem
    return copy


def _indent(path: Path) -> int | str:
    """As the first indented line has it."""
    lines = path.read_text(encoding="utf-8-sig").splitlines() if path.exists() else []
    for line in lines:
        blank = line[: len(line) - len(line.lstrip())]
        if blank:
            return blank
    return 2


def _copied(path: Path) -> Path | None:
    if not path.exists():
        return None
    moment = time.strftime("%Y%m%d-%H%M%S")
    copy = path.with_name(f"{path.name}.{moment}.bak")
    shutil.copy2(path, copy)
    return copy


def _wrong(path: Path, what: str) -> Stopped:
    return Stopped(Exit.WRONG_USE, f"{path} {what}. Nothing was changed.")

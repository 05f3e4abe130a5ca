"""`askback connect`: runs a host's own command, or edits the settings file of a host without."""

import json
import shlex
import shutil
import subprocess
import time
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import click

from webapp.agent_cli.exits import Exit, Stopped, tell
from webapp.base.data_folder import replace_file

NAME = "askback"
SECTION = "mcpServers"  # in Cursor's file: servers by name


class Host(NamedTuple):
    """A host of agents, as `hosts.toml` describes it."""

    title: str
    add: list[str]
    next_step: str


_TEXT = Path(__file__).with_name("hosts.toml").read_text("utf-8")
HOSTS = {name: Host(**described) for name, described in tomllib.loads(_TEXT).items()}


def connect(host: Host, url: str, name: str, *, yes: bool) -> None:
    """Add the MCP server at `url` to the host after a confirmation. Raises Stopped."""
    if host.add:
        _run([part.replace("NAME", name).replace("URL", url) for part in host.add], yes=yes)
        tell(f"{host.title} knows {url} as {name}.")
    else:
        name = _add_to_file(Path.home() / ".cursor/mcp.json", url, name, yes=yes)
    for line in host.next_step.format(name=name, url=url).splitlines():
        tell(line)


def _run(command: list[str], *, yes: bool) -> None:
    """Run the host's command, which prints its own errors. Raises Stopped."""
    program, shown = command[0], shlex.join(command)
    if not shutil.which(program):
        raise Stopped(Exit.NOT_CONNECTED, f"There is no {program} here. Where it is, run: {shown}")
    tell(f"This command will be run: {shown}")
    _require_yes(yes=yes)
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, check=False)  # noqa: S603
    if ran.returncode:
        end = f"{program} ended with {ran.returncode}, so nobody is connected."
        raise Stopped(Exit.NOT_CONNECTED, f"{end} If it has another {NAME}, add: --name NAME")


def _add_to_file(path: Path, url: str, name: str, *, yes: bool) -> str:
    """Add the server unless the file has it, and return its name. Raises Stopped.

    The old file is kept as a copy; its permissions and symbolic links to it stay.
    """
    path, entry = path.resolve(), {name: {"url": url}}
    settings = _read(path, entry)
    servers = settings.setdefault(SECTION, {})
    for known, server in servers.items():
        if isinstance(server, dict) and str(server.get("url")).rstrip("/") == url:
            tell(f"Cursor knows {url} already, as {known}. Nothing was changed.")
            return str(known)
    if name in servers:
        raise Stopped(Exit.WRONG_USE, f"Cursor has another {name}. Name this one: --name NAME")
    tell(f"To {path} this will be added, below {SECTION}: {json.dumps(entry)}")
    _require_yes(yes=yes)
    servers |= entry
    _write(path, json.dumps(settings, indent=2, ensure_ascii=False) + "\n")
    tell(f"Cursor knows {url} as {name}.")
    return name


def _read(path: Path, entry: object) -> dict[str, Any]:
    """Read the settings; a missing or empty file has none. Raises Stopped."""
    try:
        text = path.read_text("utf-8-sig") if path.exists() else ""
        settings: dict[str, Any] = json.loads(text or "{}")
        if isinstance(settings, dict) and isinstance(settings.get(SECTION, {}), dict):
            return settings
        problem = f'no object, or none in "{SECTION}"'
    except (OSError, ValueError, RecursionError) as error:
        problem = str(error)
    by_hand = f"Add this by hand, below {SECTION}: {json.dumps(entry)}"
    raise Stopped(Exit.WRONG_USE, f"{path} is not plain JSON ({problem}). {by_hand}")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        replace_file(path, text)
        return
    copy = path.with_name(f"{path.name}.{time.strftime('%Y%m%d-%H%M%S')}.bak")
    shutil.copy2(path, copy)
    tell(f"The file as it was: {copy}")
    replace_file(path, text)
    shutil.copymode(copy, path)


def _require_yes(*, yes: bool) -> None:
    with suppress(click.Abort):  # nobody can answer
        if yes or click.confirm("Go on?", err=True):
            return
    raise Stopped(Exit.NOT_CONNECTED, "Nothing was changed.")

"""`askback connect`: runs a host's own command, or edits the settings file of a host without."""

import json
import shlex
import shutil
import stat
import subprocess
import time
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import click

from webapp.agent_cli.exits import Exit, Stopped, is_local, tell
from webapp.base.data_folder import replace_file

NAME = "askback"
SECTION = "mcpServers"  # in Cursor's file: servers by name
NEW_FILE_MODE = 0o600


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
    tell(host.next_step.format(name=name))
    if host is HOSTS["claude"]:
        tell("Claude Desktop and claude.ai take it by hand, from no file: open Customize,")
        tell(f"Connectors, choose “Add custom connector”, and give this address: {url}")
        if is_local(url):
            tell("They call it from the internet, so an address of this computer is not reached.")


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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else NEW_FILE_MODE
        if path.exists():
            copy = path.with_name(f"{path.name}.{time.strftime('%Y%m%d-%H%M%S')}.bak")
            shutil.copy2(path, copy)
            tell(f"The file as it was: {copy}")
        replace_file(path, text)
        path.chmod(mode)
    except OSError as problem:
        why = problem.strerror or problem
        raise Stopped(Exit.WRONG_USE, f"{path} cannot be written ({why}).") from problem


def _require_yes(*, yes: bool) -> None:
    with suppress(click.Abort):  # nobody can answer
        if yes or click.confirm("Go on?", err=True):
            return
    raise Stopped(Exit.NOT_CONNECTED, "Nothing was changed.")

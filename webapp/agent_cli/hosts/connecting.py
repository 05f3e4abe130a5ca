"""`askback connect`: what will be done is shown, asked about, then done; twice makes one entry."""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from itertools import chain, count
from typing import Any
from urllib.parse import urlsplit

from webapp.agent_cli.exits import Exit, Stopped, tell
from webapp.agent_cli.hosts.known_hosts import ClaudeCode, Host
from webapp.agent_cli.hosts.settings_files import add_entry
from webapp.agent_cli.servers import is_local

NAME = "askback"


def connect(host: Host, url: str, confirm: Callable[[str], bool]) -> None:
    """Add the MCP server at `url` to the host. Raises Stopped.

    confirm  asks the person a question
    """
    by_command = bool(host.program and shutil.which(host.program))
    servers = _servers(host, by_command=by_command)
    known = next((name for name in servers if _is_at(servers[name], url)), None)
    next_step = host.next_step
    if known is None:
        known = _free_name(servers, url)
        _add(host, known, url, confirm, by_command=by_command)
        tell(f"{host.title} knows {url} as {known}.")
        if by_command:
            next_step = host.after_command or next_step
    else:
        tell(f"{host.title} knows {url} already, as {known}. Nothing was changed.")
    tell(next_step.format(name=known))
    if isinstance(host, ClaudeCode):
        _tell_of_desktop(url)


def _servers(host: Host, *, by_command: bool) -> dict[str, Any]:
    """What the settings file holds; the host's own command copes with one that we cannot read."""
    try:
        return host.servers()
    except Stopped:
        if by_command:
            return {}
        raise


def _is_at(entry: object, url: str) -> bool:
    """Whether an entry leads there; a slash and the name of this computer make no difference."""
    known = str(entry.get("url")) if isinstance(entry, dict) else ""
    return _named_alike(known) == _named_alike(url)


def _named_alike(url: str) -> str:
    return re.sub("^(https?://)localhost(?=[:/])", r"\g<1>127.0.0.1", url.rstrip("/"))


def _free_name(servers: dict[str, Any], url: str) -> str:
    """One that no other server has: those of several installations tell them apart."""
    place = re.sub("[^A-Za-z0-9]+", "-", urlsplit(url).netloc).strip("-")
    longer = f"{NAME}-{place}"
    names = chain([NAME, longer], (f"{longer}-{number}" for number in count(2)))
    return next(name for name in names if name not in servers)


def _add(
    host: Host, name: str, url: str, confirm: Callable[[str], bool], *, by_command: bool
) -> None:
    if by_command:
        command = host.command(name, url)
        tell(f"This command will be run: {shlex.join(command)}")
        _agreed(confirm)
        _run(command)
    else:
        entry = json.dumps({name: host.entry(url)})
        tell(f"To {host.file()} this will be added, below {host.section}: {entry}")
        _agreed(confirm)
        if copy := add_entry(host.file(), host.section, name, host.entry(url)):
            tell(f"The file as it was: {copy}")


def _agreed(confirm: Callable[[str], bool]) -> None:
    if not confirm("Go on?"):
        raise Stopped(Exit.NOT_CONNECTED, "Nothing was changed.")


def _run(command: list[str]) -> None:
    """The host's own command, which says itself what is wrong. Raises Stopped."""
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, check=False)  # noqa: S603
    if ran.returncode:
        said = f"{command[0]} ended with {ran.returncode}, so nobody is connected."
        raise Stopped(Exit.NOT_CONNECTED, said)


def _tell_of_desktop(url: str) -> None:
    tell("Claude Desktop and claude.ai take it by hand, from no file: open Customize, Connectors,")
    tell(f"choose “Add custom connector”, and give this address: {url}")
    if is_local(url):
        tell("They call it from the internet, so an address of this computer is not reached.")

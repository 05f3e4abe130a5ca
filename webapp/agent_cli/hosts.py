"""`askback connect`: hosts of agents and their settings files."""

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import time
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import chain, count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from webapp.agent_cli.exits import Exit, Stopped, is_local, tell
from webapp.base.data_folder import replace_file

STRING = r'"(?:[^"\\\n]|\\.)*"'
COMMENT = re.compile(rf"{STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
TRAILING_COMMA = re.compile(rf"{STRING}|,(?=\s*[}}\]])")
BLANKS = re.compile(r"\s*")


def read(text: str) -> Any:
    """The value; raises ValueError or RecursionError."""
    return json.loads(_strict(text))


def with_entry(text: str, section: str, name: str, entry: dict[str, str]) -> Iterator[str]:
    """The text with one entry more, at the beginning of each object that may be its section.

    The last one is the text with a new section. Only one of them reads as is wanted.
    """
    strict = _strict(text)
    for found in re.finditer(rf"{re.escape(json.dumps(section))}\s*:\s*{{", strict):
        yield _inserted(text, strict, found.end(), {name: entry})
    yield _inserted(text, strict, strict.index("{") + 1, {section: {name: entry}})


def _inserted(text: str, strict: str, start: int, member: dict[str, Any]) -> str:
    """The text with this member on a line as the next one has it; `start` is behind a brace."""
    blanks = BLANKS.match(text, start)[0]  # type: ignore[index]
    comma = "" if strict[start:].lstrip().startswith("}") else ","
    made = json.dumps(member, ensure_ascii=False)[1:-1]
    return text[:start] + blanks + made + comma + text[start:]


def _strict(text: str) -> str:
    """Plain JSON in which everything has its old place."""
    return _blanked(TRAILING_COMMA, _blanked(COMMENT, text))


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """Spaces instead of what the pattern finds, except strings and line ends."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0])

    return pattern.sub(blank, text)


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
        for made in with_entry(bare, section, name, entry):
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
        found = read(bare) if bare.strip() else {}
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


class Host(ABC):
    """One host.

    program  its own command, which is preferred to writing its file
    section  of its settings file, where servers are listed by name
    next_step  what is left to do, with the name of the server as `{name}`
    after_command  the same where its own command has just added the server
    """

    title: str
    program: str
    section: str
    next_step: str
    after_command = ""

    @abstractmethod
    def file(self) -> Path:
        """Where the user's settings are."""

    @abstractmethod
    def command(self, name: str, url: str) -> list[str]:
        """How its own command adds a server; empty when it has none."""

    def entry(self, url: str) -> dict[str, str]:
        """A server in its settings file."""
        return {"type": "http", "url": url}

    def servers(self) -> dict[str, Any]:
        """Those in its settings file, by name. Raises Stopped."""
        return entries(read_settings(self.file()), self.section, self.file())


class ClaudeCode(Host):
    """Claude Code: `claude mcp add`, for all projects of the user."""

    title, program, section = "Claude Code", "claude", "mcpServers"
    next_step = "In Claude Code, /mcp lists {name}; choose Authenticate there."

    def file(self) -> Path:
        return _folder("CLAUDE_CONFIG_DIR", "") / ".claude.json"

    def command(self, name: str, url: str) -> list[str]:
        return [self.program, "mcp", "add", "--transport", "http", "--scope", "user", name, url]


class Codex(Host):
    """Codex: `codex mcp add`, which begins the sign-in; its settings are TOML."""

    title, program, section = "Codex", "codex", "mcp_servers"
    next_step = "Sign in with: codex mcp login {name}"
    after_command = (
        "Codex has begun the sign-in itself. Only if it did not end: codex mcp login {name}"
    )

    def file(self) -> Path:
        return _folder("CODEX_HOME", ".codex") / "config.toml"

    def command(self, name: str, url: str) -> list[str]:
        return [self.program, "mcp", "add", name, "--url", url]

    def entry(self, url: str) -> dict[str, str]:
        return {"url": url}


class VisualStudioCode(Host):
    """VS Code: `code --add-mcp`, into the profile of the user."""

    title, program, section = "VS Code", "code", "servers"
    next_step = "In VS Code, run “MCP: List Servers”, choose {name}, start it and sign in."

    def file(self) -> Path:
        if sys.platform == "darwin":
            return Path.home() / "Library/Application Support/Code/User/mcp.json"
        return _folder("XDG_CONFIG_HOME", ".config") / "Code/User/mcp.json"

    def command(self, name: str, url: str) -> list[str]:
        return [self.program, "--add-mcp", json.dumps({"name": name, **self.entry(url)})]


class Cursor(Host):
    """Cursor: a file for all projects of the user; it has no command for it."""

    title, program, section = "Cursor", "", "mcpServers"
    next_step = "Restart Cursor; its MCP settings list {name}, with a button to sign in."

    def file(self) -> Path:
        return Path.home() / ".cursor/mcp.json"

    def command(self, name: str, url: str) -> list[str]:
        return []

    def entry(self, url: str) -> dict[str, str]:
        return {"url": url}


HOSTS: dict[str, Host] = {
    "claude": ClaudeCode(),
    "cursor": Cursor(),
    "vscode": VisualStudioCode(),
    "codex": Codex(),
}


def _folder(variable: str, below_home: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / below_home)


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

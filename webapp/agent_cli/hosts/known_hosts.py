"""The hosts of agents that `askback connect` knows: their own command, and their settings file."""

import json
import os
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from webapp.agent_cli.hosts.settings_files import entries, read_settings


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

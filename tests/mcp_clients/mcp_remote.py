"""`mcp-remote`, which lends its OAuth to hosts that can only start a program."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.command import environment
from tests.services import wait_until

ASKED = re.compile(r"^http\S+/oauth/authorize\?\S+", re.MULTILINE)
HANDSHAKE = {"protocolVersion": "2025-06-18", "capabilities": {}}


class Proxied:
    """A host behind a running proxy, with the commands of `signing_in.mjs`."""

    def __init__(self, process: subprocess.Popen[str], kept: Path) -> None:
        self._process, self._kept = process, kept
        self._sent, self._log = 0, ""
        threading.Thread(target=self._listen, daemon=True).start()

    def do(self, name: str, **given: Any) -> Any:
        match name:
            case "sign_in":
                self._send("initialize", HANDSHAKE | {"clientInfo": {"name": "", "version": "1"}})
                wait_until(lambda: bool(ASKED.search(self._log)), "being sent to the browser")
                return ASKED.findall(self._log)[0]
            case "come_back":
                return self._answer()
            case "tools":
                self._send("tools/list", {})
                return [tool["name"] for tool in self._answer()["tools"]]
            case "use":
                self._send("tools/call", {"name": given["tool"], "arguments": given["given"]})
                return self._answer()
            case "token":
                (tokens,) = self._kept.rglob("*_tokens.json")
                return json.loads(tokens.read_text())["access_token"]
            case "consents":
                return len(ASKED.findall(self._log))
        return None

    def _listen(self) -> None:
        for line in self._process.stderr or ():
            self._log += line

    def _send(self, method: str, params: dict[str, Any]) -> None:
        self._sent += 1
        message = {"jsonrpc": "2.0", "id": self._sent, "method": method, "params": params}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline())
        assert answer["id"] == self._sent
        return answer["result"]


@contextmanager
def mcp_remote(
    node: Path, packages: Path, kept: Path, url: str, port: int, name: str
) -> Iterator[Proxied]:
    """The proxy until the end of the block; it listens at `port` for its creator to come back."""
    program = [node / "node", packages / "node_modules/mcp-remote/dist/proxy.js", url, str(port)]
    named = ["--static-oauth-client-metadata", json.dumps({"client_name": name})]
    # the browser that it would open is another one than that of the test
    changed = {"BROWSER": "true", "MCP_REMOTE_CONFIG_DIR": str(kept)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*program, *named],
        env=environment(changed),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
    ) as process:
        try:
            yield Proxied(process, kept)
        finally:
            process.kill()

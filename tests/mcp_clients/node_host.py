"""A host in a program of its own, which a test commands line by line."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.command import ROOT

SCRIPTS = ROOT / "tests" / "node"


class Refused(Exception):
    """What the client raised."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.name, self.code = error["name"], error["code"]


class NodeHost:
    """A running script."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def do(self, name: str, **given: Any) -> Any:
        """The result of a command. raises Refused"""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"name": name, "given": given}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the script ended"
        answer = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]


@contextmanager
def node_host(node: Path, packages: Path, script: str, *arguments: str) -> Iterator[NodeHost]:
    """The script until the end of the block. Its modules are found beside it."""
    for name in ("commands.mjs", script):
        shutil.copy(SCRIPTS / name, packages)
    with commanded([node / "node", script, *arguments], cwd=packages) as host:
        yield host


@contextmanager
def commanded(command: Sequence[str | Path], **options: Any) -> Iterator[NodeHost]:
    """The program until the end of the block; `options` as of Popen."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
    ) as process:
        try:
            yield NodeHost(process)
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(10) == 0
        finally:
            process.kill()

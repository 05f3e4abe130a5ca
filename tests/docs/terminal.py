"""A terminal in a reader's folder: one shell that runs what they would paste, block after block."""

import re
import subprocess
import sys
from pathlib import Path

from tests.command import PROGRAM, ROOT, environment
from tests.oauth.live import Installation

END = "--- the block has ended ---"


class Terminal:
    """Blocks share variables and functions; `askback` and `python` are where README has them."""

    def __init__(self, folder: Path, **variables: str) -> None:
        programs = folder / ".venv" / "bin"
        programs.mkdir(parents=True)
        (programs / "python").symlink_to(sys.executable)
        askback = programs / "askback"
        quoted = " ".join(f"'{part}'" for part in PROGRAM)
        askback.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec {quoted} "$@"\n')
        askback.chmod(0o755)
        self._shell = subprocess.Popen(
            ["bash"],
            cwd=folder,
            env=environment(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def paste(self, block: str) -> str:
        """What the commands of a block print; each of them has to succeed."""
        self.begin(block)
        return self.printed_until(END).removesuffix(f"{END}\n").strip()

    def begin(self, block: str) -> None:
        """As `paste`, for commands that wait for somebody; ended by `printed_until(END)`."""
        assert self._shell.stdin is not None
        self._shell.stdin.write(f"set -eo pipefail\n{block}\nset +e; printf '\\n%s\\n' '{END}'\n")
        self._shell.stdin.flush()

    def printed_until(self, text: str) -> str:
        """What is printed from here to the end of the line that has the text."""
        assert self._shell.stdout is not None
        printed = ""
        while text not in printed:
            line = self._shell.stdout.readline()
            assert line, f"the shell ended: {printed}"
            printed += line
        return printed

    def close(self) -> None:
        self._shell.communicate(timeout=30)


def blocks_of(running: Installation, page: str, info: str = ".*?") -> list[str]:
    """The commands of a page, as they are written for this installation."""
    text = running.app.test_client().get(f"/docs/{page}.md", base_url=running.origin).text
    return re.findall(f"```bash{info}\n(.*?)```", text, re.S)


def filled(block: str, dots: str, value: str) -> str:
    assert block.count(dots) == 1
    return block.replace(dots, value)

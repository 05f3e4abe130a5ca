"""A terminal in a reader's folder: one shell that runs what they would paste, block after block."""

import subprocess
import sys
from pathlib import Path

from tests.command import PROGRAM, ROOT, environment

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
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"set -eo pipefail\n{block}\nset +e; printf '\\n%s\\n' '{END}'\n")
        self._shell.stdin.flush()
        printed = ""
        while not printed.endswith(f"\n{END}\n"):
            line = self._shell.stdout.readline()
            assert line, f"the shell ended: {printed}"
            printed += line
        return printed.removesuffix(f"{END}\n").strip()

    def close(self) -> None:
        self._shell.communicate(timeout=30)

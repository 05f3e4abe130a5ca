"""The command line as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from click.testing import CliRunner

from webapp.app.cli import main

ROOT = Path(__file__).parent.parent
DATA_KEYS = "k1:8eTz0Y4mJb1uGqv5XcH2Rk7WnLd3sPa9oFi6yVtB0hE="  # of no installation
KEPT = ("HOME", "LANG", "PATH", "TMPDIR")  # variables
PROGRAM = [sys.executable, "-m", "webapp"]


def environment(changed: Mapping[str, str]) -> dict[str, str]:
    """What a process of ours sees: nothing of this project but `changed`."""
    return {name: os.environ[name] for name in KEPT if name in os.environ} | dict(changed)


def start(
    *arguments: str, program: Sequence[str] = PROGRAM, **changed: str
) -> subprocess.Popen[str]:
    """Start `askback ARGUMENTS`; the caller ends it."""
    return subprocess.Popen(
        [*program, *arguments],
        cwd=ROOT,
        env=environment(changed),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def askback(*arguments: str, typed: str = "", **changed: str) -> subprocess.CompletedProcess[str]:
    """Run `askback ARGUMENTS` to its end with variables set, at most a minute long."""
    process = start(*arguments, **changed)
    out, errors = process.communicate(typed, timeout=60)
    return subprocess.CompletedProcess(arguments, process.returncode, out, errors)


def askback_here(
    *arguments: str, typed: str = "", **changed: str
) -> subprocess.CompletedProcess[str]:
    """The same inside this process, which need not import it first; for operators' commands."""
    unset: dict[str, str | None] = dict.fromkeys(os.environ.keys() - set(KEPT))
    ran = CliRunner(env=unset | changed).invoke(main, arguments, input=typed)
    return subprocess.CompletedProcess(arguments, ran.exit_code, ran.stdout, ran.stderr)

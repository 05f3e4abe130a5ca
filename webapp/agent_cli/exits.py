"""How a command ends: its exit code, and what it says on standard error."""

import sys
from enum import IntEnum
from pathlib import Path

import click


class Exit(IntEnum):
    """The exit codes of the commands of agents; /docs/command-line lists them."""

    ANSWERED = 0
    NOT_CONNECTED = 1
    WRONG_USE = 2
    NOT_CONFIRMED = 3
    NO_ANSWER = 4
    GONE = 5
    NOT_SIGNED_IN = 6
    NOT_REACHED = 7
    INTERRUPTED = 130


class Stopped(Exception):
    """The command ends with `code`; the message is for people, in whole sentences."""

    def __init__(self, code: Exit, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotNow(Exception):
    """A request that may be repeated; `reached` when a server answered it.

    seconds  to wait before, as the server asked for; None when it did not say
    """

    def __init__(self, reason: str, *, reached: bool, seconds: int | None = None) -> None:
        super().__init__(reason)
        self.reached = reached
        self.seconds = seconds


def called_as() -> str:
    """This program as it was called: what is pasted runs, on no search path, too."""
    return sys.argv[0] if Path(sys.argv[0]).name == "askback" else "askback"


def tell(text: str) -> None:
    """A line on standard error; what others wrote in it moves no cursor of a terminal."""
    click.echo("".join(char if char.isprintable() else " " for char in text), err=True)

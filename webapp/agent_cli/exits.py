"""Exit codes, the address of the server and the deadline, which the commands share."""

import os
import sys
import time
from collections.abc import Mapping
from enum import IntEnum
from pathlib import Path
from urllib.parse import urlsplit

import click

from webapp.base.config_readers import absolute, is_loopback, origin
from webapp.base.data_folder import DEFAULT_FOLDER, served_address


class Exit(IntEnum):
    """The exit codes of agent commands; /docs/command-line lists them."""

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
    """The command ends with `code`; people read the message, in whole sentences."""

    def __init__(self, code: Exit, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotNow(Exception):
    """A request failed and may be repeated; `reached` tells whether a server answered.

    seconds  how long the server asks to wait first; None when it does not say
    """

    def __init__(self, reason: str, *, reached: bool, seconds: int | None = None) -> None:
        super().__init__(reason)
        self.reached = reached
        self.seconds = seconds


def called_as() -> str:
    """Return the program's name as called, so that pasted commands also run off the PATH."""
    return sys.argv[0] if Path(sys.argv[0]).name == "askback" else "askback"


def tell(text: str) -> None:
    """Print a line to standard error, without control characters for the terminal."""
    click.echo("".join(char if char.isprintable() else " " for char in text), err=True)


def server_address(given: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """Return the server's origin: `given`, else `ASKBACK_URL` or `PUBLIC_URL`, else this folder's.

    Raises Stopped.
    """
    text = given or environ.get("ASKBACK_URL") or environ.get("PUBLIC_URL")
    try:
        if not text:  # where `askback run` serves, or last served
            folder = absolute(environ.get("ASKBACK_DATA", "").strip() or DEFAULT_FOLDER)
            text = served_address(folder) or "http://127.0.0.1:8000"
        address = origin(text.strip())
    except ValueError as problem:
        raise Stopped(Exit.WRONG_USE, f"The address of the server: {problem}.") from None
    if not (address.startswith("https://") or is_local(address)):
        open_to_others = f"{address} is plain http, which others can read; only this computer is"
        raise Stopped(Exit.WRONG_USE, f"{open_to_others} reached so.")
    return address


def is_local(address: str) -> bool:
    """Return whether this is an address of this computer."""
    return is_loopback(urlsplit(address).hostname or "")


PAUSES = (0.5, 1, 2, 4, 5)  # seconds before each repetition; the last one is used for all further


class Deadline:
    """The time limit of a command; once it is over, `late` is the exit code, `why` the message."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self.late = Exit.NOT_CONFIRMED
        self.why = "Nobody confirmed the draft in time."
        self.failures = 0  # in a row

    def left(self) -> float:
        return max(0.0, self._ends - time.monotonic())

    def pause(self, seconds: float) -> None:
        """Sleep, at most until the deadline. Raises Stopped when no time is left."""
        left = self.left()
        if left <= 0:
            raise Stopped(self.late, self.why)
        time.sleep(min(seconds, left))

    def failed(self, reason: NotNow) -> None:
        """Sleep before a repetition. Raises Stopped when no time is left."""
        if self.left() <= 0:
            code = self.late if reason.reached else Exit.NOT_REACHED
            raise Stopped(code, str(reason))
        if not self.failures:
            tell(f"{reason}; trying again …")
        usual = PAUSES[min(self.failures, len(PAUSES) - 1)]
        self.failures += 1
        self.pause(usual if reason.seconds is None else reason.seconds)

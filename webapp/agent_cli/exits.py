"""Exit codes, the server and the deadline, as commands share them."""

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


def server_address(given: str | None, environ: Mapping[str, str]) -> str:
    """The origin of the server: given, else `ASKBACK_URL`, else the installation of this folder.

    Raises Stopped.
    """
    text = given or environ.get("ASKBACK_URL") or environ.get("PUBLIC_URL") or _of_folder(environ)
    try:
        address = origin(text.strip())
    except ValueError as problem:
        raise Stopped(Exit.WRONG_USE, f"The address of the server: {problem}.") from None
    if not (address.startswith("https://") or is_local(address)):
        open_to_others = f"{address} is plain http, which others can read; only this computer is"
        raise Stopped(Exit.WRONG_USE, f"{open_to_others} reached so.")
    return address


def is_local(address: str) -> bool:
    """True for an address of this computer."""
    return is_loopback(urlsplit(address).hostname or "")


def _of_folder(environ: Mapping[str, str]) -> str:
    """Where `askback run` serves, or last served, with the same settings in this folder."""
    host, port = environ.get("HOST"), environ.get("PORT")
    folder = absolute(environ.get("ASKBACK_DATA", "").strip() or DEFAULT_FOLDER)
    if not (host or port) and (served := served_address(folder)):
        return served
    host = host or "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port or 8000}"


PAUSES = (0.5, 1, 2, 4, 5)  # seconds before a request is repeated, the last one again and again


class Deadline:
    """`late` and `why` say what is waited for; they change as the command goes on."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self.late = Exit.NOT_CONFIRMED
        self.why = "Nobody confirmed the draft in time."
        self.failures = 0  # in a row

    def left(self) -> float:
        """Seconds, never less than 0."""
        return max(0.0, self._ends - time.monotonic())

    def pause(self, seconds: float) -> None:
        """Sleep, at most to the end. Raises Stopped when there is no time left."""
        left = self.left()
        if left <= 0:
            raise Stopped(self.late, self.why)
        time.sleep(min(seconds, left))

    def failed(self, reason: NotNow) -> None:
        """Sleep before a repetition. Raises Stopped when there is no time left for one."""
        if self.left() <= 0:
            code = self.late if reason.reached else Exit.NOT_REACHED
            raise Stopped(code, str(reason))
        if not self.failures:
            tell(f"{reason}; trying again …")
        usual = PAUSES[min(self.failures, len(PAUSES) - 1)]
        self.failures += 1
        self.pause(usual if reason.seconds is None else reason.seconds)

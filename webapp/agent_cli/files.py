"""Private files, and secrets in the keyring."""

import fcntl
import hashlib
import importlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, cast

from webapp.base.data_folder import open_folder

ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def config_folder() -> Path:
    """Where connections are kept, by the XDG base directory specification."""
    return open_folder(_xdg("XDG_CONFIG_HOME", ".config") / "askback")


def state_folder() -> Path:
    """Where the progress of asks is kept."""
    return open_folder(_xdg("XDG_STATE_HOME", ".local/state") / "askback")


def short_name(*parts: str) -> str:
    """A file name for these texts, which no others have."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Alone among processes that lock this file; raises BlockingIOError without `wait`.

    The lock ends with the process, however that ends. Who holds it may remove the file.
    """
    opened = _lock(path, wait=wait)
    try:
        yield
    finally:
        os.close(opened)


def _lock(path: Path, *, wait: bool) -> int:
    """The open file; one that was removed while it was waited for locks nothing."""
    while True:
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is_at(path, opened):
                return opened
        except BaseException:
            os.close(opened)
            raise
        os.close(opened)


def _is_at(path: Path, opened: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(opened))
    except FileNotFoundError:
        return False


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let the signals that end a command wait until something is both done and noted."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _xdg(variable: str, default: str) -> Path:
    """The specification ignores paths that are not absolute."""
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else Path.home() / default


SERVICE = "askback"


class Keyring(Protocol):
    """What is used of the package."""

    def get_password(self, service: str, user: str) -> str | None:
        """The text that was stored; None without one."""

    def set_password(self, service: str, user: str, text: str) -> None:
        """Store the text in the place of an older one."""

    def delete_password(self, service: str, user: str) -> None:
        """Remove the text."""


def keep_secret(server: str, text: str) -> bool:
    """Store the text for this server; False where no keyring takes it and gives it back."""
    found = _keyring()
    if found is None:
        return False
    with suppress(Exception):  # each backend has errors of its own
        found.set_password(SERVICE, server, text)
    return kept_secret(server) == text


def kept_secret(server: str) -> str | None:
    """The text stored for this server; None when there is none, or the keyring is locked."""
    found = _keyring()
    with suppress(Exception):
        return found.get_password(SERVICE, server) if found else None
    return None


def forget_secret(server: str) -> None:
    """Remove the text stored for this server, where there is one."""
    found = _keyring()
    with suppress(Exception):
        if found:
            found.delete_password(SERVICE, server)


def _keyring() -> Keyring | None:
    try:
        return cast(Keyring, importlib.import_module("keyring"))
    except ImportError:
        return None

"""Files of the user: their folders, one command at a time, and none interrupted half-way."""

import fcntl
import hashlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webapp.data_folder import open_folder

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

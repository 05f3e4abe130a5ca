"""Stores the progress of `ask` and `wait`, so that a command can be killed and continued.

Each line of output is stored before it is printed, and counted when it is printed. The next
command with the same key prints the lines that are still missing, and none of them twice.
"""

import fcntl
import hashlib
import json
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from webapp.agent_cli.exits import Exit, Stopped
from webapp.base.data_folder import open_folder, replace_file

STDOUT = 1
UNUSED_SECONDS = 90 * 86_400  # then the files of a key are removed
ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@dataclass(kw_only=True)
class Progress:
    """The steps of one key so far; fields of later steps are empty. `working` opens them.

    path      where they are stored, with the files of the same name alongside
    body      the draft, stored until the server has it; its `digest` stays
    asked_at  when the draft was first sent, in seconds since 1970
    since     the cursor after the last event in `lines`
    lines     output that follows the first `printed` lines; some of it may be printed already
    """

    path: Path
    server: str
    key: str
    body: str = ""
    digest: str = ""
    idempotency_key: str = ""
    asked_at: float = 0
    draft_id: str = ""
    review_url: str = ""
    form_id: str = ""
    share_url: str = ""
    since: str = ""
    responses: int = 0
    printed: int = 0
    lines: Sequence[str] = ()

    def note(self, **changed: object) -> None:
        """Store further steps durably; call it before taking them."""
        vars(self).update(changed)
        stored = {name: value for name, value in vars(self).items() if name != "path"}
        replace_file(self.path, json.dumps(stored))

    def output(self, events: Sequence[Mapping[str, object]], **changed: object) -> None:
        """Print each event once, as one line of JSON; `changed` are the steps that they report.

        The lines are ASCII, so that text of people cannot control the terminal.
        """
        self.note(lines=[json.dumps(event) for event in events], **changed)
        self.print_rest()

    def print_rest(self) -> None:
        """Print the lines that are stored and not yet printed. Raises BrokenPipeError."""
        if not self.lines:
            return
        # this file has one byte per printed line
        with self.path.with_suffix(".printed").open("ab", buffering=0) as counter:
            for line in self.lines[os.fstat(counter.fileno()).st_size - self.printed :]:
                _print_and_count(line, counter.fileno())
        self.note(lines=[], printed=self.printed + len(self.lines))

    def forget(self) -> None:
        """Remove the files; call it when nobody needs the key any more."""
        with uninterrupted():
            _remove(self.path.with_suffix(".lock"))


@contextmanager
def working(kind: str, server: str, key: str) -> Iterator[Progress]:
    """Open the progress of this key for one command at a time. Raises Stopped."""
    folder = user_folder("XDG_STATE_HOME", ".local/state")
    path = folder / f"{kind}-{short_name(server, key)}.json"
    lock = path.with_suffix(".lock")
    with ExitStack() as held:
        try:
            held.enter_context(locked(lock, wait=False))
        except BlockingIOError as problem:
            what = f"Another askback works with the key {key}."
            raise Stopped(Exit.WRONG_USE, what) from problem
        os.utime(lock)
        for other in folder.glob("*.lock"):
            with suppress(OSError):  # another command removes it
                if other.stat().st_mtime < time.time() - UNUSED_SECONDS:
                    _remove(other)
        yield _stored(path) or Progress(path=path, server=server, key=key)


def _remove(lock: Path) -> None:
    """Remove all files of a key, the lock last, so that no command starts meanwhile."""
    for path in lock.parent.glob(f"{lock.stem}.*"):
        if path != lock:
            path.unlink(missing_ok=True)
    lock.unlink()


def _stored(path: Path) -> Progress | None:
    try:
        return Progress(path=path, **json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as problem:
        what = f"{path} cannot be read ({problem}). Begin anew with another key."
        raise Stopped(Exit.WRONG_USE, what) from problem


def _print_and_count(line: str, counter: int) -> None:
    """Print and count a line, uninterrupted by SIGINT, SIGTERM or SIGHUP. Only a SIGKILL in the
    few microseconds between the last two calls has the line printed again.
    """
    rest = f"{line}\n".encode()
    with uninterrupted():
        while rest:
            rest = rest[os.write(STDOUT, rest) :]
        os.write(counter, b".")


def user_folder(variable: str, default: str) -> Path:
    """Open our folder by the XDG base directory specification, which ignores relative paths."""
    named = Path(os.environ.get(variable, ""))
    return open_folder((named if named.is_absolute() else Path.home() / default) / "askback")


def short_name(*parts: str) -> str:
    """Return a file name that is unique to these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold an exclusive lock on this file. Raises BlockingIOError without `wait`.

    The lock ends with the process, even when that is killed. Its holder may remove the file.
    """
    while True:
        with open(path, "a", opener=partial(os.open, mode=0o600)) as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            # a file that was removed during the wait locks nothing
            if os.fstat(opened.fileno()).st_nlink:
                yield
                return


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay the signals that end a command, so that a step is both taken and stored."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

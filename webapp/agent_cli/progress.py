"""What an `ask` or a `wait` has done, written down so that it can be killed and go on.

Lines for standard output are written down before they are printed, and counted as they are: what
was printed does not come again, and what was not is printed by the next command with this key.
"""

import fcntl
import hashlib
import json
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from webapp.agent_cli.exits import Exit, Stopped
from webapp.base.data_folder import open_folder, replace_file

STDOUT = 1
UNUSED_SECONDS = 90 * 86_400  # after which what a key keeps is removed
ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The steps so far; empty texts for what there is not yet.

    body    of the draft, kept until the server has it; `digest` of it stays
    asked_at  when it was first sent, seconds since 1970
    since   the cursor behind everything in `lines` and before
    lines   to be printed after the first `printed` ones, perhaps printed in part
    """

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
    lines: tuple[str, ...] = ()


class Progress:
    """The steps of one key in files of its own; see `working`."""

    def __init__(self, path: Path, steps: Steps) -> None:
        self._path = path
        self.steps = steps

    def note(self, **changed: object) -> None:
        """Write down further steps, durably, before they are taken."""
        self.steps = replace(self.steps, **changed)  # type: ignore[arg-type]
        replace_file(self._path, json.dumps(asdict(self.steps)))

    def output(self, events: Sequence[Mapping[str, object]], **changed: object) -> None:
        """Print events, one object per line, each once; `changed` are the steps they report.

        ASCII alone: what people wrote gives a terminal no orders.
        """
        self.note(lines=tuple(json.dumps(event) for event in events), **changed)
        self.print_rest()

    def print_rest(self) -> None:
        """The lines that are written down and not printed. Raises BrokenPipeError."""
        lines, before = self.steps.lines, self.steps.printed
        if not lines:
            return
        # as many bytes as lines were printed
        with self._path.with_suffix(".printed").open("ab", buffering=0) as counter:
            for line in lines[os.fstat(counter.fileno()).st_size - before :]:
                _print_and_count(line, counter.fileno())
        self.note(lines=(), printed=before + len(lines))

    def forget(self) -> None:
        """Remove the files, once nobody can go on with the key."""
        with uninterrupted():
            _remove(self._path.with_suffix(".lock"))


@contextmanager
def working(kind: str, server: str, key: str) -> Iterator[Progress]:
    """The progress of this key, for one command at a time. Raises Stopped."""
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
        for other in lock.parent.glob("*.lock"):
            _remove_unused(other)
        yield Progress(path, _stored(path) or Steps(server=server, key=key))


def _remove_unused(lock: Path) -> None:
    """The files of a key with which no command has begun for so long."""
    long_ago = time.time() - UNUSED_SECONDS
    with suppress(FileNotFoundError, BlockingIOError):  # removed, or in use
        if lock.stat().st_mtime < long_ago:
            with locked(lock, wait=False):
                if lock.stat().st_mtime < long_ago:
                    _remove(lock)


def _remove(lock: Path) -> None:
    """All files of the key whose lock is held, the lock last: until then nobody begins with it."""
    for path in lock.parent.glob(f"{lock.stem}.*"):
        if path != lock:
            path.unlink(missing_ok=True)
    lock.unlink()


def _stored(path: Path) -> Steps | None:
    try:
        stored = json.loads(path.read_text())
        return Steps(**stored | {"lines": tuple(stored["lines"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as problem:
        what = f"{path} cannot be read ({problem}). Begin anew with another key."
        raise Stopped(Exit.WRONG_USE, what) from problem


def _print_and_count(line: str, counter: int) -> None:
    """One step for every signal that can wait. SIGKILL, which cannot, has to hit the few
    microseconds between the last two calls to have this line printed again.
    """
    rest = f"{line}\n".encode()
    with uninterrupted():
        while rest:
            rest = rest[os.write(STDOUT, rest) :]
        os.write(counter, b".")


def user_folder(variable: str, default: str) -> Path:
    """Ours by the XDG base directory specification, which ignores paths that are not absolute."""
    named = Path(os.environ.get(variable, ""))
    return open_folder((named if named.is_absolute() else Path.home() / default) / "askback")


def short_name(*parts: str) -> str:
    """A file name for these texts, which no others have."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Alone among processes that lock this file; raises BlockingIOError without `wait`.

    The lock ends with the process, however that ends. Who holds it may remove the file.
    """
    while True:
        with open(path, "a", opener=partial(os.open, mode=0o600)) as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            # one that was removed while it was waited for locks nothing
            if os.fstat(opened.fileno()).st_nlink:
                yield
                return


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let the signals that end a command wait until something is both done and noted."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

"""What an `ask` or a `wait` has done, written down so that it can be killed and go on.

Lines for standard output are written down before they are printed, and counted as they are: what
was printed does not come again, and what was not is printed by the next command with this key.
"""

import json
import os
import secrets
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from webapp.agent_cli.exits import Exit, Stopped
from webapp.agent_cli.files import locked, short_name, state_folder, uninterrupted
from webapp.base.data_folder import replace_file

STDOUT = 1
UNUSED_SECONDS = 90 * 86_400  # after which what a key keeps is removed
COUNTED = struct.Struct("<QQ")  # the batch, and how many of its lines are printed


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The steps so far; empty texts for what there is not yet.

    body    of the draft, kept until the server has it; `digest` of it stays
    asked_at  when it was first sent, seconds since 1970
    since   the cursor behind everything in `lines` and before
    lines   to be printed, the first ones perhaps already; `batch` numbers such lists
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
    batch: int = 0
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

    def output(self, events: list[dict[str, object]], **changed: object) -> None:
        """Print events, one object per line, each once; `changed` are the steps they report.

        ASCII alone: what people wrote gives a terminal no orders.
        """
        lines = tuple(json.dumps(event) for event in events)
        self.note(lines=lines, batch=self.steps.batch + 1, **changed)
        self.print_rest()

    def print_rest(self) -> None:
        """The lines that are written down and not printed. Raises BrokenPipeError."""
        if not self.steps.lines:
            return
        counter = os.open(self._path.with_suffix(".printed"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            printed = self._printed(counter)
            for number, line in enumerate(self.steps.lines[printed:], printed + 1):
                _print_and_count(line, counter, COUNTED.pack(self.steps.batch, number))
        finally:
            os.close(counter)
        self.note(lines=())

    def forget(self) -> None:
        """Remove the files, once nobody can go on with the key."""
        with uninterrupted():
            _remove(self._path.with_suffix(".lock"))

    def _printed(self, counter: int) -> int:
        stored = os.pread(counter, COUNTED.size, 0)
        if len(stored) < COUNTED.size:
            return 0
        batch, number = COUNTED.unpack(stored)
        return int(number) if batch == self.steps.batch else 0


@contextmanager
def working(kind: str, server: str, key: str) -> Iterator[Progress]:
    """The progress of this key, for one command at a time. Raises Stopped."""
    path = state_folder() / f"{kind}-{short_name(server, key)}.json"
    lock = path.with_suffix(".lock")
    with ExitStack() as held:
        try:
            held.enter_context(locked(lock, wait=False))
        except BlockingIOError as problem:
            what = f"Another askback works with the key {key}."
            raise Stopped(Exit.WRONG_USE, what) from problem
        os.utime(lock)
        _remove_unused(lock.parent)
        yield Progress(path, _stored(path) or Steps(server=server, key=key))


def _remove_unused(folder: Path) -> None:
    """The files of keys with which no command has begun for so long."""
    for lock in folder.glob("*.lock"):
        with suppress(FileNotFoundError, BlockingIOError):  # removed, or in use
            if _is_unused(lock):
                with locked(lock, wait=False):
                    if _is_unused(lock):
                        _remove(lock)


def _is_unused(lock: Path) -> bool:
    return lock.stat().st_mtime < time.time() - UNUSED_SECONDS


def _remove(lock: Path) -> None:
    """All files of the key whose lock is held, the lock last: until then nobody begins with it."""
    for path in lock.parent.glob(f"{lock.stem}.*"):
        if path != lock:
            path.unlink(missing_ok=True)
    lock.unlink()


def new_key() -> str:
    """A key that no other command has."""
    return secrets.token_hex(6)


def _stored(path: Path) -> Steps | None:
    try:
        stored = json.loads(path.read_text())
        return Steps(**stored | {"lines": tuple(stored["lines"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as problem:
        what = f"{path} cannot be read ({problem}). Begin anew with another key."
        raise Stopped(Exit.WRONG_USE, what) from problem


def _print_and_count(line: str, counter: int, counted: bytes) -> None:
    """One step for every signal that can wait. SIGKILL, which cannot, has to hit the few
    microseconds between the last two calls to have this line printed again.
    """
    rest = f"{line}\n".encode()
    with uninterrupted():
        while rest:
            rest = rest[os.write(STDOUT, rest) :]
        os.pwrite(counter, counted, 0)

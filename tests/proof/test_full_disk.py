"""The disk of the database fills up under load, and is freed again."""

import os
import pwd
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from tests.proof.loaded import Server, Writer
from tests.services import AS_ROOT, PostgreSQL, postgresql_server, wait_until

MOUNT = 'mount -t tmpfs -o "size=$1,mode=700" tmpfs "$2" && shift 2 && '
BRING_FILES = 'cp "$1"/* "$2" && shift 2 && exec "$@"'
HAND_OVER = 'chown "$1" "$2" && shift 2 && exec "$@"'
WORDS = "x" * 2_000  # with each answer, so that it fills soon
AT_ONCE = 8
CATALOG_MIB = 16  # what a PostgreSQL database with our tables takes, and a little room


class Disk:
    """The small disk of a running process, seen from outside of it."""

    def __init__(self, process: subprocess.Popen[bytes], path: Path) -> None:
        self.path = Path(f"/proc/{process.pid}/root{path}")

    def fill(self) -> None:
        with (self.path / "filler").open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(b"x" * 65_536)
            except OSError:
                return

    def free(self) -> None:
        (self.path / "filler").unlink()


Small = tuple[Server, Disk, Callable[[], list[str]]]  # and what tells the words of all answers


def private(script: str, size: str, disk: Path, *parameters: str) -> tuple[str, ...]:
    """What starts a program for which `disk` is a disk of `size`, prepared by the script."""
    own = ["unshare", "--mount"] + ([] if os.getuid() == 0 else ["--map-root-user"])
    return (*own, "sh", "-c", MOUNT + script, "-", size, str(disk), *parameters)


def as_server(user: str | None) -> tuple[str, ...]:
    """What makes the root of a private mount the user that runs PostgreSQL."""
    if not AS_ROOT or user is None:
        return ("unshare", "--user", f"--map-user={os.getuid()}")
    entry = pwd.getpwnam(user)
    return ("setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups")


@contextmanager
def sqlite_on_a_small_disk(folder: Path, size: str) -> Iterator[Small]:
    brought, disk = folder / "brought", folder / "disk"
    brought.mkdir()
    disk.mkdir()
    server = Server(f"sqlite:///{brought}/askback.sqlite3", folder)
    server.variables["DATABASE_URL"] = f"sqlite:///{disk}/askback.sqlite3"
    wrapped_in = private(BRING_FILES, size, disk, str(brought), str(disk))
    with server.up(*wrapped_in) as process:
        small = Disk(process, disk)
        yield server, small, lambda: copied_words(small, folder / "copy")


def copied_words(disk: Disk, copied_to: Path) -> list[str]:
    """From a copy, while nobody writes: SQLite would resolve the path to another disk."""
    copied_to.mkdir()
    for ending in ("", "-wal"):
        shutil.copy(disk.path / f"askback.sqlite3{ending}", copied_to)
    with closing(sqlite3.connect(copied_to / "askback.sqlite3")) as connection:
        return [words for (words,) in connection.execute("SELECT answer_text FROM answers")]


@contextmanager
def postgresql_on_a_small_disk(folder: Path, size: str) -> Iterator[Small]:
    """Only its tables are there; a server without room for its log ends itself."""
    with postgresql_server() as postgresql:
        postgresql.stop()
        disk = postgresql.folder / "disk"
        disk.mkdir()
        put_on_a_small_disk(postgresql, disk, f"{int(size[:-1]) + CATALOG_MIB}m")
        postgresql.execute(f"CREATE TABLESPACE small LOCATION '{disk}'")
        postgresql.execute("CREATE DATABASE askback TABLESPACE small")
        server = Server(postgresql.url.replace("/postgres?", "/askback?"), folder)
        with server.up():
            assert postgresql.process is not None
            yield server, Disk(postgresql.process, disk), server.stored


def put_on_a_small_disk(postgresql: PostgreSQL, disk: Path, size: str) -> None:
    owner = postgresql.user or str(os.getuid())
    owned = (owner if AS_ROOT else "root", str(disk))
    postgresql.start(wrapped_in=private(HAND_OVER, size, disk, *owned, *as_server(owner)))


# SQLite's log, which is not brought into the database before 4 MB, has to fit in when it is freed
@pytest.mark.parametrize("size", ["6m", pytest.param("40m", marks=pytest.mark.prove)])
@pytest.mark.parametrize("on_a_small_disk", [sqlite_on_a_small_disk, postgresql_on_a_small_disk])
def test_a_disk_that_fills_up_and_is_freed(
    tmp_path: Path,
    size: str,
    on_a_small_disk: Callable[[Path, str], AbstractContextManager[Small]],
) -> None:
    writers: list[Writer] = []
    with on_a_small_disk(tmp_path, size) as (server, disk, stored_words):

        def write_until_refused() -> None:
            while True:
                writers.append(writer := Writer(server))
                writer.words += WORDS
                if not writer.try_once():
                    return

        with ThreadPoolExecutor(AT_ONCE) as pool:
            writing = [pool.submit(write_until_refused) for _ in range(AT_ONCE)]
            wait_until(lambda: len(writers) > 40, "filling the disk")
            disk.fill()
            for each in writing:
                each.result()
        refused = [writer for writer in writers if not writer.saved]
        assert server.call("GET", "/healthz")[0] == 200
        disk.free()
        began = time.monotonic()
        wait_until(refused[0].try_once, "saving again", 5)
        seconds = time.monotonic() - began
        for writer in refused[1:]:
            wait_until(writer.try_once, "saving the rest", 20)
        stored = stored_words()

    refusals = [each for writer in writers for each in writer.refusals]
    print(
        f"{size}: {len(writers)} answers, {len(refusals)} refusals, "
        f"first success {seconds * 1000:.0f} ms after it was freed"
    )
    assert len(refusals) >= AT_ONCE
    assert {status for status, _ in refusals} == {503}
    assert all("<html" in body and writer_words(body) for _, body in refusals)
    assert sorted(stored) == sorted(writer.words for writer in writers)


def writer_words(body: str) -> bool:
    """Whether the page keeps what was typed."""
    return WORDS in body

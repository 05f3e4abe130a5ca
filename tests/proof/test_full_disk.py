"""The disk of the database fills up under load, and is freed again."""

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.proof.loaded import Server, Writer
from tests.services import wait_until

MOUNT = 'mount -t tmpfs -o "size=$1,mode=700" tmpfs "$2" && cp "$3"/* "$2" && shift 3 && exec "$@"'
WORDS = "x" * 2_000  # with each answer, so that it fills soon
AT_ONCE = 8

sizes = pytest.mark.parametrize("size", ["3m", pytest.param("40m", marks=pytest.mark.prove)])


def in_a_place_of_its_own(size: str, disk: Path, brought: Path) -> tuple[str, ...]:
    """What starts a program for which `disk` is a disk of `size` with the files of `brought`."""
    private = ["unshare", "--mount"] + ([] if os.getuid() == 0 else ["--map-root-user"])
    return (*private, "sh", "-c", MOUNT, "-", size, str(disk), str(brought))


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

    def stored(self, copied_to: Path) -> list[str]:
        """From a copy, while nobody writes: SQLite would resolve the path to another disk."""
        copied_to.mkdir()
        for ending in ("", "-wal"):
            shutil.copy(self.path / f"askback.sqlite3{ending}", copied_to)
        with closing(sqlite3.connect(copied_to / "askback.sqlite3")) as connection:
            return [words for (words,) in connection.execute("SELECT answer_text FROM answers")]


@contextmanager
def on_a_small_disk(folder: Path, size: str) -> Iterator[tuple[Server, Disk]]:
    brought, disk = folder / "brought", folder / "disk"
    brought.mkdir()
    disk.mkdir()
    server = Server(f"sqlite:///{brought}/askback.sqlite3", folder)
    server.database_url = f"sqlite:///{disk}/askback.sqlite3"
    with server.up(*in_a_place_of_its_own(size, disk, brought)) as process:
        yield server, Disk(process, disk)


@sizes
def test_a_disk_that_fills_up_and_is_freed(tmp_path: Path, size: str) -> None:
    writers: list[Writer] = []
    with on_a_small_disk(tmp_path, size) as (server, disk):

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
        stored = disk.stored(tmp_path / "copy")

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

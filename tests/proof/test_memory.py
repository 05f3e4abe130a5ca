"""The memory of a server stays what it was, whatever is answered and downloaded meanwhile."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests import bulk
from tests.proof.killing import BROKEN, at_once
from tests.proof.loaded import Server, Writer
from tests.proof.test_slow_readers import MIB, download, memory
from tests.services import postgresql_database


# in the first seconds each thread and connection takes what it needs, so the short one allows more
@pytest.mark.parametrize(
    ("seconds", "most"),
    [(5, 64), pytest.param(1800, 16, marks=[pytest.mark.prove, pytest.mark.timeout(2400)])],
)
def test_memory_stays_bounded_under_mixed_load_on_both_databases(
    postgresql_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seconds: int,
    most: int,
) -> None:
    monkeypatch.setattr(bulk, "WORDS", "x" * 5_000)
    with postgresql_database(postgresql_url) as postgresql, ThreadPoolExecutor() as pool:
        servers = []
        for url in (f"sqlite:///{tmp_path}/data.sqlite3", postgresql):
            folder = tmp_path / url.partition(":")[0]
            folder.mkdir()
            servers.append(Server(url, folder))
        added = list(pool.map(partial(added_memory, seconds=seconds), servers))

    assert max(added) < most


def added_memory(server: Server, seconds: int) -> float:
    """MiB that a server grows by in the last three quarters of so many seconds of calls."""
    files = [download(server, number) for number in range(3)]
    csv, json = files[0][0], files[1][0].replace(".csv", ".json")
    calls: list[Callable[[], object]] = [
        lambda: Writer(server).try_once(),
        lambda: server.call("GET", f"/r/{server.share_token}"),
        lambda: server.call("GET", csv, Cookie=files[0][1]),
        lambda: server.call("GET", json, Cookie=files[1][1]),
        lambda: server.call("GET", files[2][0].replace("/export.csv", ""), Cookie=files[2][1]),
    ]
    with server.up() as process, repeated(calls, times=2) as done:
        time.sleep(seconds / 4)  # until every path has been taken by every thread
        before = memory(process.pid)
        time.sleep(seconds * 3 / 4)
        added = (memory(process.pid) - before) / MIB

    print(
        f"{server.variables['DATABASE_URL'].partition(':')[0]}: {done['whole']} calls in "
        f"{seconds} s, {done['cut off']} cut off: {before / MIB:.0f} MiB, {added:.1f} MiB later"
    )
    # a busy machine may make a database slower than a download waits for it
    assert done["cut off"] <= done["whole"] / 100
    return added


@contextmanager
def repeated(calls: list[Callable[[], object]], times: int) -> Iterator[Counter[str]]:
    """Each of the calls again and again, in so many threads of its own; how they ended."""
    ended = threading.Event()
    done: Counter[str] = Counter()

    def repeat(call: Callable[[], object]) -> None:
        while not ended.is_set():
            try:
                call()
            except BROKEN:
                done["cut off"] += 1
            else:
                done["whole"] += 1

    with at_once(ended, *(partial(repeat, call) for call in calls * times)):
        yield done

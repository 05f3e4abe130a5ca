"""Figures of recordings in a folder: the memory of uploads and readers, the wait for a range."""

import http.client
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from statistics import median

import pytest

from tests.bench.figures import Table
from tests.bench.servers import begin_peak, peak_mib
from tests.proof.killing import Target
from tests.proof.loaded import Server
from tests.proof.voice.speaking import noise, upload
from tests.voice.factories import make_voice_form
from webapp.base.database import db

pytestmark = pytest.mark.bench

AT_ONCE = 8
MOST_BYTES = 25 * 1024**2
RANGES = 100


def test_recordings(empty_database_url: str, tmp_path: Path) -> None:
    server = Server(empty_database_url, tmp_path)
    with server.app.app_context():
        share_token = make_voice_form().share_token
        db.session.remove()
        db.engine.dispose()
    target, table = Target({}, server.port), Table("SQLite")
    audio = noise(MOST_BYTES)
    with server.up() as process:
        session = target.new_session(share_token)
        held = upload(target, share_token, session, audio)
        path, cookie = f"/r/{share_token}/recordings/{held}", f"askback_r={session}"
        read(server.port, path, cookie, 0)
        measure_readers(table, process.pid, server.port, path, cookie)
        # these take the room of their address: what nobody answered with makes way
        measure_uploads(table, process.pid, target, share_token, audio)


def measure_uploads(
    table: Table, process: int, target: Target, share_token: str, audio: bytes
) -> None:
    sessions = [target.new_session(share_token) for _ in range(AT_ONCE)]
    before = begin_peak(process)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        held = list(pool.map(lambda each: upload(target, share_token, each, audio), sessions))
    added = peak_mib(process) - before
    assert all(held)
    table.add("8 uploads of 25 MiB at once", f"{added:.1f} MiB", "≤ 16 MiB", f"{before:.0f} MiB")


def measure_readers(table: Table, process: int, port: int, path: str, cookie: str) -> None:
    starts = [random.randrange(MOST_BYTES - 1) for _ in range(RANGES)]  # noqa: S311
    waits = sorted(read(port, path, cookie, start, most=1)[0] * 1000 for start in starts)
    detail = f"p50 {median(waits):.1f}, longest {waits[-1]:.1f} ms"
    table.add("first byte of any range", f"{waits[-1]:.1f} ms", "≤ 50 ms", detail)
    before = begin_peak(process)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        sizes = list(pool.map(lambda _: read(port, path, cookie, 0)[1], range(AT_ONCE)))
    added = peak_mib(process) - before
    assert min(sizes) > MOST_BYTES - 100
    table.add("8 readers of 25 MiB at once", f"{added:.1f} MiB", "≤ 8 MiB", f"{before:.0f} MiB")


def read(port: int, path: str, cookie: str, start: int, *, most: int = 2**40) -> tuple[float, int]:
    """Seconds to the first byte, and how many bytes came; no more than `most` are read."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        began = time.perf_counter()
        headers = {"Cookie": cookie, "Range": f"bytes={start}-"}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        assert (answer.status, len(answer.read(1))) == (206, 1)
        waited, size = time.perf_counter() - began, 1
        while size < most and (chunk := answer.read(65_536)):
            size += len(chunk)
        return waited, size

"""Few file descriptors and many connections: requests are served or refused correctly."""

import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.command import PROGRAM, ROOT, environment
from tests.databases import both_empty_databases
from tests.proof.loaded import Server, Writer
from tests.services import free_port, wait_until
from webapp import open_files

FEW = ("bash", "-c", 'ulimit -n 256 && exec "$@"', "-")
TRIES = 20
LARGE_HEAD = (
    b"POST /r/a/q/1/recording HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2000000\r\n\r\n"
)

writers = pytest.mark.parametrize("writers", [60, pytest.param(150, marks=pytest.mark.prove)])


@contextmanager
def idling(port: int, connections: int) -> Iterator[list[socket.socket]]:
    """So many connections that say nothing."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            for _ in range(connections)
        ]


def seconds_of_healthz(server: Server) -> float:
    began = time.monotonic()
    assert server.call("GET", "/healthz")[0] == 200
    return time.monotonic() - began


def keep_trying(writer: Writer) -> None:
    for _ in range(TRIES):
        if writer.try_once():
            return
        time.sleep(0.2)


@both_empty_databases
@writers
def test_idle_connections_do_not_block_respondents(
    empty_database_url: str, tmp_path: Path, writers: int
) -> None:
    server = Server(empty_database_url, tmp_path)
    crowd = [Writer(server) for _ in range(writers)]
    with server.up(*FEW), idling(server.port, 400):
        slowest = max(seconds_of_healthz(server) for _ in range(5))
        with ThreadPoolExecutor(writers) as pool:
            list(pool.map(keep_trying, crowd))

    refusals = Counter(refusal for writer in crowd for refusal in writer.refusals)
    print(
        f"{writers} writers: health in {slowest:.2f} s, {sum(refusals.values())} refusals, "
        f"{sum(len(writer.broken) for writer in crowd)} connections closed"
    )
    assert slowest < 2
    assert [writer.saved for writer in crowd] == [True] * writers
    assert sorted(server.stored()) == sorted(writer.words for writer in crowd)
    assert all("<html" in body for _, body in refusals), refusals


@contextmanager
def dripping(port: int, connections: int) -> Iterator[None]:
    """So many clients that send most of a large body, and then a byte now and then."""
    ended = threading.Event()
    with idling(port, connections) as sockets:
        for each in sockets:
            send(each, LARGE_HEAD + b"x" * 600_000)
        thread = threading.Thread(target=drip, args=[sockets, ended])
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def drip(sockets: list[socket.socket], ended: threading.Event) -> None:
    while not ended.wait(0.1):
        for each in sockets:
            send(each, b"x")


def send(to: socket.socket, data: bytes) -> None:
    with suppress(OSError):
        to.sendall(data)


@pytest.mark.parametrize("people", [30, pytest.param(200, marks=pytest.mark.prove)])
def test_half_sent_large_bodies_do_not_block_responses(tmp_path: Path, people: int) -> None:
    """Such a body lies in a file, so its connection holds two numbers."""
    server = Server(f"sqlite:///{tmp_path}/askback.sqlite3", tmp_path)
    crowd = [Writer(server) for _ in range(people)]
    with server.up(*FEW), dripping(server.port, 127):
        with ThreadPoolExecutor(24) as pool:
            list(pool.map(keep_trying, crowd))
        slowest = max(seconds_of_healthz(server) for _ in range(5))

    print(f"{people} writers: health in {slowest:.2f} s")
    assert slowest < 2
    assert [reason for writer in crowd for reason in writer.broken] == []
    assert [writer.saved for writer in crowd] == [True] * people
    assert sorted(server.stored()) == sorted(writer.words for writer in crowd)


def is_stopped(pid: int) -> bool:
    """Whether every thread is (proc_pid_stat(5)); they stop one after another."""
    stats = [each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


def test_the_newest_connections_stay_when_the_server_was_stopped_for_a_moment(
    tmp_path: Path,
) -> None:
    """What older connections sent meanwhile is read in the same turn as new ones are accepted."""
    server = Server(f"sqlite:///{tmp_path}/askback.sqlite3", tmp_path)
    crowd = [Writer(server) for _ in range(24)]
    with server.up(*FEW) as process, idling(server.port, 127) as older:
        seconds_of_healthz(server)  # all older ones are accepted
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: is_stopped(process.pid), "stopping the server")
        for each in older:
            send(each, LARGE_HEAD)
        with ThreadPoolExecutor(24) as pool:
            tries = [pool.submit(keep_trying, writer) for writer in crowd]
            time.sleep(0.5)  # all have sent their first request
            process.send_signal(signal.SIGCONT)
            for tried in tries:
                tried.result()

    assert [reason for writer in crowd for reason in writer.broken] == []
    assert all(writer.saved for writer in crowd)


@pytest.mark.prove
def test_more_idle_connections_than_a_server_takes(tmp_path: Path) -> None:
    server = Server(f"sqlite:///{tmp_path}/askback.sqlite3", tmp_path)
    open_files.limit()  # for the connections of this process
    with server.up(), idling(server.port, 4200):
        slowest = max(seconds_of_healthz(server) for _ in range(10))
        writer = Writer(server)
        keep_trying(writer)

    print(f"4,200 idle connections: health in {slowest:.2f} s, {len(writer.broken)} tries in vain")
    assert slowest < 2
    assert server.stored() == [writer.words]


def test_a_low_limit_of_files_leaves_some_for_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in (128, 256, 1024, 4096, 8192):
        monkeypatch.setattr(open_files, "limit", lambda limit=limit: limit)
        shares = open_files.for_database() + open_files.for_connections()
        assert shares + open_files.SPARE_FILES <= limit


def test_a_start_with_few_files_warns(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*FEW, *PROGRAM, "run"],
        cwd=ROOT,
        env=environment({"ASKBACK_DATA": str(tmp_path), "PORT": str(free_port())}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    try:
        warned = any("only 256 files may be open" in line for line in process.stdout)
    finally:
        process.kill()
        process.communicate()

    assert warned

"""Many connections at once: the next request is served, a stop is soon, and nothing is lost."""

import resource
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from api.wire.event_stream import ACCOUNT_SHARE
from tests.command import PROGRAM, ROOT, environment
from tests.event_streams import open_stream
from tests.factories import make_account, make_form
from tests.proof.loaded import Server, Writer
from tests.services import free_port
from webapp.base import open_files
from webapp.base.database import db, utc_now
from webapp.drafts.agent_tokens import make_agent_token
from webapp.records.forms import Form

HEAD = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HALF_A_BODY = HEAD + b"Content-Length: 1000\r\n\r\nx"
NEXT_SECONDS = 2.0  # the figure is 0.1, which a busy machine may miss

many = pytest.mark.parametrize("share", [0.1, pytest.param(1, marks=pytest.mark.prove)])


@contextmanager
def held(port: int, connections: int, data: bytes = b"") -> Iterator[list[socket.socket]]:
    """So many connections that have sent this."""
    with ExitStack() as stack:
        opened = []
        for _ in range(connections):
            each = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            each.sendall(data)
            opened.append(each)
        yield opened


def slowest(server: Server) -> float:
    """Seconds of the slowest of some requests."""
    seconds = []
    for _ in range(10):
        began = time.monotonic()
        assert server.call("GET", "/healthz")[0] == 200
        seconds.append(time.monotonic() - began)
    return max(seconds)


def memory_and_threads(pid: int) -> tuple[int, int]:
    """KiB and threads of a process (proc_pid_status(5))."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    found = {name: value for name, _, value in (line.partition(":") for line in status)}
    return int(found["VmRSS"].split()[0]), int(found["Threads"])


def token_of(form: Any) -> tuple[str, str]:
    """The path of the ask of a form, and a header for it."""
    now = utc_now()
    made = make_agent_token(
        form.account_id, form.id, label="proof", expires_at=now + timedelta(days=1), now=now
    )
    return f"/api/agent/asks/{form.id}", f"Bearer {made.token}"


@many
def test_the_next_request_and_the_stop_wait_for_nobody(tmp_path: Path, share: float) -> None:
    server = Server(f"sqlite:///{tmp_path}/askback.sqlite3", tmp_path)
    open_files.limit()  # for the connections of this process
    crowd = [Writer(server) for _ in range(5)]
    half, heads, idle = (int(share * count) for count in (400, 600, 4_200))
    with server.up() as process, ExitStack() as stack:
        stack.enter_context(held(server.port, half, HALF_A_BODY))
        stack.enter_context(held(server.port, heads, HEAD))
        stack.enter_context(held(server.port, idle))
        took = slowest(server)
        for writer in crowd:
            writer.try_once()
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        code = process.wait(10)
        stop = time.monotonic() - began

    print(f"{half} bodies, {heads} heads, {idle} idle: next {took:.3f} s, stop {stop:.2f} s")
    assert took < NEXT_SECONDS
    assert (code, stop < 5.5) == (0, True)
    assert sorted(server.stored()) == sorted(writer.words for writer in crowd if writer.saved)
    assert all(writer.saved for writer in crowd)


@many
def test_streams_cost_little_and_end_with_a_reason(tmp_path: Path, share: float) -> None:
    server = Server(f"sqlite:///{tmp_path}/askback.sqlite3", tmp_path)
    open_files.limit()
    count = int(share * 1_000)
    with server.database():
        forms = [make_form(make_account().id) for _ in range(2 * ACCOUNT_SHARE)]
        held_by = [token_of(form) for form in forms for _ in range(count // 60 + 1)]
    with server.up() as process, ExitStack() as stack:
        streams = []
        for number in range(count):
            if number == count // 10:  # the threads have worked by then
                before, _ = memory_and_threads(process.pid)
            path, bearer = held_by[number % len(held_by)]
            opened = open_stream(server.port, f"{path}/stream", f"Authorization: {bearer}")
            streams.append(stack.enter_context(opened))
        for stream in streams:
            assert stream.next().name == "form_status"
        took = slowest(server)
        after, threads = memory_and_threads(process.pid)
        process.send_signal(signal.SIGTERM)
        ends = {stream.next("end").data["reason"] for stream in streams}
        code = process.wait(10)

    each = (after - before) / (count - count // 10)
    print(f"{count} streams: {each:.0f} KiB each, {threads} threads, next {took:.3f} s")
    assert threads <= 60
    assert took < NEXT_SECONDS
    assert each < 25 or count < 1_000
    assert (ends, code) == ({"stopping"}, 0)


def test_a_start_with_few_files_warns(tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert hard == resource.RLIM_INFINITY or hard > 256
    process = subprocess.Popen(
        ["bash", "-c", 'ulimit -n 256 && exec "$@"', "-", *PROGRAM, "run"],
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


def test_the_bridge_runs_on_another_server(tmp_path: Path) -> None:
    """It is plain ASGI, so uvicorn takes it."""
    server = Server(f"sqlite:///{tmp_path}/askback.sqlite3", tmp_path)
    with server.database():
        path, bearer = token_of(db.session.query(Form).one())
    program = (
        "import os, sys, uvicorn\n"
        "from webapp.app.factory import create_app\n"
        "from webapp.base.config_environment import read_settings\n"
        "from webapp.app.bridge import Bridge\n"
        "settings = read_settings(os.environ)\n"
        "bridge = Bridge(create_app(settings), settings)\n"
        "uvicorn.run(bridge, port=settings.port, lifespan='off', ws='none', log_config=None)\n"
    )
    command = [PROGRAM[0], "-c", program]
    with server.up(*command) as process:
        writer = Writer(server)
        assert writer.try_once()
        with open_stream(server.port, f"{path}/stream", f"Authorization: {bearer}") as stream:
            assert stream.next("answer").data["answerText"] == writer.words
        later = f"{path}/answers?since=2999-01-01T00:00:00.000Z&wait=1"
        assert server.call("GET", later, Authorization=bearer)[0] == 200
        assert process.poll() is None

"""The processes that are measured."""

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from tests.bench.load import ROOT
from tests.command import DATA_KEYS, environment
from tests.services import free_port, wait_until
from webapp.base.config import Settings


def start(
    module: str, kind: str, settings: Settings, **changed: str
) -> tuple[subprocess.Popen[bytes], int]:
    """A process serving on a loopback port of its own, not waited for; `changed`: its variables."""
    port = free_port()
    variables = {
        "PORT": str(port),
        "DATABASE_URL": settings.database_url,
        "SECRET_KEY": settings.secret_key,
        "PUBLIC_URL": settings.public_url,
        "ASKBACK_DATA": str(settings.data_folder),
        "DATA_KEYS": DATA_KEYS,
        "WRITE_LIMITS": "off",
        "MCP_EVENTS_ENABLED": "on" if settings.mcp_events_enabled else "off",
        "LIMIT_ANSWER_SESSION": "1000000/minute",
        "LIMIT_ANSWER_ADDRESS": "1000000/minute",
    }
    command = [sys.executable, "-m", module, kind]
    # a line for each request goes there, as it does to a supervisor
    kept = {"cwd": ROOT, "env": environment(variables | changed), "stdout": subprocess.DEVNULL}
    return subprocess.Popen(command, **kept), port


@contextmanager
def served(
    kind: str, processes: int, settings: Settings, **changed: str
) -> Iterator[dict[int, int]]:
    """Process ids by port of so many processes that answer; ended with the block."""
    with ExitStack() as stack:
        found = {}
        for _ in range(processes):
            process, port = start("tests.bench.serve", kind, settings, **changed)
            stack.callback(end, process)
            found[port] = process.pid
        for port in found:
            wait_until(lambda port=port: answers(port), f"starting {kind}")
        yield found


@contextmanager
def started(
    *command: str, stdout: int = subprocess.DEVNULL, **variables: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Any module as a program; ended with the block."""
    command = (sys.executable, "-m", *command)
    process = subprocess.Popen(command, cwd=ROOT, env=environment(variables), stdout=stdout)
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(10)


def exchange(port: int, method: str, path: str, body: str = "", **headers: str) -> tuple[int, str]:
    """Status and body of one exchange on a new connection; `_` in names of headers is `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request(method, path, body or None, named)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def answers(port: int) -> bool:
    """True when anything at all answers over HTTP."""
    with suppress(OSError):
        return exchange(port, "GET", "/healthz")[0] < 500
    return False


def start_cost(module: str, kind: str, settings: Settings) -> tuple[float, float]:
    """Seconds from the start to the first answer, and MiB of memory two seconds later."""
    began = time.perf_counter()
    process, port = start(module, kind, settings)
    try:
        wait_until(lambda: answers(port), f"starting {module}")
        took = time.perf_counter() - began
        time.sleep(2)
        return took, resident_mib(process.pid)
    finally:
        end(process)


def resident_mib(process_id: int) -> float:
    shown = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(process_id)], capture_output=True, text=True, check=True
    )
    return int(shown.stdout) / 1024


def processor_seconds(process_id: int) -> float:
    """What a process has used of the processor since its start, on Linux; else 0."""
    told = Path(f"/proc/{process_id}/stat")
    if not told.exists():
        return 0.0
    fields = told.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

"""The processes that are measured."""

import http.client
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.bench.load import ROOT
from tests.command import environment
from tests.services import free_port, wait_until
from webapp.config import Settings


def start(module: str, kind: str, settings: Settings) -> tuple[subprocess.Popen[bytes], int]:
    """A process serving on a loopback port of its own, not waited for."""
    port = free_port()
    variables = {
        "PORT": str(port),
        "DATABASE_URL": settings.database_url,
        "SECRET_KEY": settings.secret_key,
        "PUBLIC_URL": settings.public_url,
        "ASKBACK_DATA": str(settings.data_folder),
        "WRITE_LIMITS": "off",
        "MCP_EVENTS_ENABLED": "on" if settings.mcp_events_enabled else "off",
        "LIMIT_ANSWER_SESSION": "1000000/minute",
        "LIMIT_ANSWER_ADDRESS": "1000000/minute",
    }
    command = [sys.executable, "-m", f"tests.bench.{module}", kind]
    # a line for each request goes there, as it does to a supervisor
    kept = {"cwd": ROOT, "env": environment(variables), "stdout": subprocess.DEVNULL}
    return subprocess.Popen(command, **kept), port


@contextmanager
def running(kind: str, processes: int, settings: Settings) -> Iterator[list[int]]:
    """The ports of `processes` processes that answer; ended with the block."""
    with ExitStack() as stack:
        ports = []
        for _ in range(processes):
            process, port = start("serve", kind, settings)
            stack.callback(end, process)
            ports.append(port)
        for port in ports:
            wait_until(lambda port=port: answers(port), f"starting {kind}")
        yield ports


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(10)


def answers(port: int) -> bool:
    """True when anything at all answers over HTTP."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status < 500
    except OSError:
        return False
    finally:
        connection.close()


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

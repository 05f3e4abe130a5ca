"""The processes that are measured."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.bench.load import ROOT
from tests.command import DATA_KEYS, environment
from tests.proof.killing import exchange
from tests.services import free_port, wait_until
from webapp.base.config import Settings


@contextmanager
def served(
    kind: str,
    processes: int,
    settings: Settings,
    *,
    module: str = "tests.bench.serve",
    **changed: str,
) -> Iterator[dict[int, int]]:
    """Process ids by port of so many processes that answer; ended with the block."""
    variables = {
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
    with ExitStack() as stack:
        found = {}
        for _ in range(processes):
            port = free_port()
            own = variables | changed | {"PORT": str(port)}
            found[port] = stack.enter_context(started(module, kind, **own)).pid
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
        process.terminate()
        process.wait(10)


def answers(port: int) -> bool:
    """True when anything at all answers over HTTP."""
    with suppress(OSError):
        return exchange(port, "GET", "/healthz").status < 500
    return False


def start_cost(module: str, kind: str, settings: Settings) -> tuple[float, float]:
    """Seconds from the start to the first answer, and MiB of memory two seconds later."""
    began = time.perf_counter()
    with served(kind, 1, settings, module=module) as processes:
        took = time.perf_counter() - began
        time.sleep(2)
        return took, resident_mib(*processes.values())


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


def begin_peak(process_id: int) -> float:
    """Forget the highest memory so far; MiB in use."""
    Path(f"/proc/{process_id}/clear_refs").write_text("5")
    return peak_mib(process_id)


def peak_mib(process_id: int) -> float:
    """The most that a process has used since then."""
    lines = Path(f"/proc/{process_id}/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024

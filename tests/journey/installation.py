"""Askback as an operator starts it: processes of its own, with a browser and HTTP in front."""

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.command import DATA_KEYS, PROGRAM, ROOT, askback_here, environment
from tests.journey.balancer import balancing
from tests.services import free_port, wait_until
from tests.tls import Authority, ending_tls


@dataclass(frozen=True)
class Installation:
    """A running one: its public address, and the link that makes the first account.

    `variables` are for the command line beside it, `logs` the files that its processes write, and
    `ports` where each of them serves.
    """

    url: str
    link: str
    variables: dict[str, str] = field(default_factory=dict)
    logs: tuple[Path, ...] = ()
    ports: tuple[int, ...] = ()


@contextmanager
def embedded(folder: Path, **changed: str) -> Iterator[Installation]:
    """`askback run` on an empty data folder; the link is the one it prints."""
    variables = {"PORT": str(free_port()), "ASKBACK_DATA": str(folder / "data"), **changed}
    with process(folder / "log", "run", **variables) as log:
        link = re.search(r"http://\S+/join/\S+", log.read_text())
        assert link is not None, log.read_text()
        port = int(variables["PORT"])
        yield Installation(f"http://127.0.0.1:{port}", link[0], variables, (log,), (port,))


@contextmanager
def production(
    folder: Path, authority: Authority, database_url: str, redis_url: str, **changed: str
) -> Iterator[Installation]:
    """Two `askback web` on PostgreSQL and Redis, behind one https address."""
    backends = [free_port(), free_port()]
    with ExitStack() as stack:
        balancer = stack.enter_context(balancing(backends))
        url = f"https://127.0.0.1:{stack.enter_context(ending_tls(authority, balancer))}"
        variables = {
            "PUBLIC_URL": url,
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "TRUSTED_PROXY": "127.0.0.1",
            "SECRET_KEY": "the-same-random-words-for-both-processes-0123456789",
            "DATA_KEYS": DATA_KEYS,
            **changed,
        }
        migrated = askback_here("migrate", **variables)
        assert migrated.returncode == 0, migrated.stderr
        logs = tuple(folder / f"log-{port}" for port in backends)
        for port, log in zip(backends, logs, strict=True):
            stack.enter_context(process(log, "web", PORT=str(port), **variables))
        link = askback_here("creator", "link", **variables).stdout.strip()
        yield Installation(url, link, variables, logs, tuple(backends))


@contextmanager
def process(log: Path, command: str, **variables: str) -> Iterator[Path]:
    """`askback COMMAND` until it works, and its log; it must stop in peace and never fail."""
    ready = "Askback delivers" if command == "worker" else "Askback runs on"
    with log.open("wb") as out:
        running = subprocess.Popen(
            [*PROGRAM, command], cwd=ROOT, env=environment(variables), stdout=out, stderr=out
        )
    try:
        wait_until(lambda: ready in log.read_text(), f"askback {command}")
        yield log
        running.send_signal(signal.SIGTERM)
        assert running.wait(15) == 0
        assert "Traceback" not in log.read_text()
    finally:
        running.kill()
        running.wait()

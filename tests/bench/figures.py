"""Ratios inside one run: rounds of ceiling and operation in turn, the median of their ratios."""

import os
import platform
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import sqlalchemy as sa

from tests.bench.load import Measured, load
from webapp.base.database import db

Requests = Sequence[Sequence[bytes]]
ROUNDS = int(os.environ.get("ASKBACK_BENCH_ROUNDS", "7"))
BEFORE = "55418ab"  # the commit that goals of "so many times" are measured from
PACKAGES = ("flask", "granian", "sqlalchemy", "psycopg", "orjson")


@dataclass(frozen=True)
class Side:
    """One of the two things compared: where it is served and how to make a round of requests."""

    ports: list[int]
    make: Callable[[], Requests]

    def run(self) -> Measured:
        measured = load(self.ports, self.make())
        assert set(measured.statuses) <= {"200", "201", "303"}, measured.statuses
        return measured


@dataclass(frozen=True)
class Pair:
    """Rounds of a ceiling and an operation, in turn."""

    ceilings: list[Measured]
    operations: list[Measured]

    @property
    def ratio(self) -> float:
        """Median over the rounds of operation rate to ceiling rate."""
        pairs = zip(self.operations, self.ceilings, strict=True)
        return median(mine.rate / ceiling.rate for mine, ceiling in pairs)


def compare(ceiling: Side, operation: Side, rounds: int = ROUNDS) -> Pair:
    """Warm both up, then measure them in turn; every second round the other one goes first."""
    pair = Pair([], [])
    for number in range(rounds + 1):
        sides = [(ceiling, pair.ceilings), (operation, pair.operations)]
        for side, kept in sides if number % 2 else reversed(sides):
            kept.append(side.run())
    del pair.ceilings[0], pair.operations[0]
    return pair


def of(runs: list[Measured], share: float) -> float:
    """Median over the rounds of a latency quantile, in milliseconds."""
    return median(run.quantile(share) for run in runs)


def rate(runs: list[Measured]) -> float:
    return median(run.rate for run in runs)


@dataclass
class Table:
    """The figures of one database as lines of a Markdown table."""

    database: str
    lines: list[str] = field(default_factory=list)

    def add(self, operation: str, reached: str, goal: str, detail: str) -> None:
        line = f"| {operation} | {self.database} | {reached} | {goal} | {detail} |"
        self.lines.append(line)
        print(line, flush=True)

    def add_pair(self, operation: str, pair: Pair, goal: str) -> None:
        detail = (
            f"{rate(pair.operations):.0f}/s, p50 {of(pair.operations, 0.5):.1f},"
            f" p99 {of(pair.operations, 0.99):.1f} ms; ceiling {rate(pair.ceilings):.0f}/s,"
            f" p50 {of(pair.ceilings, 0.5):.1f}, p99 {of(pair.ceilings, 0.99):.1f} ms"
        )
        self.add(operation, f"{100 * pair.ratio:.0f} %", goal, detail)


def machine(folder: Path) -> str:
    """Cores, memory, disk and versions."""
    pages: Any = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{os.cpu_count()} cores ({_processor()}), {pages:.1f} GiB memory, disk of {folder.anchor}"
        f" {_file_system(folder)}, Python {platform.python_version()}, {packages},"
        f" SQLite {sqlite3.sqlite_version}, {_server()}"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _file_system(folder: Path) -> str:
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "unknown"
    found = [line.split()[1:3] for line in mounts.read_text().splitlines()]
    within = [(len(at), kind) for at, kind in found if folder.is_relative_to(at)]
    return max(within)[1]


def _server() -> str:
    with db.engine.connect() as connection:
        if db.engine.dialect.name == "sqlite":
            return "synchronous=FULL, WAL"
        return str(connection.execute(sa.text("SELECT version()")).scalar_one()).partition(" on ")[
            0
        ]

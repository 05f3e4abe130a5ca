"""Ratios inside one run: rounds of ceiling and operation in turn, the median of their ratios."""

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median
from typing import TypeVar

from tests.bench.load import Measured, load
from webapp.base.database import db

Requests = Sequence[Sequence[bytes]]
ROUNDS = int(os.environ.get("ASKBACK_BENCH_ROUNDS", "7"))
BEFORE = "55418ab"  # the commit that goals of "so many times" are measured from
T = TypeVar("T")
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


def turn_about(*sides: Callable[[], T], rounds: int = ROUNDS, warm: int = 1) -> list[list[T]]:
    """What each side gives in each round; every second round the last one goes first.

    warm  rounds before, which are not counted
    """
    found: list[list[T]] = [[] for _ in sides]
    for number in range(rounds + warm):
        pairs = list(zip(sides, found, strict=True))
        for side, kept in pairs if number % 2 else reversed(pairs):
            kept.append(side())
    return [each[warm:] for each in found]


def compare(ceiling: Side, operation: Side, rounds: int = ROUNDS) -> Pair:
    """Warm both up, then measure them in turn."""
    return Pair(*turn_about(ceiling.run, operation.run, rounds=rounds))


def quantile(latencies: Sequence[float], share: float) -> float:
    """What `share` of them did not exceed; they are sorted."""
    return latencies[min(len(latencies) - 1, int(share * len(latencies)))]


def shown(runs: Sequence[Measured]) -> str:
    """Medians over the rounds, latencies in milliseconds."""
    p50, p99 = (median(run.quantile(share) for run in runs) for share in (0.5, 0.99))
    return f"{median(run.rate for run in runs):.0f}/s, p50 {p50:.1f}, p99 {p99:.1f} ms"


@dataclass(frozen=True)
class Table:
    """The figures of one database as lines of a Markdown table."""

    database: str

    def add(self, operation: str, reached: str, goal: str, detail: str = "") -> None:
        print(f"| {operation} | {self.database} | {reached} | {goal} | {detail} |", flush=True)

    def add_pair(self, operation: str, pair: Pair, goal: str) -> None:
        detail = f"{shown(pair.operations)}; ceiling {shown(pair.ceilings)}"
        self.add(operation, f"{100 * pair.ratio:.0f} %", goal, detail)


def machine() -> str:
    """Cores, memory and versions."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    with db.engine.connect() as connection:
        server = ".".join(map(str, db.engine.dialect.server_version_info or ()))
        database = f"{connection.dialect.name} {server}"
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {memory:.1f} GiB memory,"
        f" Python {platform.python_version()}, {packages}, {database}"
    )

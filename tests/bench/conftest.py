"""What every figure needs: an account with a connection, and its processes beside the ceiling's."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask

from tests.bench.ceiling import make_table
from tests.bench.figures import Side, Table, compare, machine
from tests.bench.servers import served
from tests.bench.work import Work, connected
from webapp.base.config import Settings
from webapp.base.database import db


@dataclass(frozen=True)
class Bench:
    """One database under measurement: where the two applications listen, and the table."""

    work: Work
    ceiling: list[int]
    askback: list[int]
    table: Table

    def add(self, name: str, goal: str, ceiling: Any, operation: Any) -> None:
        """Measure an operation against a ceiling route and add the line; both make requests."""
        pair = compare(Side(self.ceiling, ceiling), Side(self.askback, operation))
        self.table.add_pair(name, pair, goal)


@pytest.fixture
def table(app: Flask) -> Table:
    with app.app_context():
        print(f"\n{machine()}")
        return Table({"sqlite": "SQLite", "postgresql": "PostgreSQL"}[db.engine.dialect.name])


@pytest.fixture
def work(app: Flask, settings: Settings) -> Work:
    return connected(app, settings.api_url)


@pytest.fixture
def processes(settings: Settings) -> int:
    """One on SQLite, two on PostgreSQL."""
    return 1 if settings.database_url.startswith("sqlite") else 2


@pytest.fixture
def bench(
    app: Flask, settings: Settings, table: Table, work: Work, processes: int
) -> Iterator[Bench]:
    with app.app_context():
        make_table(db.engine)
    with (
        served("ceiling", processes, settings) as ceiling,
        served("askback", processes, settings) as askback,
    ):
        yield Bench(work, list(ceiling), list(askback), table)

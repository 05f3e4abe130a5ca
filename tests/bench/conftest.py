"""What every figure needs: an account with a connection, and its processes beside the ceiling's."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask

from tests.bench.ceiling import make_table
from tests.bench.figures import Side, Table, compare, machine
from tests.bench.servers import running
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
def bench(app: Flask, settings: Settings) -> Iterator[Bench]:
    """One process each on SQLite, two on PostgreSQL."""
    on_sqlite = settings.database_url.startswith("sqlite")
    processes = 1 if on_sqlite else 2
    with app.app_context():
        make_table(db.engine)
        print(f"\n{machine(settings.data_folder)}")
    work = connected(app, settings.api_url)
    with (
        running("ceiling", processes, settings) as ceiling,
        running("askback", processes, settings) as askback,
    ):
        yield Bench(work, ceiling, askback, Table("SQLite" if on_sqlite else "PostgreSQL"))

"""Figures of the writing operations against a durable insert."""

from functools import partial

import pytest
from flask import Flask

from tests.bench.ceiling import make_table
from tests.bench.figures import Side, Table, compare, machine
from tests.bench.servers import running
from tests.bench.work import Work, connected, new_form
from tests.databases import both_databases
from webapp.config import Settings
from webapp.database import db

pytestmark = [pytest.mark.bench, both_databases]


@pytest.fixture
def processes(settings: Settings) -> int:
    """One process on SQLite, two on PostgreSQL."""
    return 1 if settings.database_url.startswith("sqlite") else 2


@pytest.fixture
def work(app: Flask, settings: Settings) -> Work:
    with app.app_context():
        make_table(db.engine)
    return connected(app, settings.api_url)


def test_writes(app: Flask, settings: Settings, work: Work, processes: int) -> None:
    with (
        running("ceiling", processes, settings) as low,
        running("askback", processes, settings) as ports,
    ):
        table = Table("SQLite" if processes == 1 else "PostgreSQL")
        with app.app_context():
            print(f"\n{machine(settings.data_folder)}")
        ceiling = Side(low, work.inserts())
        for name, make, goal in [
            ("POST /drafts", work.creates, "≥ 70 %"),
            ("PATCH /drafts/{id}", work.patches, "≥ 65 %"),
            ("publish", work.publishes, "≥ 50 %"),
        ]:
            table.add_pair(name, compare(ceiling, Side(ports, make)), goal)
        form = new_form(work)
        for name, headers, cookie in [
            ("answer, next page by address", [], True),
            ("answer, with scripts", ["HX-Request: true"], True),
            ("answer, without cookie", [], False),
        ]:
            make = partial(work.answers, form.share_token, *headers, cookie=cookie)
            table.add_pair(name, compare(ceiling, Side(ports, make)), "≥ 65 % / 55 %")

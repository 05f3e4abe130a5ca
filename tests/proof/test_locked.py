"""A locked database, or one that closes connections: requests are refused or retried."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import create_engine, event, text
from sqlalchemy.exc import OperationalError

from tests.api.conftest import Agent, refusal
from tests.databases import both_databases, on_postgresql
from tests.factories import make_form
from tests.pages.respondent_client import arrive, box, heading
from webapp.base.config import Settings
from webapp.base.database import db, write_transaction
from webapp.records.accounts.models import Account

PATIENCE = {
    "sqlite": "PRAGMA busy_timeout = 100",
    "postgresql": "SET SESSION lock_timeout = '100ms'",
}
LOCK_ALL = {
    "sqlite": "BEGIN IMMEDIATE",
    "postgresql": "BEGIN; LOCK TABLE draft_views, drafts, forms, oauth_grants, response_sessions"
    " IN EXCLUSIVE MODE",
}


@contextmanager
def locked(app: Flask, settings: Settings) -> Iterator[None]:
    """Another program holds the locks; ours waits a tenth of a second instead of its usual time."""
    with app.app_context():
        engine = db.engine
    kind = engine.dialect.name

    def be_impatient(connection: Any, *_: Any) -> None:
        connection.cursor().execute(PATIENCE[kind])
        connection.commit()

    event.listen(engine, "checkout", be_impatient)
    other = create_engine(settings.database_url)
    try:
        with other.connect().execution_options(isolation_level="AUTOCOMMIT") as holding:
            holding.exec_driver_sql(LOCK_ALL[kind])
            yield
            holding.exec_driver_sql("ROLLBACK")
    finally:
        event.remove(engine, "checkout", be_impatient)
        engine.dispose()
        other.dispose()


@both_databases
def test_a_locked_database_is_told_to_agents_and_then_works_again(
    app: Flask, agent: Agent, settings: Settings
) -> None:
    agent.get("/forms")
    with locked(app, settings):
        responses = [agent.post("/drafts", json={"title": "Rota"}) for _ in range(3)]
        read = agent.get("/forms")

    assert {refusal(response) for response in responses} == {(500, "storage_unavailable")}
    assert read.status_code == 200
    assert agent.post("/drafts", json={"title": "Rota"}).status_code == 201


@both_databases
def test_a_locked_database_keeps_a_respondents_text(
    app: Flask, account: Account, client: FlaskClient, settings: Settings
) -> None:
    with app.app_context():
        respondent = arrive(client, make_form(account.id))

    with locked(app, settings):
        page = respondent.answer(1, "A long story")

    assert (page.status_code, box(page)) == (503, "A long story")
    assert heading(respondent.answer(1, box(page))) == "What went wrong?"


@on_postgresql
def test_connections_closed_by_the_server_are_replaced(app: Flask, agent: Agent) -> None:
    assert agent.get("/forms").status_code == 200
    with app.app_context(), db.engine.connect() as connection:
        connection.execute(text(CLOSE_OTHERS))

    assert agent.post("/drafts", json={"title": "Rota"}).status_code == 201


CLOSE_OTHERS = """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND datname = current_database()"""


@on_postgresql
def test_waiting_for_a_lock_is_bounded(app: Flask) -> None:
    with app.app_context(), db.engine.connect() as connection:
        patience = connection.execute(text("SHOW lock_timeout")).scalar_one()

    assert patience == "4s"


def test_a_writer_that_never_gets_the_lock_is_refused(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.base.database.sqlite.LOCK_SECONDS", 0.05)

    def write() -> None:
        with app.app_context(), write_transaction():
            pass

    with app.app_context(), ThreadPoolExecutor(1) as pool:
        with write_transaction():
            refused = pool.submit(write).exception()
        allowed = pool.submit(write).exception()

    assert isinstance(refused, OperationalError)
    assert allowed is None

"""`askback migrate` beside people of the version before."""

import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.errors import AdminShutdown, DeadlockDetected
from sqlalchemy import select

from tests.databases import both_empty_databases
from tests.factories import make_account, make_form
from tests.runtime.installations import NEXT, Installation, next_version
from webapp.base.database import db, schema, sqlite

BEFORE = schema.newest()
MIGRATED = f"schema {BEFORE} → {NEXT}\n"
PEOPLE = 8
# what requests lock, in their orders: an answer, a draft, a page of results
REQUESTS = (
    (
        "SELECT s.id FROM response_sessions s LIMIT 1",
        "UPDATE forms SET last_stamp = last_stamp + 1",
        "UPDATE response_sessions SET suspect = suspect",
        "SELECT count(*) FROM answers",
    ),
    (
        "SELECT count(*) FROM draft_confirmations",
        "UPDATE drafts SET title = title",
        "SELECT count(*) FROM forms",
        "SELECT count(*) FROM day_counts",
    ),
    (
        "SELECT count(*) FROM answers",
        "SELECT count(*) FROM response_sessions",
        "SELECT count(*) FROM forms",
        "SELECT count(*) FROM oauth_grants",
    ),
)


class People:
    """Requests of an old process, at once, one after the other."""

    def __init__(self, database_url: str) -> None:
        self.served = self.ended = 0
        self.refused: list[str] = []
        self._url = database_url.replace("+psycopg", "")
        self._stopped = threading.Event()

    def _person(self, number: int) -> None:
        while not self._stopped.is_set():
            try:
                with psycopg.connect(self._url, options="-c lock_timeout=4s") as connection:
                    for statement in REQUESTS[number % len(REQUESTS)]:
                        connection.execute(statement)
                        time.sleep(random.uniform(0.001, 0.02))  # noqa: S311
                self.served += 1
            except (AdminShutdown, DeadlockDetected):  # the request runs again
                self.ended += 1
            except psycopg.Error as error:
                self.refused.append(repr(error))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        with ThreadPoolExecutor(PEOPLE) as pool:
            working = [pool.submit(self._person, number) for number in range(PEOPLE)]
            try:
                time.sleep(0.5)
                yield
            finally:
                self._stopped.set()
            for each in working:
                each.result()


@pytest.fixture
def old(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Installation:
    """At the schema of the version before."""
    with installation.database():
        make_form(make_account().id)
    next_version(tmp_path, monkeypatch)
    return installation


@pytest.mark.timeout(120)
@pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)
def test_a_migration_succeeds_alongside_busy_people(old: Installation) -> None:
    people = People(old.database_url)

    with people.at_work():
        migrated = old("migrate")
        served = people.served
        time.sleep(0.5)

    assert (migrated.exit_code, migrated.stdout) == (0, MIGRATED)
    with old.database():  # the next one only expands, so it serves programs of the one before
        assert db.session.scalars(select(schema.MARKS.c.serves)).one() == BEFORE
    assert people.refused == []
    assert people.served > served


@contextmanager
def somebody_works(database_url: str) -> Iterator[None]:
    """A long reader on PostgreSQL, a long writer on SQLite."""
    if database_url.startswith("sqlite"):
        with closing(sqlite3.connect(database_url.removeprefix("sqlite:///"))) as writer:
            writer.execute("BEGIN IMMEDIATE")
            yield
        return
    with psycopg.connect(database_url.replace("+psycopg", "")) as reader:
        reader.execute("SELECT count(*) FROM forms")
        yield


@both_empty_databases
def test_a_migration_that_others_hold_up_ends_with_nothing_changed(
    old: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "UPGRADE_SECONDS", 1.0)
    monkeypatch.setattr(sqlite, "LOCK_SECONDS", 0.2)

    with somebody_works(old.database_url):
        refused = old("migrate")
    migrated = old("migrate")

    assert (refused.exit_code, refused.stdout) == (75, "")
    lines = refused.stderr.splitlines()
    assert lines[0].startswith("others use the tables, trying again (")
    assert lines[-1].startswith("The schema was not changed: others used its tables for 1 s")
    assert (migrated.exit_code, migrated.stdout) == (0, MIGRATED)

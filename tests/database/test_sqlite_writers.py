"""The one writer of SQLite: transactions of the session, and those beside it."""

import sqlite3
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import bindparam, delete, select, text, update
from sqlalchemy.exc import DBAPIError, OperationalError

from tests.factories import make_account, make_draft
from webapp.base.database import db, read_rows, sqlite_transaction, write_transaction
from webapp.base.database.prepared_statements import run
from webapp.records.accounts.models import Account

RENAME, NAMES = update(Account).values(name=bindparam("name")), select(Account.name)
NONSENSE = (text("nonsense"),)
REFUSED_AT_COMMIT = (text("PRAGMA defer_foreign_keys=ON"), delete(Account))


def test_one_writer_at_a_time_on_sqlite(app: Flask) -> None:
    order: list[str] = []
    inside = threading.Event()

    def second() -> None:
        inside.wait(5)
        with app.app_context(), write_transaction():
            order.append("second writes")

    thread = threading.Thread(target=second)
    thread.start()
    with app.app_context(), write_transaction():
        inside.set()
        thread.join(0.3)
        order.append("first commits")
    thread.join(5)

    assert order == ["first commits", "second writes"]


def test_a_transaction_beside_the_session_commits_and_lets_the_next_writer_in(app: Flask) -> None:
    with app.app_context():
        make_account(name="Robin")
        with sqlite_transaction() as connection:
            run(connection, RENAME, {"name": "Kim"})
            thread = threading.Thread(target=rename, args=(app, "Jo"))
            thread.start()
            thread.join(0.3)
            assert thread.is_alive()
            assert read_rows(NAMES) == [("Kim",)]
        thread.join(2)

        assert read_rows(NAMES) == [("Jo",)]


@pytest.mark.parametrize("statements", [NONSENSE, REFUSED_AT_COMMIT], ids=["statement", "commit"])
def test_a_transaction_beside_the_session_that_fails_changes_nothing_and_frees_its_lock(
    app: Flask, statements: Sequence[Any]
) -> None:
    def fail() -> None:
        with sqlite_transaction() as connection:
            run(connection, RENAME, {"name": "Kim"})
            for statement in statements:
                run(connection, statement, {})

    with app.app_context():
        make_draft(make_account(name="Robin").id)
        with pytest.raises(DBAPIError):
            fail()
        assert read_rows(NAMES) == [("Robin",)]
        thread = threading.Thread(target=rename, args=(app, "Jo"))
        thread.start()
        thread.join(2)

        assert read_rows(NAMES) == [("Jo",)]


def test_a_transaction_beside_the_session_that_cannot_begin_frees_the_lock(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program holds the file: the next try of this request does not wait for itself."""
    monkeypatch.setattr("webapp.base.database.sqlite.LOCK_SECONDS", 0.2)
    with app.app_context():
        make_account(name="Robin")
        other = sqlite3.connect(str(db.engine.url.database), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            with pytest.raises(OperationalError, match="locked"), sqlite_transaction():
                pass
        other.close()
        with sqlite_transaction() as connection:
            run(connection, RENAME, {"name": "Kim"})

        assert read_rows(NAMES) == [("Kim",)]


def rename(app: Flask, name: str) -> None:
    with app.app_context(), write_transaction() as connection:
        run(connection, RENAME, {"name": name})

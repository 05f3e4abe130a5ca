"""Durability settings, locks and error messages of database connections."""

import secrets
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Connection, bindparam, delete, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from tests.databases import both_databases
from tests.factories import make_account, make_draft
from tests.races.threads import rows, together
from webapp.base.database import (
    core_transaction,
    db,
    read_rows,
    sqlite_transaction,
    write_transaction,
)
from webapp.base.database.prepared_statements import run
from webapp.records.accounts.models import Account

# of each connection to SQLite; what undoes a statement stays in memory
SETTINGS = {
    "synchronous": 2,
    "journal_mode": "wal",
    "foreign_keys": 1,
    "secure_delete": 1,
    "temp_store": 2,
}


@pytest.mark.parametrize("begin", [write_transaction, nullcontext], ids=["writing", "reading"])
def test_every_sqlite_connection_syncs_fully_and_erases(
    app: Flask, begin: Callable[[], AbstractContextManager[object]]
) -> None:
    with app.app_context(), begin():
        read = {name: db.session.scalar(text(f"PRAGMA {name}")) for name in SETTINGS}
        patience = db.session.scalar(text("PRAGMA busy_timeout"))

    assert read == SETTINGS
    assert patience == 4_500


def test_a_reader_does_not_wait_for_a_writer_on_sqlite(app: Flask) -> None:
    with app.app_context(), write_transaction(), ThreadPoolExecutor() as pool:
        assert pool.submit(rows, app, Account).result(5) == 0


RENAME, NAMES = update(Account).values(name=bindparam("name")), select(Account.name)
NONSENSE = (text("nonsense"),)
REFUSED_AT_COMMIT = (text("PRAGMA defer_foreign_keys=ON"), delete(Account))
both_ways = pytest.mark.parametrize("transaction", [write_transaction, core_transaction])
Transaction = Callable[[], AbstractContextManager[Connection]]


def rename(app: Flask, name: str) -> None:
    with app.app_context(), write_transaction() as connection:
        run(connection, RENAME, {"name": name})


def renamed_by_another(app: Flask, name: str) -> threading.Thread:
    thread = threading.Thread(target=rename, args=(app, name))
    thread.start()
    thread.join(0.3)
    return thread


@both_databases
@both_ways
def test_a_transaction_commits_at_its_end_and_lets_the_next_writer_in(
    app: Flask, transaction: Transaction
) -> None:
    with app.app_context():
        make_account(name="Robin")
        with transaction() as connection:
            run(connection, RENAME, {"name": "Kim"})
            assert read_rows(NAMES) == [("Kim",)]
            other = renamed_by_another(app, "Jo")
            assert other.is_alive()
        other.join(5)

        assert read_rows(NAMES) == [("Jo",)]


@both_databases
@both_ways
@pytest.mark.parametrize("statements", [NONSENSE, REFUSED_AT_COMMIT], ids=["statement", "commit"])
def test_a_transaction_that_fails_changes_nothing_and_frees_its_locks(
    app: Flask, transaction: Transaction, statements: Sequence[Any]
) -> None:
    def fail() -> None:
        with transaction() as connection:
            run(connection, RENAME, {"name": "Kim"})
            for statement in statements:
                run(connection, statement, {})

    with app.app_context():
        make_draft(make_account(name="Robin").id)
        with pytest.raises(DBAPIError):
            fail()
        assert read_rows(NAMES) == [("Robin",)]
        renamed_by_another(app, "Jo").join(5)

        assert read_rows(NAMES) == [("Jo",)]


def test_a_transaction_that_cannot_begin_frees_the_lock(
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
        rename(app, "Kim")

        assert read_rows(NAMES) == [("Kim",)]


@both_databases
def test_more_threads_than_connections_get_their_turn(app: Flask) -> None:
    together(app, [make_account] * 80)

    assert rows(app, Account) == 80


@both_databases
def test_errors_do_not_repeat_the_parameters_of_a_statement(app: Flask) -> None:
    with app.app_context():
        make_account(email="ann@example.com")
        with pytest.raises(IntegrityError) as caught:
            make_account(email="ann@example.com", name="canary")

    assert "canary" not in str(caught.value)


def test_what_is_erased_leaves_no_bytes_in_the_file_of_sqlite(
    app: Flask, data_folder: Path
) -> None:
    name = "a name that is erased " + secrets.token_hex(8)
    with app.app_context():
        account = make_account(name=name)
        with write_transaction():
            db.session.execute(delete(Account).where(Account.id == account.id))
        with db.engine.connect() as connection:
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    assert name.encode() not in (data_folder / "tests.sqlite3").read_bytes()

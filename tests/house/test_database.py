"""Every connection is as durable and as discreet as promised."""

import threading

import pytest
from flask import Flask
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from tests.databases import both_databases
from tests.factories import make_account
from webapp.database import begin_write, db
from webapp.domain.accounts import Account


@pytest.mark.parametrize("begin", [begin_write, lambda: None], ids=["writing", "reading"])
def test_every_sqlite_connection_syncs_fully(app: Flask, begin: object) -> None:
    with app.app_context():
        begin()  # type: ignore[operator]
        read = {
            name: db.session.scalar(text(f"PRAGMA {name}"))
            for name in ("synchronous", "journal_mode", "foreign_keys", "busy_timeout")
        }

    assert read == {
        "synchronous": 2,
        "journal_mode": "wal",
        "foreign_keys": 1,
        "busy_timeout": 4_500,
    }


def test_one_writer_at_a_time_on_sqlite(app: Flask) -> None:
    order: list[str] = []
    inside = threading.Event()

    def second() -> None:
        inside.wait(5)
        with app.app_context():
            begin_write()
            order.append("second writes")
            db.session.rollback()

    thread = threading.Thread(target=second)
    thread.start()
    with app.app_context():
        begin_write()
        inside.set()
        thread.join(0.3)
        order.append("first commits")
        db.session.commit()
    thread.join(5)

    assert order == ["first commits", "second writes"]


def test_a_reader_does_not_wait_for_a_writer_on_sqlite(app: Flask) -> None:
    seen: list[object] = []

    def read() -> None:
        with app.app_context():
            seen.append(db.session.scalars(select(Account.id)).all())

    with app.app_context():
        begin_write()
        thread = threading.Thread(target=read)
        thread.start()
        thread.join(5)
        db.session.rollback()

    assert seen == [[]]


@both_databases
def test_more_threads_than_connections_get_their_turn(app: Flask) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            with app.app_context():
                make_account()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(80)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert failures == []


@both_databases
def test_errors_do_not_repeat_the_parameters_of_a_statement(app: Flask) -> None:
    with app.app_context():
        make_account(email="ann@example.com")
        with pytest.raises(IntegrityError) as caught:
            make_account(email="ann@example.com", name="canary")

    assert "canary" not in str(caught.value)

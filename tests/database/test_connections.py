"""How reads and writes take connections: no more than they need, and none while waiting."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Connection, bindparam, select, text, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import QueuePool

from tests.databases import both_databases, on_postgresql
from tests.factories import make_account
from tests.oauth.flow import EMAIL, PASSWORD, csrf_token, sign_in
from webapp.base.database import (
    db,
    execute_autocommit,
    postgresql,
    read_rows,
    release_connections,
    utc_now,
    write_transaction,
)
from webapp.records.accounts import credentials, invites
from webapp.records.accounts.models import Account

ACCOUNTS = select(Account.id)


def in_postgresql(test: Any) -> Any:
    """On PostgreSQL, in an application context."""
    return on_postgresql(pytest.mark.usefixtures("app_context")(test))


def taken() -> int:
    pool = db.engine.pool
    assert isinstance(pool, QueuePool)
    return pool.checkedout()


@both_databases
@pytest.mark.usefixtures("app_context")
def test_a_read_sees_what_was_committed_since_the_last_one() -> None:
    before = read_rows(ACCOUNTS)

    make_account()

    assert (len(before), len(read_rows(ACCOUNTS))) == (0, 1)


@both_databases
def test_a_request_takes_one_connection_and_holds_none_after_it(app: Flask) -> None:
    with app.app_context():
        for _ in range(2):
            read_rows(ACCOUNTS)
            assert taken() == 1
        with write_transaction():
            db.session.scalars(ACCOUNTS).all()
            read_rows(ACCOUNTS)
            assert taken() == 1
        release_connections()
        assert taken() == 0
        read_rows(ACCOUNTS)
    with app.app_context():
        assert taken() == 0


@in_postgresql
@pytest.mark.parametrize("idle_seconds", [0.0, 60.0])
def test_an_idle_connection_that_the_server_closed_is_replaced(
    monkeypatch: pytest.MonkeyPatch, idle_seconds: float
) -> None:
    monkeypatch.setattr(postgresql, "IDLE_SECONDS", idle_seconds)
    with only_fresh_connections(), db.engine.connect() as other:
        backend = db.session.scalar(BACKEND)
        release_connections()
        end_all_others(other)

        assert db.session.scalar(BACKEND) != backend


@in_postgresql
def test_an_idle_connection_that_vanished_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a firewall has forgotten it: what is sent on it gets no answer."""
    monkeypatch.setattr(postgresql, "IDLE_SECONDS", 0.0)
    with only_fresh_connections():
        backend = db.session.scalar(BACKEND)
        release_connections()
        os.kill(backend, signal.SIGSTOP)
        try:
            assert db.session.scalar(BACKEND) != backend
        finally:
            os.kill(backend, signal.SIGCONT)


@in_postgresql
def test_a_read_is_repeated_when_its_connection_ends_under_it() -> None:
    with only_fresh_connections(), db.engine.connect() as other:
        ((backend,),) = read_rows(BACKEND)
        end_all_others(other)

        assert read_rows(BACKEND) != [(backend,)]


@in_postgresql
def test_a_write_after_a_repeated_read_is_committed() -> None:
    with only_fresh_connections(), db.engine.connect() as other:
        make_account()
        read_rows(BACKEND)
        end_all_others(other)
        read_rows(BACKEND)

        execute_autocommit(update(Account).values(name=bindparam("name")), name="Kim")
        release_connections()

        assert read_rows(select(Account.name)) == [("Kim",)]


@in_postgresql
def test_a_transaction_whose_connection_ends_under_it_is_not_repeated() -> None:
    with only_fresh_connections(), db.engine.connect() as other:
        db.session.scalar(BACKEND)
        end_all_others(other)

        with pytest.raises(OperationalError):
            db.session.scalar(BACKEND)
        db.session.rollback()


@contextmanager
def only_fresh_connections() -> Iterator[None]:
    """The pool is that of all tests: without what has idled long in it, nor what died here."""
    db.engine.dispose()
    yield
    release_connections()
    db.engine.dispose()


BACKEND = text("SELECT pg_backend_pid()")
OTHERS = (
    "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_type = 'client backend'"
)
END_ALL_OTHERS = text(f"SELECT pg_terminate_backend(pid, 5000) {OTHERS}")
COUNT_OTHERS = text(f"SELECT count(*) {OTHERS}")


def end_all_others(connection: Connection) -> None:
    """End the other connections to this database, and return when they are gone."""
    assert any(connection.execute(END_ALL_OTHERS).scalars().all())
    connection.rollback()  # a transaction sees the connections of its first look
    # one that ended by itself meanwhile was not ended by us, and is gone as well
    assert connection.scalar(COUNT_OTHERS) == 0


@both_databases
def test_nothing_is_held_while_a_password_is_hashed(
    app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with app.app_context():
        invite = invites.make_invite(now=utc_now())
    held: list[int] = []
    hashing = credentials._in_own_thread

    def check_first(*args: Any) -> Any:
        held.append(taken())
        return hashing(*args)

    monkeypatch.setattr(credentials, "_in_own_thread", check_first)
    token = csrf_token(client.get(f"/join/{invite}"))
    joined = {"email": EMAIL, "password": PASSWORD, "csrf_token": token}
    client.post(f"/join/{invite}", data=joined)
    token = csrf_token(client.get("/account"))
    changed = {"current": PASSWORD, "password": f"{PASSWORD} more", "csrf_token": token}
    client.post("/account/password", data=changed)
    sign_in(app.test_client(), password="wrong words by far")  # noqa: S106

    assert held == [0, 0, 0, 0]

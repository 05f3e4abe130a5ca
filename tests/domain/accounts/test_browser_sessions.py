"""Browser sessions: when they end, and who ends them."""

import pytest
from flask import Flask
from sqlalchemy import select

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.accounts.account_setup import begin, make_ann
from webapp.base.database import db
from webapp.oauth.tokens import purge_dead
from webapp.records.accounts.browser_sessions import (
    SignIn,
    find_session_account,
    note_active,
)

in_app = pytest.mark.usefixtures("app_context")


@in_app
def test_a_session_ends_30_days_after_signing_in(clock: Clock) -> None:
    session_id = begin(make_ann(clock), clock)
    for _ in range(3):
        note_active(session_id, address=None, now=clock.forward(days=9))

    almost = find_session_account(session_id, now=clock.forward(days=3, milliseconds=-1))

    assert almost is not None
    assert find_session_account(session_id, now=clock.forward(milliseconds=1)) is None


@both_databases
def test_a_session_that_is_not_used_ends_after_14_days(app: Flask, clock: Clock) -> None:
    with app.app_context():
        session_id = begin(make_ann(clock), clock)
        note_active(session_id, address="203.0.113.5", now=clock.forward(days=9))

        almost = find_session_account(session_id, now=clock.forward(days=14, milliseconds=-1))

        assert almost is not None
        assert find_session_account(session_id, now=clock.forward(milliseconds=1)) is None
        list(purge_dead(clock.now))
        assert db.session.get(SignIn, session_id) is None


@in_app
def test_an_expired_session_is_purged_and_no_other(clock: Clock) -> None:
    account = make_ann(clock)
    begin(account, clock)
    clock.forward(days=29)
    kept = begin(account, clock)

    list(purge_dead(clock.forward(days=1)))

    assert list(db.session.scalars(select(SignIn.id))) == [kept]

"""Accounts: their addresses and names, what is stored of them, and switching one off."""

import pytest
from flask import Flask
from sqlalchemy import select

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.accounts.account_setup import PASSWORD, begin, make_ann
from webapp.base.database import db
from webapp.base.errors import InvalidInput, NotFound, StateConflict
from webapp.records.accounts import invites
from webapp.records.accounts.browser_sessions import find_session_account
from webapp.records.accounts.models import Account, Invite, disable_account, enable_account
from webapp.records.audit import list_events

in_app = pytest.mark.usefixtures("app_context")


@in_app
def test_an_account_keeps_its_address_in_lower_case(clock: Clock) -> None:
    assert make_ann(clock).email == "ann@example.com"


@in_app
def test_an_address_is_taken_once(clock: Clock) -> None:
    make_ann(clock)

    with pytest.raises(StateConflict, match="has an account already"):
        invites.create_account("ann@EXAMPLE.com", "Other", PASSWORD, now=clock.now)


@in_app
@pytest.mark.parametrize("email", ["", "ann", "ann@", "@b", "a b@c", "a\x00@b.example", "a@b@c"])
def test_what_is_no_address_is_refused(email: str, clock: Clock) -> None:
    with pytest.raises(InvalidInput, match="not an e-mail"):
        invites.create_account(email, "Ann", PASSWORD, now=clock.now)


@both_databases
def test_a_disabled_account_has_no_access_until_it_is_enabled(app: Flask, clock: Clock) -> None:
    with app.app_context():
        account = make_ann(clock)
        session_id = begin(account, clock)
        link = invites.make_invite(email=account.email, now=clock.now)

        for _ in range(2):
            disable_account(account.id, now=clock.now)

        assert find_session_account(session_id, now=clock.now) is None
        assert find_session_account(begin(account, clock), now=clock.now) is None
        with pytest.raises(NotFound):
            invites.get_invite(link, now=clock.now)
        with pytest.raises(StateConflict, match="switched off"):
            invites.make_invite(email=account.email, now=clock.now)
        enable_account(account.id, now=clock.now)
        again = db.session.get_one(Account, account.id, populate_existing=True)
        assert find_session_account(begin(again, clock), now=clock.now) is not None
        kinds = [event.kind for event in list_events(account.id, limit=99)]
        assert [kinds.count(f"account_{what}") for what in ("disabled", "enabled")] == [1, 1]


@in_app
def test_neither_password_nor_link_is_stored_in_clear(clock: Clock) -> None:
    make_ann(clock)
    token = invites.make_invite(now=clock.now)

    rows = [
        db.session.scalars(select(Account.password_hash)).one(),
        db.session.scalars(select(Invite.token_hash)).one(),
    ]
    assert not any(PASSWORD in text or token in text for text in rows)

"""Accounts: their addresses and names, what is stored of them, and switching one off."""

import pytest
from sqlalchemy import select

from tests.conftest import Clock
from tests.domain.accounts.account_setup import PASSWORD, make_ann
from webapp.base.database import db
from webapp.base.errors import InvalidInput, StateConflict
from webapp.records.accounts import invites
from webapp.records.accounts.models import Account, Invite

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


@in_app
def test_neither_password_nor_link_is_stored_in_clear(clock: Clock) -> None:
    make_ann(clock)
    token = invites.make_invite(now=clock.now)

    rows = [
        db.session.scalars(select(Account.password_hash)).one(),
        db.session.scalars(select(Invite.token_hash)).one(),
    ]
    assert not any(PASSWORD in text or token in text for text in rows)

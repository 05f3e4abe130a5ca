"""One-time links: what they make, how often, and until when."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from sqlalchemy import func, select

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.accounts.account_setup import PASSWORD
from webapp.base.database import db
from webapp.base.errors import NotFound, Outcome
from webapp.records.accounts import invites
from webapp.records.accounts.models import Account

in_app = pytest.mark.usefixtures("app_context")


@in_app
def test_a_link_ends_after_a_day(clock: Clock) -> None:
    token = invites.make_invite(now=clock.now)

    with pytest.raises(NotFound):
        invites.get_invite(token, now=clock.forward(hours=24))


@in_app
def test_an_address_fixed_by_the_link_wins(clock: Clock) -> None:
    token = invites.make_invite(email="ann@example.com", now=clock.now)

    account = invites.accept_invite(token, "eve@example.com", "Ann", PASSWORD, now=clock.now)

    assert account.email == "ann@example.com"


@both_databases
def test_eight_posts_of_one_link_make_one_account(app: Flask, clock: Clock) -> None:
    with app.app_context():
        token = invites.make_invite(now=clock.now)

    def accept(number: int) -> bool:
        with app.app_context():
            try:
                invites.accept_invite(token, f"a{number}@b.example", "", PASSWORD, now=clock.now)
            except Outcome:
                return False
            return True

    with ThreadPoolExecutor(8) as pool:
        accepted = list(pool.map(accept, range(8)))

    with app.app_context():
        stored = db.session.scalar(select(func.count()).select_from(Account))
    assert (accepted.count(True), stored) == (1, 1)

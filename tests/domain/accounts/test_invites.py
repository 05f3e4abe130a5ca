"""One-time links: what they make, how often, and until when."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from sqlalchemy import func, select

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.accounts.account_setup import PASSWORD, begin, make_ann
from webapp.base.database import db
from webapp.base.errors import InvalidInput, NotFound, Outcome, StateConflict
from webapp.records.accounts import credentials, invites
from webapp.records.accounts.browser_sessions import find_session_account
from webapp.records.accounts.models import Account

in_app = pytest.mark.usefixtures("app_context")


@in_app
def test_a_link_makes_one_account(clock: Clock) -> None:
    token = invites.make_invite(now=clock.now)

    account = invites.accept_invite(token, "ann@example.com", "Ann", PASSWORD, now=clock.now)

    assert credentials.find_sign_in("ann@example.com", PASSWORD) == account


@in_app
def test_a_link_works_once(clock: Clock) -> None:
    token = invites.make_invite(now=clock.now)
    invites.accept_invite(token, "ann@example.com", "Ann", PASSWORD, now=clock.now)

    with pytest.raises(NotFound, match="does not work any more"):
        invites.accept_invite(token, "bob@example.com", "Bob", PASSWORD, now=clock.now)


@in_app
def test_a_link_ends_after_a_day(clock: Clock) -> None:
    token = invites.make_invite(now=clock.now)

    with pytest.raises(NotFound):
        invites.get_invite(token, now=clock.forward(hours=24))


@in_app
@pytest.mark.parametrize("token", ["", "unknown", "\x00", "\ud800", "x" * 10_000])
def test_an_unknown_link_is_not_found(token: str, clock: Clock) -> None:
    with pytest.raises(NotFound):
        invites.get_invite(token, now=clock.now)


@in_app
def test_a_refused_password_leaves_the_link_usable(clock: Clock) -> None:
    token = invites.make_invite(now=clock.now)
    with pytest.raises(InvalidInput):
        invites.accept_invite(token, "ann@example.com", "Ann", "short", now=clock.now)

    assert invites.accept_invite(token, "ann@example.com", "Ann", PASSWORD, now=clock.now)


@in_app
def test_a_taken_address_leaves_the_link_usable(clock: Clock) -> None:
    make_ann(clock)
    token = invites.make_invite(now=clock.now)
    with pytest.raises(StateConflict):
        invites.accept_invite(token, "ann@example.com", "Ann", PASSWORD, now=clock.now)

    assert invites.get_invite(token, now=clock.now)


@in_app
def test_an_address_fixed_by_the_link_wins(clock: Clock) -> None:
    token = invites.make_invite(email="ann@example.com", now=clock.now)

    account = invites.accept_invite(token, "eve@example.com", "Ann", PASSWORD, now=clock.now)

    assert account.email == "ann@example.com"


@in_app
def test_a_link_for_an_existing_address_sets_a_new_password(clock: Clock) -> None:
    account = make_ann(clock)
    token = invites.make_invite(email="ann@example.com", now=clock.now)

    invites.accept_invite(token, "", "", "another four words", now=clock.now)

    signed_in = credentials.find_sign_in("ann@example.com", "another four words")
    assert signed_in is not None
    assert signed_in.id == account.id
    assert credentials.find_sign_in("ann@example.com", PASSWORD) is None


@in_app
def test_a_new_password_ends_browser_sessions(clock: Clock) -> None:
    session_id = begin(make_ann(clock), clock)
    token = invites.make_invite(email="ann@example.com", now=clock.now)

    invites.accept_invite(token, "", "", "another four words", now=clock.now)

    assert find_session_account(session_id, now=clock.now) is None


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

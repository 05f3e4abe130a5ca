"""Passwords: which are taken, who signs in with one, and what changing it ends."""

from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import select

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.accounts.account_setup import PASSWORD, begin, make_ann
from webapp.base.database import db
from webapp.base.errors import InvalidInput, NotFound
from webapp.records.accounts import credentials, invites
from webapp.records.accounts.browser_sessions import find_session_account
from webapp.records.accounts.credentials import HASHER
from webapp.records.accounts.models import Account

in_app = pytest.mark.usefixtures("app_context")


@in_app
@pytest.mark.parametrize(
    "password",
    [
        "elevenchars",
        "x" * 1025,
        "PasswordPassword",
        "password1234!",
        "qwertyuiop123",
        "iloveyouforever!!",
        "aaaaaaaaaaaaaa",
        "123456789012",
        "ann@example.com",
        "lindqvist.ann2026",
    ],
)
def test_a_weak_password_is_refused(password: str, clock: Clock) -> None:
    email = "lindqvist.ann@example.com" if "lindqvist" in password else "ann@example.com"

    with pytest.raises(InvalidInput) as refusal:
        invites.create_account(email, "Ann", password, now=clock.now)

    assert refusal.value.field == "password"


@in_app
def test_signing_in_ignores_case_and_composition_of_what_was_typed(clock: Clock) -> None:
    invites.create_account("ann@example.com", "Ann", "caf\u00e9 in the morning", now=clock.now)

    assert credentials.find_sign_in(" ANN@example.com ", "cafe\u0301 in the morning")


@in_app
def test_an_unknown_address_is_hashed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    verify: Callable[[object, str, bytes], bool] = type(HASHER).verify

    def counting(self: object, known_hash: str, password: bytes) -> bool:
        checked.append(known_hash)
        return verify(self, known_hash, password)

    monkeypatch.setattr(type(HASHER), "verify", counting)
    credentials.find_sign_in("nobody@example.com", PASSWORD)

    assert len(checked) == 1
    assert not HASHER.check_needs_rehash(checked[0])  # so it takes as long


@in_app
def test_an_older_hash_is_replaced_at_the_next_sign_in(clock: Clock) -> None:
    account = make_ann(clock)
    account.password_hash = type(HASHER)(memory_cost=8, time_cost=1, parallelism=1).hash(PASSWORD)
    db.session.commit()

    credentials.find_sign_in("ann@example.com", PASSWORD)

    assert "m=19456,t=2,p=1" in db.session.scalars(select(Account.password_hash)).one()


@both_databases
def test_a_sign_in_during_a_password_change_is_ended(app: Flask, clock: Clock) -> None:
    with app.app_context():
        make_ann(clock)
        read_before = credentials.find_sign_in("ann@example.com", PASSWORD)
        assert read_before is not None
        with app.app_context():
            credentials.change_password(
                read_before.id, PASSWORD, "another four words", now=clock.now
            )

        session_id = begin(read_before, clock)

        assert find_session_account(session_id, now=clock.now) is None


@both_databases
@pytest.mark.parametrize("way", ["reset", "change"])
def test_a_new_password_ends_the_older_links_of_the_account(
    app: Flask, clock: Clock, way: str
) -> None:
    with app.app_context():
        account = make_ann(clock)
        used, older = (invites.make_invite(email=account.email, now=clock.now) for _ in range(2))
        of_others = invites.make_invite(now=clock.now)
        new = "another four words"
        if way == "reset":
            invites.accept_invite(used, "", "", new, now=clock.now)
        else:
            credentials.change_password(account.id, PASSWORD, new, now=clock.now)

        with pytest.raises(NotFound):
            invites.get_invite(older, now=clock.now)
        assert invites.get_invite(of_others, now=clock.now).account_id is None

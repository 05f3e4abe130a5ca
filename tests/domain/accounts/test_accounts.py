"""Accounts: addresses, switching off, one-time links, passwords and browser sessions."""

from collections.abc import Callable
from functools import partial

import pytest
from flask import Flask
from sqlalchemy import select

from tests.conftest import Clock
from tests.databases import both_databases
from tests.races.threads import allowed, rows, together
from webapp.base.database import db
from webapp.base.errors import InvalidInput, NotFound, StateConflict
from webapp.oauth.tokens import purge_dead
from webapp.records.accounts import browser_sessions, credentials, invites
from webapp.records.accounts.credentials import HASHER
from webapp.records.accounts.models import Account, Invite, disable_account, enable_account
from webapp.records.audit import list_events

PASSWORD, ANOTHER = "four plain words here", "another four words"

in_app = pytest.mark.usefixtures("app_context")


def make_ann(clock: Clock) -> Account:
    return invites.create_account("Ann@Example.com", "Ann", PASSWORD, now=clock.now)


def begin(account: Account, clock: Clock) -> str:
    return browser_sessions.begin_session(account, replaced=None, now=clock.now)


def is_open(session_id: str, clock: Clock) -> bool:
    return browser_sessions.find_session_account(session_id, now=clock.now) is not None


@in_app
def test_an_address_is_taken_once_in_lower_case(clock: Clock) -> None:
    assert make_ann(clock).email == "ann@example.com"

    with pytest.raises(StateConflict, match="has an account already"):
        invites.create_account("ann@EXAMPLE.com", "Other", PASSWORD, now=clock.now)


@in_app
@pytest.mark.parametrize("email", ["", "ann", "ann@", "@b", "a b@c", "a\x00@b.example", "a@b@c"])
def test_what_is_no_address_is_refused(email: str, clock: Clock) -> None:
    with pytest.raises(InvalidInput) as refused:
        invites.create_account(email, "Ann", PASSWORD, now=clock.now)

    assert refused.value.field == "email"


@in_app
def test_neither_password_nor_link_is_stored_in_clear(clock: Clock) -> None:
    make_ann(clock)
    token = invites.make_invite(now=clock.now)

    rows = [
        db.session.scalars(select(Account.password_hash)).one(),
        db.session.scalars(select(Invite.token_hash)).one(),
    ]
    assert not any(PASSWORD in text or token in text for text in rows)


@both_databases
def test_a_disabled_account_has_no_access_until_it_is_enabled(app: Flask, clock: Clock) -> None:
    with app.app_context():
        account = make_ann(clock)
        session_id = begin(account, clock)
        link = invites.make_invite(email=account.email, now=clock.now)

        for _ in range(2):
            disable_account(account.id, now=clock.now)

        assert not is_open(session_id, clock)
        assert not is_open(begin(account, clock), clock)
        with pytest.raises(NotFound):
            invites.get_invite(link, now=clock.now)
        with pytest.raises(StateConflict, match="switched off"):
            invites.make_invite(email=account.email, now=clock.now)
        enable_account(account.id, now=clock.now)
        again = db.session.get_one(Account, account.id, populate_existing=True)
        assert is_open(begin(again, clock), clock)
        kinds = [event.kind for event in list_events(account.id, limit=99)]
        assert [kinds.count(f"account_{what}") for what in ("disabled", "enabled")] == [1, 1]


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

    accept = partial(invites.accept_invite, token, name="", password=PASSWORD, now=clock.now)
    posts = [allowed(partial(accept, email=f"a{number}@b.example")) for number in range(8)]

    assert together(app, posts).count("not_found") == 7
    assert rows(app, Account) == 1


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


@both_databases
def test_a_sign_in_during_a_password_change_is_ended(app: Flask, clock: Clock) -> None:
    with app.app_context():
        make_ann(clock)
        read_before = credentials.find_sign_in("ann@example.com", PASSWORD)
        assert read_before is not None
        with app.app_context():
            credentials.change_password(read_before.id, PASSWORD, ANOTHER, now=clock.now)

        assert not is_open(begin(read_before, clock), clock)


@both_databases
@pytest.mark.parametrize("way", ["reset", "change"])
def test_a_new_password_ends_the_older_links_of_the_account(
    app: Flask, clock: Clock, way: str
) -> None:
    with app.app_context():
        account = make_ann(clock)
        used, older = (invites.make_invite(email=account.email, now=clock.now) for _ in range(2))
        of_others = invites.make_invite(now=clock.now)
        if way == "reset":
            invites.accept_invite(used, "", "", ANOTHER, now=clock.now)
        else:
            credentials.change_password(account.id, PASSWORD, ANOTHER, now=clock.now)

        with pytest.raises(NotFound):
            invites.get_invite(older, now=clock.now)
        assert invites.get_invite(of_others, now=clock.now).account_id is None


@both_databases
@pytest.mark.parametrize(
    ("used_after", "ends_after"),
    [([9, 9, 9], 30), ([9], 9 + 14)],
    ids=["30 days in all", "14 days unused"],
)
def test_a_session_ends_and_is_purged(
    used_after: list[int], ends_after: int, app: Flask, clock: Clock
) -> None:
    with app.app_context():
        account = make_ann(clock)
        session_id = begin(account, clock)
        for days in used_after:
            browser_sessions.note_active(
                session_id, address="203.0.113.5", now=clock.forward(days=days)
            )

        clock.forward(days=ends_after - sum(used_after), milliseconds=-1)
        assert is_open(session_id, clock)
        kept = begin(account, clock)
        clock.forward(milliseconds=1)
        assert not is_open(session_id, clock)
        list(purge_dead(clock.now))
        assert list(db.session.scalars(select(browser_sessions.SignIn.id))) == [kept]

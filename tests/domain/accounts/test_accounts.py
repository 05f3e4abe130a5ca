"""Accounts, one-time links, and signing in with a password."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from sqlalchemy import func, select

from tests.conftest import Clock
from tests.databases import both_databases
from tests.factories import make_account
from webapp.database import db
from webapp.domain.accounts import credentials, invites
from webapp.domain.accounts.browser_sessions import (
    SignIn,
    begin_session,
    end_browser,
    end_other_sessions,
    end_sessions,
    find_session_account,
    list_sessions,
    note_active,
)
from webapp.domain.accounts.disabled_accounts import disable_account, enable_account
from webapp.domain.accounts.models import Account, Invite
from webapp.domain.accounts.passwords import HASHER
from webapp.domain.audit.trail import list_events
from webapp.domain.shared.errors import InvalidInput, NotFound, Outcome, StateConflict
from webapp.oauth.expiry import purge_dead

PASSWORD = "four plain words here"

in_app = pytest.mark.usefixtures("app_context")


def make_ann(clock: Clock) -> Account:
    return invites.create_account("Ann@Example.com", "Ann", PASSWORD, now=clock.now)


def begin(account: Account, clock: Clock) -> str:
    """A browser session of the account."""
    return begin_session(account, replaced=None, now=clock.now)


@in_app
def test_an_account_keeps_its_address_in_lower_case(clock: Clock) -> None:
    assert make_ann(clock).email == "ann@example.com"


@in_app
def test_a_blank_name_becomes_the_mailbox(clock: Clock) -> None:
    account = invites.create_account("ann@example.com", " \x00 ", PASSWORD, now=clock.now)

    assert account.name == "ann"


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
@pytest.mark.parametrize("password", ["twelve chars", "only small letters", "ü" * 4 + "nicodewort"])
def test_any_other_password_will_do(password: str, clock: Clock) -> None:
    invites.create_account("ann@example.com", "Ann", password, now=clock.now)

    assert credentials.find_sign_in("ann@example.com", password)


@in_app
def test_signing_in_ignores_case_and_composition_of_what_was_typed(clock: Clock) -> None:
    invites.create_account("ann@example.com", "Ann", "caf\u00e9 in the morning", now=clock.now)

    assert credentials.find_sign_in(" ANN@example.com ", "cafe\u0301 in the morning")


@in_app
@pytest.mark.parametrize(
    ("email", "password"),
    [
        ("ann@example.com", PASSWORD + "."),
        ("ann@example.com", ""),
        ("ann@example.com", "\ud800"),
        ("bob@example.com", PASSWORD),
        ("\x00@example.com", PASSWORD),
        ("", "nobody has this password"),
        ("nobody@example.com", "nobody has this password"),
    ],
)
def test_a_wrong_pair_signs_nobody_in(email: str, password: str, clock: Clock) -> None:
    make_ann(clock)

    assert credentials.find_sign_in(email, password) is None


@in_app
def test_an_unknown_address_costs_a_hash_too(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    verify: Callable[[object, str, bytes], bool] = type(HASHER).verify

    def counting(self: object, known_hash: str, password: bytes) -> bool:
        checked.append(known_hash)
        return verify(self, known_hash, password)

    monkeypatch.setattr(type(HASHER), "verify", counting)
    credentials.find_sign_in("nobody@example.com", PASSWORD)

    assert len(checked) == 1


@in_app
def test_an_older_hash_is_replaced_at_the_next_sign_in(clock: Clock) -> None:
    account = make_ann(clock)
    account.password_hash = type(HASHER)(memory_cost=8, time_cost=1, parallelism=1).hash(PASSWORD)
    db.session.commit()

    credentials.find_sign_in("ann@example.com", PASSWORD)

    assert "m=19456,t=2,p=1" in db.session.scalars(select(Account.password_hash)).one()


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


@in_app
def test_ending_all_sessions_ends_them(clock: Clock) -> None:
    account = make_ann(clock)
    session_id = begin(account, clock)
    found_before = find_session_account(session_id, now=clock.now)

    end_sessions(account.id, now=clock.now)

    assert found_before is not None
    assert find_session_account(session_id, now=clock.now) is None


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


@both_databases
def test_one_browser_or_all_others_are_signed_out(app: Flask, clock: Clock) -> None:
    with app.app_context():
        account = make_ann(clock)
        here, there, elsewhere = (begin(account, clock) for _ in range(3))
        stranger = begin(make_account(), clock)
        handle = db.session.get_one(SignIn, there).handle
        alive = [len(list_sessions(account.id, now=clock.now))]

        end_browser(account.id, handle, now=clock.now)
        alive.append(len(list_sessions(account.id, now=clock.now)))
        end_other_sessions(account.id, here, now=clock.now)

        alive += [each.id for each in list_sessions(account.id, now=clock.now)]
        assert alive == [3, 2, here]
        assert find_session_account(elsewhere, now=clock.now) is None
        assert find_session_account(stranger, now=clock.now) is not None


@both_databases
def test_a_disabled_account_is_out_until_it_is_enabled(app: Flask, clock: Clock) -> None:
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


@both_databases
def test_who_signs_in_while_the_password_changes_is_signed_out(app: Flask, clock: Clock) -> None:
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


@in_app
def test_an_expired_session_is_purged_and_no_other(clock: Clock) -> None:
    account = make_ann(clock)
    begin(account, clock)
    clock.forward(days=29)
    kept = begin(account, clock)

    list(purge_dead(clock.forward(days=1)))

    assert list(db.session.scalars(select(SignIn.id))) == [kept]


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

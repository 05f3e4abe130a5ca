"""A creator's own page: name, password, browsers, and the end of the account."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update
from werkzeug.test import TestResponse

from tests.factories import make_account, make_form
from tests.oauth.flow import API, EMAIL, PASSWORD, bearer, csrf_token, enter, sign_in
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.pages.creator.account.browser_sessions import browser_in_words
from webapp.pages.creator.account.sign_in import RECENT_SECONDS, SIGNED_IN_AT
from webapp.records.accounts import invites
from webapp.records.accounts.browser_sessions import SignIn
from webapp.records.accounts.models import (
    Account,
    disable_account,
    enable_account,
    has_account,
)
from webapp.web.limiter import limiter

NEW_PASSWORD = "another four plain words"


@pytest.fixture
def creator(app: Flask, cheap_hashing: None) -> Account:
    limiter.reset()
    with app.app_context():
        return invites.create_account(EMAIL, "Ann", PASSWORD, now=utc_now())


@pytest.fixture
def browser(client: FlaskClient, creator: Account) -> FlaskClient:
    """Signed in with the password, just now."""
    sign_in(client)
    return client


def press(browser: FlaskClient, path: str, **form: Any) -> TestResponse:
    token = csrf_token(browser.get("/account"))
    return browser.post(path, data={"csrf_token": token} | form)


def change_password(browser: FlaskClient, current: str, password: str) -> TestResponse:
    return press(browser, "/account/password", current=current, password=password)


def wait(browser: FlaskClient) -> None:
    """As if the password had been typed long ago."""
    with browser.session_transaction() as session:
        session[SIGNED_IN_AT] -= RECENT_SECONDS


def known(app: Flask) -> list[str]:
    """The addresses that can sign in."""
    with app.app_context():
        return list(db.session.scalars(select(Account.email).where(Account.deleted_at.is_(None))))


def test_a_new_password_may_hold_a_line_end(app: Flask, browser: FlaskClient) -> None:
    other = "12345\nabcdefghijk"

    assert change_password(browser, PASSWORD, other).status_code == 303
    assert sign_in(app.test_client(), password=other).status_code == 303


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (" Ann  Lindqvist\x00\u202e", "Ann Lindqvist"),
        ("علی\u200cزاده 👩\u200d🚀", "علی\u200cزاده 👩\u200d🚀"),
        ("\u200d\u2066", "ann"),
    ],
)
def test_a_new_name_is_shown(browser: FlaskClient, typed: str, shown: str) -> None:
    response = press(browser, "/account/details", name=typed, language="en")

    assert (response.status_code, response.location) == (303, "/account?saved=details")
    page = browser.get(response.location).text
    assert f'value="{shown}"' in page
    assert "Saved." in page


@pytest.mark.parametrize("language", ["", "xx", "\x00"])
def test_an_unknown_language_is_refused_and_the_name_kept(
    language: str, browser: FlaskClient
) -> None:
    page = press(browser, "/account/details", name="Ann L", language=language)

    assert page.status_code == 422
    assert "These pages are not written in that language." in page.text
    assert 'value="Ann L"' in page.text


def test_a_new_password_replaces_the_old_one(app: Flask, browser: FlaskClient) -> None:
    response = change_password(browser, PASSWORD, NEW_PASSWORD)

    assert response.location == "/account?saved=password"
    assert sign_in(app.test_client(), password=PASSWORD).status_code == 422
    assert sign_in(app.test_client(), password=NEW_PASSWORD).status_code == 303


def test_a_new_password_signs_every_other_browser_out(app: Flask, browser: FlaskClient) -> None:
    elsewhere = app.test_client()
    sign_in(elsewhere)

    change_password(browser, PASSWORD, NEW_PASSWORD)

    statuses = (browser.get("/account").status_code, elsewhere.get("/account").status_code)
    assert statuses == (200, 303)


@pytest.mark.parametrize(
    ("current", "password", "message"),
    [
        ("wrong", NEW_PASSWORD, "That is not your password."),
        ("", "", "That is not your password."),
        (PASSWORD, "short", "A password has 12 to 1,024 characters."),
        (PASSWORD, EMAIL, "too easy to guess"),
    ],
)
def test_a_refused_password_changes_nothing(
    current: str, password: str, message: str, app: Flask, browser: FlaskClient
) -> None:
    page = change_password(browser, current, password)

    assert page.status_code == 422
    assert message in page.text
    assert sign_in(app.test_client()).status_code == 303


def test_guessing_the_password_of_an_open_browser_is_limited(browser: FlaskClient) -> None:
    guesses = [change_password(browser, "wrong", NEW_PASSWORD).status_code for _ in range(6)]

    assert guesses == [422] * 5 + [429]


def test_right_after_sign_in_deletion_needs_no_password(app: Flask, browser: FlaskClient) -> None:
    asks = 'name="current"' in browser.get("/account/delete").text

    response = press(browser, "/account/delete")

    assert (asks, response.location) == (False, "/account/deleted")
    assert known(app) == []
    assert browser.get("/account").location.startswith("/login")
    assert "Your account is deleted." in browser.get("/account/deleted").text


@pytest.mark.parametrize("password", ["", "wrong"])
def test_a_late_deletion_needs_the_password(
    password: str, app: Flask, browser: FlaskClient
) -> None:
    wait(browser)

    page = press(browser, "/account/delete", current=password)

    assert page.status_code == 422
    assert "That is not your password." in page.text
    assert known(app) == [EMAIL]


def test_a_late_deletion_succeeds_with_the_password(app: Flask, browser: FlaskClient) -> None:
    wait(browser)

    press(browser, "/account/delete", current=PASSWORD)

    assert known(app) == []


def test_a_session_from_a_link_to_a_page_of_ours_deletes_nothing(
    app: Flask, browser: FlaskClient
) -> None:
    assert browser.post("/account/delete").status_code == 400
    assert known(app) == [EMAIL]


def test_a_deleted_account_has_no_access_at_once(
    app: Flask, browser: FlaskClient, creator: Account
) -> None:
    elsewhere = app.test_client()
    sign_in(elsewhere)
    with app.app_context():
        form = make_form(creator.id)
        token = issue_token(creator.id, [Scope.FORMS_READ], API, now=utc_now())

    press(browser, "/account/delete")

    stranger = app.test_client()
    assert elsewhere.get("/account").status_code == 303
    assert sign_in(elsewhere).status_code == 422
    assert stranger.get("/api/forms", headers=bearer(token)).status_code == 401
    assert stranger.get(f"/r/{form.share_token}").status_code == 404


def test_deletion_ends_open_reset_links(app: Flask, browser: FlaskClient) -> None:
    with app.app_context():
        invite = invites.make_invite(email=EMAIL, now=utc_now())

    press(browser, "/account/delete")

    assert app.test_client().get(f"/join/{invite}").status_code == 410


def test_the_address_is_free_again(app: Flask, browser: FlaskClient) -> None:
    press(browser, "/account/delete")

    with app.app_context():
        assert not has_account()
        invites.create_account(EMAIL, "Ann", PASSWORD, now=utc_now())
    assert sign_in(app.test_client()).status_code == 303


@pytest.mark.parametrize("path", ["/account", "/account/delete"])
def test_a_stranger_is_asked_to_sign_in(path: str, client: FlaskClient) -> None:
    assert client.get(path).location.startswith("/login?next=")


def as_agent(app: Flask, token: str) -> int:
    """The status of a call with this token."""
    return app.test_client().get("/api/forms", headers=bearer(token)).status_code


@pytest.fixture
def token(app: Flask, creator: Account) -> str:
    with app.app_context():
        return issue_token(creator.id, [Scope.FORMS_READ], API, now=utc_now())


@pytest.mark.parametrize(("ticked", "status"), [({}, 200), ({"end_agents": "on"}, 401)])
def test_a_new_password_ends_agents_if_asked_to(
    app: Flask, browser: FlaskClient, token: str, ticked: dict[str, str], status: int
) -> None:
    press(browser, "/account/password", current=PASSWORD, password=NEW_PASSWORD, **ticked)

    assert as_agent(app, token) == status


@pytest.mark.parametrize(("ticked", "status"), [({}, 200), ({"end_agents": "on"}, 401)])
def test_a_reset_ends_agents_unless_told_not_to(
    app: Flask, creator: Account, token: str, ticked: dict[str, str], status: int
) -> None:
    with app.app_context():
        link = invites.make_invite(email=EMAIL, now=utc_now())
    somebody = app.test_client()
    page = somebody.get(f"/join/{link}")
    form = {"password": NEW_PASSWORD, "csrf_token": csrf_token(page)}

    somebody.post(f"/join/{link}", data=form | ticked)

    assert 'name="end_agents" checked' in page.text
    assert as_agent(app, token) == status


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0"


@pytest.fixture
def elsewhere(app: Flask, creator: Account) -> FlaskClient:
    """A second browser of the creator, signed in."""
    client = app.test_client()
    client.environ_base["HTTP_USER_AGENT"] = FIREFOX
    sign_in(client)
    return client


def is_signed_in(browser: FlaskClient) -> bool:
    return browser.get("/connections").status_code == 200


def test_the_browsers_that_are_signed_in_are_listed(
    browser: FlaskClient, elsewhere: FlaskClient
) -> None:
    page = " ".join(browser.get("/account").text.split())

    assert "Firefox on Linux" in page
    assert page.count("from 127.0.0.1") == 2
    assert page.count("This browser") == 1
    assert page.count('action="/account/browsers/end"') == 1


def test_a_browser_is_signed_out_from_another(
    app: Flask, browser: FlaskClient, elsewhere: FlaskClient
) -> None:
    handle = re.search(r'name="handle" value="([0-9a-f]{16})"', browser.get("/account").text)
    assert handle

    response = press(browser, "/account/browsers/end", handle=handle[1])

    assert (is_signed_in(browser), is_signed_in(elsewhere)) == (True, False)
    assert "That browser is signed out." in browser.get(response.location).text


def test_all_others_are_signed_out(browser: FlaskClient, elsewhere: FlaskClient) -> None:
    press(browser, "/account/browsers/end-others")

    assert (is_signed_in(browser), is_signed_in(elsewhere)) == (True, False)


def test_nobody_ends_a_browser_of_somebody_else(
    app: Flask, browser: FlaskClient, elsewhere: FlaskClient
) -> None:
    with app.app_context():
        handle = db.session.scalars(select(SignIn)).first()
        assert handle
        stranger = app.test_client()
        enter(stranger, make_account())

    for name in (handle.handle, "", "x" * 5000):
        press(stranger, "/account/browsers/end", handle=name)

    assert (is_signed_in(browser), is_signed_in(elsewhere)) == (True, True)


def test_the_use_of_a_session_is_stored_now_and_then(app: Flask, browser: FlaskClient) -> None:
    with app.app_context():
        long_ago = utc_now() - timedelta(minutes=6)
        db.session.execute(update(SignIn).values(last_active_at=long_ago))
        db.session.commit()

    noted = []
    for _ in range(2):
        browser.get("/account")
        assert app.extensions["deferred_writes"].settle(10)
        with app.app_context():
            noted.append(db.session.scalars(select(SignIn.last_active_at)).one())

    assert noted[0] > long_ago
    assert noted[1] == noted[0]


@pytest.mark.parametrize(
    ("user_agent", "said"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU) Version/19.0 Mobile Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Linux; Android 16) Chrome/140.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.5.0", ""),
        ("", ""),
        ("<b>Firefox/</b>" + "x" * 100_000 + "Windows", "Firefox"),
    ],
)
def test_browsers_are_described_by_user_agent(user_agent: str, said: str) -> None:
    assert browser_in_words(user_agent) == said


def test_only_the_right_password_reveals_that_an_account_is_disabled(
    app: Flask, creator: Account, token: str
) -> None:
    with app.app_context():
        disable_account(creator.id, now=utc_now())

    right, wrong = (sign_in(app.test_client(), password=given) for given in (PASSWORD, "wrong"))

    assert (right.status_code, wrong.status_code) == (422, 422)
    assert "This account is switched off." in right.text
    assert "switched off" not in wrong.text
    assert as_agent(app, token) == 401
    with app.app_context():
        enable_account(creator.id, now=utc_now())
    assert sign_in(app.test_client()).status_code == 303
    assert as_agent(app, token) == 200

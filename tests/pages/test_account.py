"""A creator's own page: name, password, browsers, and the end of the account."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from tests.factories import make_account, make_draft, make_form, make_response
from tests.oauth.flow import API, EMAIL, PASSWORD, bearer, csrf_token, sign_in
from webapp.database import db, utc_now
from webapp.domain import accounts
from webapp.domain.accounts import Account
from webapp.domain.terms import Scope
from webapp.extensions import limiter
from webapp.oauth.tokens import issue_token
from webapp.pages.sign_in import RECENT_SECONDS, SIGNED_IN_AT

NEW_PASSWORD = "another four plain words"


@pytest.fixture
def creator(app: Flask) -> Account:
    limiter.reset()
    with app.app_context():
        return accounts.create_account(EMAIL, "Ann", PASSWORD, now=utc_now())


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


def test_the_masthead_leads_to_it(browser: FlaskClient) -> None:
    page = browser.get("/drafts").text

    assert '<a href="/account" aria-label="Your account, Ann"' in page


def test_a_new_name_is_shown(browser: FlaskClient) -> None:
    response = press(browser, "/account/details", name=" Ann  Lindqvist\x00", language="en")

    assert (response.status_code, response.location) == (303, "/account?saved=details")
    page = browser.get(response.location).text
    assert 'value="Ann  Lindqvist"' in page
    assert "Saved." in page


def test_a_blank_name_is_the_mailbox(browser: FlaskClient) -> None:
    press(browser, "/account/details", name="  ", language="en")

    assert 'value="ann"' in browser.get("/account").text


@pytest.mark.parametrize("language", ["", "xx", "\x00"])
def test_an_unknown_language_is_refused_and_the_name_kept(
    language: str, browser: FlaskClient
) -> None:
    page = press(browser, "/account/details", name="Ann L", language=language)

    assert page.status_code == 422
    assert "These pages are not written in that language." in page.text
    assert 'value="Ann L"' in page.text


def test_a_new_password_is_the_one_that_counts(app: Flask, browser: FlaskClient) -> None:
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
        (PASSWORD, EMAIL, "first ones anybody would try"),
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


def test_deletion_says_what_will_be_lost(
    app: Flask, browser: FlaskClient, creator: Account
) -> None:
    with app.app_context():
        make_draft(creator.id)
        form = make_form(creator.id)
        make_response(form)
        make_response(form)
        issue_token(creator.id, [Scope.FORMS_READ], API, now=utc_now())

    page = " ".join(browser.get("/account/delete").text.split())

    for said in (
        "1 form, and its link",
        "2 responses with",
        "1 draft that",
        "The connection of 1 agent",
    ):
        assert said in page


def test_looking_deletes_nothing(app: Flask, browser: FlaskClient) -> None:
    browser.get("/account/delete")

    assert known(app) == [EMAIL]


def test_right_after_signing_in_a_button_is_enough(app: Flask, browser: FlaskClient) -> None:
    asks = 'name="current"' in browser.get("/account/delete").text

    response = press(browser, "/account/delete")

    assert (asks, response.location) == (False, "/account/deleted")
    assert known(app) == []
    assert browser.get("/account").location.startswith("/login")
    assert "Your account is deleted." in browser.get("/account/deleted").text


@pytest.mark.parametrize("password", ["", "wrong"])
def test_later_it_needs_the_password(password: str, app: Flask, browser: FlaskClient) -> None:
    wait(browser)

    page = press(browser, "/account/delete", current=password)

    assert page.status_code == 422
    assert "That is not your password." in page.text
    assert known(app) == [EMAIL]


def test_later_the_password_is_enough(app: Flask, browser: FlaskClient) -> None:
    wait(browser)

    press(browser, "/account/delete", current=PASSWORD)

    assert known(app) == []


def test_a_session_from_a_link_to_a_page_of_ours_deletes_nothing(
    app: Flask, browser: FlaskClient
) -> None:
    assert browser.post("/account/delete").status_code == 400
    assert known(app) == [EMAIL]


def test_everything_stops_at_once(app: Flask, browser: FlaskClient, creator: Account) -> None:
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


def test_an_open_link_to_a_new_password_goes_too(app: Flask, browser: FlaskClient) -> None:
    with app.app_context():
        invite = accounts.make_invite(email=EMAIL, now=utc_now())

    press(browser, "/account/delete")

    assert app.test_client().get(f"/join/{invite}").status_code == 410


def test_the_address_is_free_again(app: Flask, browser: FlaskClient) -> None:
    press(browser, "/account/delete")

    with app.app_context():
        assert not accounts.has_account()
        accounts.create_account(EMAIL, "Ann", PASSWORD, now=utc_now())
    assert sign_in(app.test_client()).status_code == 303


@pytest.mark.parametrize("path", ["/account", "/account/delete"])
def test_a_stranger_is_asked_to_sign_in(path: str, client: FlaskClient) -> None:
    assert client.get(path).location.startswith("/login?next=")


def test_the_name_of_somebody_else_is_not_touched(app: Flask, browser: FlaskClient) -> None:
    with app.app_context():
        other = make_account(name="Bo")

    press(browser, "/account/details", name="Changed", language="en", id=other.id)

    with app.app_context():
        assert db.session.get_one(Account, other.id).name == "Bo"

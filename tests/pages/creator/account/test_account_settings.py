"""A creator's own page: name, password, browsers, and the end of the account."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.factories import make_form
from tests.oauth.flow import API, EMAIL, PASSWORD, bearer, sign_in
from tests.pages.creator.account.conftest import post, reset_password
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.pages.creator.sign_in import RECENT_SECONDS, SIGNED_IN_AT
from webapp.records.accounts import invites
from webapp.records.accounts.models import Account, disable_account, has_account

NEW_PASSWORD = "another four plain words"


@pytest.fixture
def browser(client: FlaskClient, creator: Account) -> FlaskClient:
    """Signed in with the password, just now."""
    sign_in(client)
    return client


def change_password(browser: FlaskClient, current: str, password: str, **ticked: str) -> Any:
    return post(browser, "/account/password", current=current, password=password, **ticked)


def test_a_new_password_replaces_the_old_one_and_signs_other_browsers_out(
    app: Flask, browser: FlaskClient
) -> None:
    elsewhere = app.test_client()
    sign_in(elsewhere)

    response = change_password(browser, PASSWORD, NEW_PASSWORD)

    assert response.location == "/account?saved=password"
    assert (is_signed_in(browser), is_signed_in(elsewhere)) == (True, False)
    assert sign_in(app.test_client(), password=PASSWORD).status_code == 422
    assert sign_in(app.test_client(), password=NEW_PASSWORD).status_code == 303


@pytest.mark.parametrize(
    ("current", "password"),
    [("wrong", NEW_PASSWORD), ("", ""), (PASSWORD, "short"), (PASSWORD, EMAIL)],
)
def test_a_refused_password_changes_nothing(
    current: str, password: str, app: Flask, browser: FlaskClient
) -> None:
    assert change_password(browser, current, password).status_code == 422
    assert sign_in(app.test_client()).status_code == 303


@pytest.mark.parametrize(
    ("late", "password", "status"),
    [(False, "", 303), (True, "", 422), (True, "wrong", 422), (True, PASSWORD, 303)],
)
def test_deletion_needs_the_password_some_time_after_sign_in(
    app: Flask, browser: FlaskClient, password: str, status: int, *, late: bool
) -> None:
    if late:
        with browser.session_transaction() as session:
            session[SIGNED_IN_AT] -= RECENT_SECONDS
    asks = 'name="current"' in browser.get("/account/delete").text

    response = post(browser, "/account/delete", current=password)

    assert (asks, response.status_code) == (late, status)
    with app.app_context():
        left = select(Account.email).where(Account.deleted_at.is_(None))
        assert db.session.scalars(left).all() == ([EMAIL] if status == 422 else [])
    assert is_signed_in(browser) is (status == 422)


def test_a_deleted_account_has_no_access_at_once_and_its_address_is_free(
    app: Flask, browser: FlaskClient, creator: Account, token: str
) -> None:
    elsewhere, stranger = app.test_client(), app.test_client()
    sign_in(elsewhere)
    with app.app_context():
        form = make_form(creator.id)
        invite = invites.make_invite(email=EMAIL, now=utc_now())

    farewell = post(browser, "/account/delete").location

    assert browser.get(farewell).status_code == 200
    assert not is_signed_in(elsewhere)
    assert sign_in(elsewhere).status_code == 422
    assert as_agent(app, token) == 401
    assert stranger.get(f"/r/{form.share_token}").status_code == 404
    assert stranger.get(f"/join/{invite}").status_code == 410
    with app.app_context():
        assert not has_account()
        invites.create_account(EMAIL, "Ann", PASSWORD, now=utc_now())
    assert sign_in(app.test_client()).status_code == 303


def as_agent(app: Flask, token: str) -> int:
    """The status of a call with this token."""
    return app.test_client().get("/api/forms", headers=bearer(token)).status_code


@pytest.fixture
def token(app: Flask, creator: Account) -> str:
    with app.app_context():
        return issue_token(creator.id, [Scope.FORMS_READ], API, now=utc_now())


@pytest.mark.parametrize(("ticked", "status"), [({}, 200), ({"end_agents": "on"}, 401)])
@pytest.mark.parametrize("reset", [False, True])
def test_a_new_password_ends_agents_if_asked_to(
    app: Flask, browser: FlaskClient, token: str, ticked: Any, status: int, *, reset: bool
) -> None:
    if reset:
        reset_password(app, NEW_PASSWORD, **ticked)
    else:
        change_password(browser, PASSWORD, NEW_PASSWORD, **ticked)

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


@pytest.mark.parametrize("which", ["end", "end-others"])
def test_a_browser_is_signed_out_from_another(
    browser: FlaskClient, elsewhere: FlaskClient, which: str
) -> None:
    handle = re.search(r'name="handle" value="([0-9a-f]{16})"', browser.get("/account").text)
    assert handle

    post(browser, f"/account/browsers/{which}", handle=handle[1])

    assert (is_signed_in(browser), is_signed_in(elsewhere)) == (True, False)


def test_only_the_right_password_reveals_that_an_account_is_disabled(
    app: Flask, creator: Account
) -> None:
    with app.app_context():
        disable_account(creator.id, now=utc_now())

    right, wrong = (sign_in(app.test_client(), password=given) for given in (PASSWORD, "wrong"))

    assert (right.status_code, wrong.status_code) == (422, 422)
    assert "This account is switched off." in right.text
    assert "switched off" not in wrong.text

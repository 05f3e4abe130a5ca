"""More concurrent sign-ins than the hashing queue takes: the rest get 503 and keep their input."""

import threading

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.oauth.flow import EMAIL, PASSWORD, csrf_token, sign_in
from webapp.base.database import utc_now
from webapp.records.accounts import credentials, invites
from webapp.records.accounts.models import Account
from webapp.web.limiter import limiter


@pytest.fixture(autouse=True)
def _fresh_limits(app: Flask) -> None:
    limiter.reset()


@pytest.fixture
def creator(app: Flask) -> Account:
    with app.app_context():
        return invites.create_account(EMAIL, "Ann", PASSWORD, now=utc_now())


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """All places for passwords to be hashed are taken."""
    monkeypatch.setattr(credentials, "_places", threading.Semaphore(0))


def test_too_many_sign_ins_at_once_count_as_no_failure(
    creator: Account, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(credentials, "_places", threading.Semaphore(0))
        refused = [sign_in(client) for _ in range(20)]

    assert {page.status_code for page in refused} == {503}
    assert refused[0].headers["Retry-After"] == "5"
    assert "Too many passwords are being checked just now." in refused[0].text
    assert f'value="{EMAIL}"' in refused[0].text
    assert sign_in(client).status_code == 303


@pytest.mark.usefixtures("busy")
def test_a_new_account_waits_while_too_many_sign_in(client: FlaskClient) -> None:
    with client.application.app_context():
        invite = invites.make_invite(now=utc_now())

    form = {"email": EMAIL, "name": "Ann", "password": PASSWORD}
    token = csrf_token(client.get(f"/join/{invite}"))
    page = client.post(f"/join/{invite}", data=form | {"csrf_token": token})

    assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
    assert "Too many passwords are being checked just now." in page.text
    assert f'value="{EMAIL}"' in page.text


def test_a_password_change_waits_while_too_many_sign_in(
    creator: Account, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(client)
    token = csrf_token(client.get("/account"))
    monkeypatch.setattr(credentials, "_places", threading.Semaphore(0))
    given = {"csrf_token": token, "current": PASSWORD, "password": "eleven grey heron boats"}

    page = client.post("/account/password", data=given)

    assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
    assert "Wait a few seconds, then try again." in page.text

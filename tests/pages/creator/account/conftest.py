"""A creator whose password is hashed at a hundredth of its cost, and what browsers send."""

from typing import Any

import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.oauth.flow import EMAIL, PASSWORD, csrf_token
from webapp.base.database import utc_now
from webapp.records.accounts import credentials, invites
from webapp.records.accounts.models import Account
from webapp.web.limiter import limiter


@pytest.fixture
def creator(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Account:
    cheap = PasswordHasher(memory_cost=8, time_cost=1, parallelism=1)
    monkeypatch.setattr(credentials, "HASHER", cheap)
    monkeypatch.setattr(credentials, "_NOBODY", cheap.hash("nobody has this password"))
    limiter.reset()
    with app.app_context():
        return invites.create_account(EMAIL, "Ann", PASSWORD, now=utc_now())


def post(browser: FlaskClient, path: str, page: str = "/account", **form: Any) -> TestResponse:
    """Post a form of a page, with its token."""
    return browser.post(path, data={"csrf_token": csrf_token(browser.get(page))} | form)


def reset_password(app: Flask, password: str, **ticked: str) -> int:
    """The status of a new password by a link of the operator, in a browser of its own."""
    with app.app_context():
        link = f"/join/{invites.make_invite(email=EMAIL, now=utc_now())}"
    return post(app.test_client(), link, link, password=password, **ticked).status_code

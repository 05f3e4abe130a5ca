"""Signed-in creators, and respondents who have opened a form."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.factories import make_account, make_form
from tests.pages.creator_client import Creator, creator
from tests.pages.respondent_client import Respondent, arrive
from webapp.records.accounts.models import Account


@pytest.fixture
def ann(app: Flask, account: Account) -> Creator:
    return creator(app, account)


@pytest.fixture
def stranger(app: Flask) -> Creator:
    """Another creator on the same installation."""
    with app.app_context():
        return creator(app, make_account(name="Bo Stranger"))


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    """A published form of two questions."""
    with app.app_context():
        return make_form(account.id)


@pytest.fixture
def respondent(client: FlaskClient, form: Any) -> Respondent:
    """Somebody who opened the link of `form`."""
    return arrive(client, form)


@pytest.fixture(params=["with cookies", "cookies refused"])
def browser(app: Flask, request: pytest.FixtureRequest) -> FlaskClient:
    """One as it is, and one that refuses every cookie."""
    return app.test_client(use_cookies=request.param == "with cookies")


@pytest.fixture
def anybody(browser: FlaskClient, form: Any) -> Respondent:
    return arrive(browser, form)

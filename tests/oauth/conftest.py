"""A signed-in creator, a registered client and the steps between them."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.factories import make_account
from tests.oauth.flow import EMAIL, Flow, enter, register
from webapp.records.accounts.models import Account
from webapp.web.limiter import limiter


@pytest.fixture(autouse=True)
def _fresh_process_memory(app: Flask) -> None:
    """Limits are remembered in the process, not in the database."""
    limiter.reset()


@pytest.fixture
def creator(app: Flask) -> Account:
    with app.app_context():
        return make_account(email=EMAIL, name="Ann Lindqvist")


@pytest.fixture
def browser(client: FlaskClient, creator: Account) -> FlaskClient:
    """The creator's browser, signed in."""
    enter(client, creator)
    return client


@pytest.fixture
def flow(app: Flask, browser: FlaskClient) -> Flow:
    """A public client, registered dynamically, in front of the signed-in creator."""
    return Flow(browser, app.test_client(), register(browser, token_endpoint_auth_method="none"))


@pytest.fixture
def confidential(app: Flask, browser: FlaskClient) -> Flow:
    """The same with a client that has a secret."""
    return Flow(browser, app.test_client(), register(browser))

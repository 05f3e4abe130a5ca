"""Creators in front of their desk."""

import pytest
from flask import Flask

from tests.factories import make_account
from tests.pages.creator import Creator, creator
from webapp.domain.accounts import Account


@pytest.fixture
def ann(app: Flask, account: Account) -> Creator:
    return creator(app, account)


@pytest.fixture
def stranger(app: Flask) -> Creator:
    """Another creator on the same installation."""
    with app.app_context():
        return creator(app, make_account(name="Bo Stranger"))

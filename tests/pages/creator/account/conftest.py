"""A creator whose password is hashed at a hundredth of its cost."""

import pytest
from argon2 import PasswordHasher
from flask import Flask

from tests.oauth.flow import EMAIL, PASSWORD
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

"""A connected agent: a client whose requests carry an access token of the `account`."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from webapp.config import Settings
from webapp.database import utc_now
from webapp.domain.accounts import Account
from webapp.domain.terms import Scope
from webapp.oauth.tokens import issue_token

ALL_SCOPES = tuple(Scope)


class Agent:
    """Calls the API as a connected agent; paths are relative to `/api`."""

    def __init__(self, app: Flask, token: str) -> None:
        self.app = app
        self.token = token

    def call(self, method: str, path: str, **request: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.token}"} | request.pop("headers", {})
        client = self.app.test_client()
        return client.open(f"/api{path}", method=method, headers=headers, **request)

    def get(self, path: str, **request: Any) -> TestResponse:
        return self.call("GET", path, **request)

    def post(self, path: str, **request: Any) -> TestResponse:
        return self.call("POST", path, **request)

    def patch(self, path: str, **request: Any) -> TestResponse:
        return self.call("PATCH", path, **request)


Connect = Callable[..., Agent]


@pytest.fixture
def connect(app: Flask, settings: Settings) -> Connect:
    """A new agent of an account with these scopes."""

    def connect(account_id: str, scopes: Iterable[Scope] = ALL_SCOPES) -> Agent:
        with app.app_context():
            token = issue_token(account_id, scopes, settings.api_url, now=utc_now())
        return Agent(app, token)

    return connect


@pytest.fixture
def agent(connect: Connect, account: Account) -> Agent:
    """An agent of `account` with all four scopes."""
    return connect(account.id)

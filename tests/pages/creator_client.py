"""A creator's browser without a window: pages, forms and swaps."""

import re
from dataclasses import dataclass
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from webapp.base.database import utc_now
from webapp.records.accounts.browser_sessions import begin_session
from webapp.records.accounts.models import Account

ORIGIN = "http://127.0.0.1:8000"
HTMX = {"HX-Request": "true"}


@dataclass
class Creator:
    """Signed in as one account; `swap` and `htmx=True` ask as htmx does."""

    client: FlaskClient
    account: Account
    token: str = ""

    def page(self, path: str, **headers: str) -> TestResponse:
        return self.client.get(path, base_url=ORIGIN, headers=headers, buffered=True)

    def swap(self, path: str) -> TestResponse:
        return self.page(path, **HTMX)

    def post(self, path: str, *, htmx: bool = False, **form: Any) -> TestResponse:
        """Post a form as a page of ours would, its CSRF token included."""
        self.token = self.token or hidden(self.page("/drafts/new"), "csrf_token")
        headers = {"Origin": ORIGIN} | (HTMX if htmx else {})
        data = {"csrf_token": self.token} | form
        return self.client.post(path, base_url=ORIGIN, data=data, headers=headers)


def creator(app: Flask, account: Account) -> Creator:
    client = app.test_client()
    with app.app_context():
        session_id = begin_session(account, replaced=None, now=utc_now())
    with client.session_transaction(base_url=ORIGIN) as session:
        session["_user_id"] = session_id
    return Creator(client, account)


def hidden(page: TestResponse, name: str) -> str:
    """The value of the first hidden field of this name."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page.text)
    assert found, page.text
    return found[1]


def plain(text: str) -> str:
    """The words of a page without its tags, spaces folded."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", without_marks(text)))


def without_marks(text: str) -> str:
    """The page as if no words in it were marked."""
    return re.sub("</?mark>", "", text)

"""A creator's browser without a window: pages, forms and swaps."""

import re
from dataclasses import dataclass
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.factories import make_draft, make_form
from webapp.base.database import utc_now
from webapp.drafts import editing
from webapp.records import drafts
from webapp.records.accounts.browser_sessions import begin_session
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft

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

    def context(self) -> Any:
        return self.client.application.app_context()

    def within(self, call: Any, *given: Any, **named: Any) -> Any:
        """What a function returns in a context of the application."""
        with self.context():
            return call(*given, **named)

    def form(self, **fields: Any) -> Any:
        return self.within(make_form, self.account.id, **fields)

    def draft(self, **fields: Any) -> Draft:
        found: Draft = self.within(make_draft, self.account.id, **fields)
        return found

    def by_agent(
        self, draft: Draft, agent_note: str | None = None, author: str = "grt_1", **fields: Any
    ) -> Draft:
        """A change of the draft, as through the API."""
        by: dict[str, Any] = {"author": author, "agent_note": agent_note, "now": utc_now()}
        changes = parse_draft_input(fields)
        return self.within(editing.update_draft, self.account.id, draft.id, changes, **by)

    def confirm(self, draft: Draft, then: str = "publish", **changed: Any) -> TestResponse:
        """The decision about this revision of the draft."""
        form = {"then": then, "revision": draft.revision, "shown_hash": draft.content_hash}
        return self.post(f"/drafts/{draft.id}/confirm", **form | changed)

    def stored(self, draft: Draft) -> Draft:
        found: Draft = self.within(drafts.get_draft, self.account.id, draft.id)
        return found


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

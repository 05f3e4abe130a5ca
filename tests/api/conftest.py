"""A connected agent: a client whose requests carry an access token of the `account`."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.described import assert_described
from tests.factories import make_form
from webapp.app import streams
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts import confirmations
from webapp.oauth.tokens import issue_token
from webapp.records import drafts
from webapp.records.accounts.models import Account
from webapp.web import wakeups

ALL_SCOPES = tuple(Scope)


@pytest.fixture
def frequent_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of waits and streams into the database; what nobody tells them of is seen by a look alone."""
    monkeypatch.setattr(wakeups, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(streams, "LOOK_SECONDS", 0.1)


class Agent:
    """Calls the API as a connected agent; paths are relative to `/api`.

    Every response is compared with the OpenAPI document.
    """

    def __init__(self, app: Flask, token: str) -> None:
        self.app = app
        self.token = token

    def call(self, method: str, path: str, **request: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.token}"} | request.pop("headers", {})
        client = self.app.test_client()
        answer = client.open(f"/api{path}", method=method, headers=headers, **request)
        assert_described(method, path.partition("?")[0], answer)
        return answer

    def get(self, path: str, **request: Any) -> TestResponse:
        return self.call("GET", path, **request)

    def post(self, path: str, **request: Any) -> TestResponse:
        return self.call("POST", path, **request)

    def patch(self, path: str, **request: Any) -> TestResponse:
        return self.call("PATCH", path, **request)


Connect = Callable[..., Agent]
Confirm = Callable[[str], None]


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


def refusal(response: TestResponse) -> tuple[int, str]:
    """Status and code of a failure, after checking the fields that all failures have."""
    body = response.json
    assert body.keys() == {"error", "code", "message", "resolution"}
    assert body["error"] == body["message"]
    assert all(body.values())
    return response.status_code, body["code"]


@pytest.fixture
def draft_id(agent: Agent) -> str:
    """A draft with a title and two questions, as the agent made it."""
    body = {"title": "Rota", "questions": ["Who changed it?", "What went wrong?"]}
    made: str = agent.post("/drafts", json=body).json["draftId"]
    return made


@pytest.fixture
def confirm(app: Flask, account: Account) -> Callable[[str], None]:
    """Confirm the current revision, as the creator does in the browser."""

    def confirm(draft_id: str) -> None:
        with app.app_context():
            draft = drafts.get_draft(account.id, draft_id)
            confirmations.confirm_draft(
                account.id,
                draft_id,
                revision=draft.revision,
                shown_hash=draft.content_hash,
                now=utc_now(),
            )

    return confirm


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    """A published form of two questions, as a row of its columns."""
    with app.app_context():
        return make_form(account.id)

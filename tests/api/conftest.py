"""A connected agent: a client whose requests carry an access token of the `account`."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, TypeVar, cast

import pytest
from flask import Flask
from sqlalchemy.pool import QueuePool
from werkzeug.test import TestResponse

from tests.described import assert_described
from tests.factories import make_form
from tests.services import wait_until
from webapp.app import streams
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts import agent_tokens, confirmations
from webapp.oauth.tokens import issue_token
from webapp.records import drafts
from webapp.records.accounts.models import Account
from webapp.web import wakeups

ALL_SCOPES = tuple(Scope)
SETTINGS = {
    "followUpMode": "none",
    "responseMode": "voice_preferred",
    "responseLimit": "multiple",
    "maxFollowupsPerQuestion": 0,
    "maxTotalQuestions": None,
}


@pytest.fixture
def frequent_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakeups, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(streams, "LOOK_SECONDS", 0.1)


class Agent:
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
    def connect(account_id: str, scopes: Iterable[Scope] = ALL_SCOPES) -> Agent:
        with app.app_context():
            token = issue_token(account_id, scopes, settings.api_url, now=utc_now())
        return Agent(app, token)

    return connect


@pytest.fixture
def agent(connect: Connect, account: Account) -> Agent:
    return connect(account.id)


def refusal(response: TestResponse) -> tuple[int, str]:
    body = response.json
    assert body.keys() == {"error", "code", "message", "resolution"}
    assert body["error"] == body["message"]
    assert all(body.values())
    return response.status_code, body["code"]


@pytest.fixture
def draft_id(agent: Agent) -> str:
    body = {"title": "Rota", "questions": ["Who changed it?", "What went wrong?"]}
    made: str = agent.post("/drafts", json=body).json["draftId"]
    return made


@pytest.fixture
def confirm(app: Flask, account: Account) -> Callable[[str], None]:
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
    with app.app_context():
        return make_form(account.id)


def agent_token(
    app: Flask, account_id: str, form_id: str | None, life: timedelta = timedelta(days=1)
) -> agent_tokens.AgentToken:
    now = utc_now()
    with app.app_context():
        return agent_tokens.make_agent_token(
            account_id, form_id, label="Rota", expires_at=now + life, now=now
        )


SOON_SECONDS = 10  # on a busy machine; a wait that nothing ends takes 20 and more

T = TypeVar("T")


def while_waiting(app: Flask, call: Callable[[], T], happens: Callable[[], object]) -> T:
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(call)
        wait_until(lambda: app.extensions["wakeups"]._held, "a wait")
        with app.app_context():
            pool = cast(QueuePool, db.engine.pool)
        wait_until(lambda: pool.checkedout() == 0, "the end of a look", 10)
        happens()
        return answer.result(SOON_SECONDS)


def at_once(call: Callable[[], T]) -> T:
    began = time.monotonic()
    answer = call()
    assert time.monotonic() - began < SOON_SECONDS
    return answer

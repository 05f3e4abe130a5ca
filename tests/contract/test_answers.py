"""Real answers of every operation with every status, against the document."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatch
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.openapi.operations import AUDIO, EXTENSIONS, OPERATIONS, Operation
from api.wire.event_stream import LEAVE_CONNECTION
from tests.api.conftest import Agent
from tests.event_factories import make_subscription
from tests.factories import make_account, make_draft, make_form, make_response
from tests.voice.factories import make_stored_answer
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts import confirmations
from webapp.drafts.agent_tokens import make_agent_token
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account
from webapp.records.forms import Form

JSON, EVENTS = "application/json", "text/event-stream"
NOBODY = "askat_" + "x" * 43
SENT = {"replaceServiceDraftFollowUps": {"followUps": {"1": ["Why?"], "2": []}}}  # no ids known
CASES = [
    (operation, int(status))
    for operation in (*OPERATIONS, *EXTENSIONS)
    for status in (operation.status, *operation.codes)
]
CASES += [(operation, 206) for operation in EXTENSIONS if operation.media == AUDIO]


@dataclass
class Scene:
    """An account with a confirmed draft, an unconfirmed one, and a form with two responses, one of
    which has a recording.
    """

    app: Flask
    token: str
    agent_token: str
    confirmed: str
    unconfirmed: str
    form: str
    attachment: str

    def call(self, operation: Operation, *, object_id: str = "", **request: Any) -> TestResponse:
        """The operation on the object, by default one on which it succeeds."""
        known = self.confirmed if "draftId" in operation.path else self.form
        path = operation.path.replace("{attachmentId}", object_id or self.attachment)
        path = re.sub(r"\{\w+\}", object_id or known, path)
        if operation.sent:
            request.setdefault("json", SENT.get(operation.id, operation.sent))
        token = request.pop("token", self.token if operation.scope else self.agent_token)
        if operation.media == EVENTS:  # the server itself goes on with it
            request.setdefault("environ_overrides", {LEAVE_CONNECTION: lambda _stream: True})
        return Agent(request.pop("app", self.app), token).call(operation.method, path, **request)


@pytest.fixture
def scene(app: Flask, settings: Settings, account: Account) -> Scene:
    with app.app_context():
        confirmed, unconfirmed = make_draft(account.id), make_draft(account.id)
        confirmations.confirm_draft(
            account.id,
            confirmed.id,
            revision=1,
            shown_hash=confirmed.content_hash,
            now=utc_now(),
        )
        form = make_form(account.id)
        make_response(form, name="Kim")
        attachment = make_stored_answer(form, "under way").id
        token = issue_token(account.id, tuple(Scope), settings.api_url, now=utc_now())
        agent_token = make_agent_token(
            account.id, form.id, label="", expires_at=utc_now() + timedelta(days=1), now=utc_now()
        ).token
    return Scene(app, token, agent_token, confirmed.id, unconfirmed.id, form.id, attachment)


def fails_with_400(scene: Scene, operation: Operation) -> TestResponse:
    broken: dict[str, dict[str, Any]] = {
        "publishServiceDraft": {"data": b"x" * 300_000},
        "getServiceDraft": {"query_string": {"wait": "long"}},
        "getServiceDraftReview": {"query_string": {"wait": "long"}},
        "getServiceResponses": {"query_string": {"since": "yesterday"}},
        "createAgentToken": {"json": {"label": 7}},
        "createSubscription": {"json": {"url": 7}},
        "getAskAnswers": {"query_string": {"since": "yesterday"}},
        "streamAsk": {"headers": {"Last-Event-ID": "yesterday"}},
    }
    return scene.call(operation, **broken.get(operation.id, {"json": {"title": 7}}))


def fails_with_409(scene: Scene, operation: Operation) -> TestResponse:
    if operation.id == "createSubscription":
        with scene.app.app_context():
            form = db.session.get_one(Form, scene.form)
            for _ in range(100):
                make_subscription(form)
        return scene.call(operation)
    headers = {"If-Match": '"9"'}
    return scene.call(operation, object_id=scene.unconfirmed, headers=headers)


def fails_with_429(scene: Scene, operation: Operation) -> TestResponse:
    if operation.media == EVENTS:
        return scene.call(operation, environ_overrides={LEAVE_CONNECTION: lambda _stream: False})
    if operation.id == "createSubscription":
        for _ in range(2):
            scene.call(operation)
    for title in ("One", "Two"):
        Agent(scene.app, scene.token).patch(f"/drafts/{scene.unconfirmed}", json={"title": title})
    return scene.call(operation)


def fails_with_500(scene: Scene, operation: Operation) -> TestResponse:
    settings: Settings = scene.app.config["SETTINGS"]
    away = "postgresql+psycopg://nobody@127.0.0.1:1/none?connect_timeout=1"
    return scene.call(operation, app=create_app(settings.model_copy(update={"database_url": away})))


def fails_with_416(scene: Scene, operation: Operation) -> TestResponse:
    return scene.call(operation, headers={"Range": "bytes=999999-"})


HAPPENS: dict[int, Callable[[Scene, Operation], TestResponse]] = {
    200: lambda scene, operation: scene.call(operation),
    201: lambda scene, operation: scene.call(operation),
    204: lambda scene, operation: scene.call(operation),
    206: lambda scene, operation: scene.call(operation, headers={"Range": "bytes=0-9"}),
    400: fails_with_400,
    401: lambda scene, operation: scene.call(operation, token=NOBODY),
    404: lambda scene, operation: scene.call(operation, object_id="nothing"),
    409: fails_with_409,
    416: fails_with_416,
    429: fails_with_429,
    500: fails_with_500,
}


@pytest.mark.usefixtures("hook")
@pytest.mark.settings(limit_writes="2/minute", limit_subscribe="2/minute")
@pytest.mark.parametrize(
    ("operation", "status"), CASES, ids=[f"{operation.id} {status}" for operation, status in CASES]
)
def test_responses_match_the_document(operation: Operation, status: int, scene: Scene) -> None:
    answer = HAPPENS[status](scene, operation)

    # the agent compares headers and body with the document
    media = operation.media if status in (operation.status, 206) else JSON
    assert answer.status_code == status
    assert fnmatch(answer.mimetype, media) or not answer.data


def test_refusals_for_forms_of_others_match_the_document(scene: Scene) -> None:
    with scene.app.app_context():
        foreign = make_form(make_account().id).id
    operation = next(known for known in OPERATIONS if known.id == "getService")

    answer = scene.call(operation, object_id=foreign)

    assert (answer.status_code, answer.json["code"]) == (404, "form_not_found")

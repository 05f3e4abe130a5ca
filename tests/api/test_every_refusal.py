"""Every code that the document lists for an operation is provoked, and its text checked."""

import secrets
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from api.openapi.operations import EXTENSIONS, OPERATIONS, Operation
from tests.api.conftest import Agent, Confirm
from tests.api.readable import assert_readable
from tests.event_factories import make_subscription
from tests.factories import make_form
from tests.voice.factories import make_spoken_answer
from tests.webhook_receiver import SECRET
from webapp.base.database import db
from webapp.oauth import guard
from webapp.records.accounts.models import Account
from webapp.records.forms import Form

LARGE = b"x" * 300_000
JSON = "application/json"
BEGIN_WITH_A_FIELD = {
    "invalid_json": "body: ",
    "unknown_field": "colour: ",
    "context_required": "context: ",
    "invalid_since": "since: ",
    "payload_too_large": "body: ",
    "idempotency_key_reused": "Idempotency-Key: ",
    "callback_failed": "url: ",
    "range_not_satisfiable": "Range: ",
    "draft_incomplete": "title: ",
    "revision_conflict": "If-Match: ",
}
# in the body; "title" elsewhere
TEXT = {
    "createAgentToken": "label",
    "createSubscription": "url",
    "replaceServiceDraftFollowUps": "followUps.1[0]",
}
# without these nothing else in it is looked at; the address leads inside, so nobody is asked
NEEDED: dict[str, dict[str, Any]] = {
    "createSubscription": {"url": "https://localhost/", "secret": SECRET},
    "replaceServiceDraftFollowUps": {"followUps": {}},
}
OF_CONNECTIONS = [operation for operation in (*OPERATIONS, *EXTENSIONS) if operation.scope]
CASES = [
    (operation, code)
    for operation in OF_CONNECTIONS
    for codes in operation.codes.values()
    for code in codes
    if code != "rate_limited"
]


class Scene:
    """An operation on a draft and a form that are there; `path` is that of the draft or form."""

    def __init__(self, agent: Agent, operation: Operation, draft_id: str, form_id: str) -> None:
        self.agent, self.operation, self.draft_id = agent, operation, draft_id
        self.form_id = form_id
        self.path = self.path_of(draftId=draft_id, formId=form_id)
        self.text = TEXT.get(operation.id, "title")

    def path_of(self, **ids: str) -> str:
        return self.operation.path.format(
            **{"subscriptionId": "sub_1", "attachmentId": "att_1"} | ids
        )

    def call(self, path: str = "", **request: Any) -> TestResponse:
        if self.operation.takes and not request.keys() & {"data", "json"}:
            request["json"] = {}
        if "json" in request:
            request["json"] = NEEDED.get(self.operation.id, {}) | request["json"]
        return self.agent.call(self.operation.method, path or self.path, **request)

    def with_text(self, value: object) -> dict[str, Any]:
        if self.text.startswith("followUps"):
            return {"followUps": {"1": [value]}}
        return {self.text: value}

    def elsewhere(self, object_id: str) -> TestResponse:
        ids = dict.fromkeys(("draftId", "formId", "subscriptionId", "attachmentId"), object_id)
        return self.call(self.path_of(**ids))

    def beyond_the_end(self) -> TestResponse:
        with self.agent.app.app_context():
            form = db.session.get_one(Form, self.form_id)
            recording = make_spoken_answer(form, secrets.token_urlsafe(24)).id
        path = self.path_of(formId=self.form_id, attachmentId=recording)
        return self.call(path, headers={"Range": "bytes=999999-"})

    def reused(self) -> TestResponse:
        headers = {"Idempotency-Key": "k"}
        self.call(headers=headers)
        return self.call(headers=headers, json={"title": "x"})

    def incomplete(self) -> TestResponse:
        self.agent.patch(f"/drafts/{self.draft_id}", json={"title": ""})
        return self.call()

    def published(self, confirm: Confirm) -> TestResponse:
        confirm(self.draft_id)
        self.agent.post(f"/drafts/{self.draft_id}/publish")
        return self.call(json=self.with_text("x"))

    def stale(self, confirm: Confirm) -> TestResponse:
        confirm(self.draft_id)
        self.agent.patch(f"/drafts/{self.draft_id}", json={"title": "x"})
        return self.call()

    def subscribed_too_often(self) -> TestResponse:
        with self.agent.app.app_context():
            form = db.session.get_one(Form, self.form_id)
            for _ in range(100):
                make_subscription(form)
        return self.call()


PROVOKE: dict[str, Callable[[Scene, Confirm], TestResponse]] = {
    "invalid_json": lambda scene, _: scene.call(data=b"{", content_type=JSON),
    "validation_failed": lambda scene, _: (
        scene.call(json=scene.with_text(7))
        if scene.operation.takes
        else scene.call(f"{scene.path}?wait=x")
    ),
    "unknown_field": lambda scene, _: scene.call(json={"colour": "red"}),
    "context_required": lambda scene, _: scene.call(json={"followUpMode": "smart"}),
    "invalid_since": lambda scene, _: scene.call(f"{scene.path}?since=x"),
    "invalid_text": lambda scene, _: scene.call(json=scene.with_text("\0")),
    "payload_too_large": lambda scene, _: scene.call(data=LARGE, content_type=JSON),
    "idempotency_key_reused": lambda scene, _: scene.reused(),
    "authentication_required": lambda scene, _: Scene(
        Agent(scene.agent.app, "askat_" + "x" * 43), scene.operation, scene.draft_id, "x"
    ).call(),
    "draft_not_found": lambda scene, _: scene.elsewhere("x"),
    "form_not_found": lambda scene, _: scene.elsewhere("x"),
    "not_found": lambda scene, _: scene.elsewhere(""),
    "draft_not_confirmed": lambda scene, _: scene.call(),
    "confirmation_stale": lambda scene, confirm: scene.stale(confirm),
    "draft_incomplete": lambda scene, _: scene.incomplete(),
    "draft_already_published": lambda scene, confirm: scene.published(confirm),
    "revision_conflict": lambda scene, _: scene.call(headers={"If-Match": '"7"'}),
    "range_not_satisfiable": lambda scene, _: scene.beyond_the_end(),
    "callback_failed": lambda scene, _: scene.call(),
    "too_many_subscriptions": lambda scene, _: scene.subscribed_too_often(),
    "internal_error": lambda scene, _: scene.call(),
    "storage_unavailable": lambda scene, _: scene.call(),
}
FAULTS = {
    "internal_error": RuntimeError(),
    "storage_unavailable": OperationalError("", {}, Exception()),
}


@pytest.fixture
def form_id(agent: Agent, account: Account) -> str:
    with agent.app.app_context():
        return str(make_form(account.id).id)


@pytest.mark.parametrize(
    ("operation", "code"), CASES, ids=[f"{operation.id} {code}" for operation, code in CASES]
)
def test_refusals_say_what_to_change(
    operation: Operation,
    code: str,
    agent: Agent,
    draft_id: str,
    form_id: str,
    confirm: Confirm,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise FAULTS[code]

    if code in FAULTS:
        monkeypatch.setattr(guard, "note_use", fail)

    scene = Scene(agent, operation, draft_id, form_id)
    response = PROVOKE[code](scene, confirm)

    begins = BEGIN_WITH_A_FIELD.get(code, "")
    if code in {"validation_failed", "invalid_text"}:
        begins = f"{scene.text}: " if operation.takes else "wait: "
    assert_readable(response, code, begins)


@pytest.mark.settings(limit_writes="1/minute", limit_subscribe="1/minute")
@pytest.mark.parametrize(
    "operation",
    [operation for operation in OF_CONNECTIONS if 429 in operation.codes],
    ids=lambda operation: operation.id,
)
def test_rate_limit_refusals_say_what_to_do(
    operation: Operation, agent: Agent, draft_id: str
) -> None:
    scene = Scene(agent, operation, draft_id, "x")
    scene.call()

    response = scene.call()

    assert_readable(response, "rate_limited", "Too many write operations: ")

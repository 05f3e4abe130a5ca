"""Every code that the document lists for an operation, provoked; and what a refusal says."""

import re
import secrets
from collections.abc import Callable
from typing import Any

from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from api.openapi.operations import EXTENSIONS, OPERATIONS, Operation
from tests.api.conftest import Agent, Confirm, refusal
from tests.event_factories import make_subscription
from tests.voice.factories import make_spoken_answer
from tests.webhook_receiver import SECRET
from webapp.base.database import db
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
    "invalid_json": lambda scene, _: scene.call(data=b'{"title": "\n', content_type=JSON),
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
OF_LIBRARIES = re.compile(
    r"(?i:pydantic|orjson|werkzeug|flask|authlib|sqlalchemy|psycopg|sqlite|redis|granian|python)"
    r"|Input should|Expecting|delimiter|dictionary|instance of|valid (?:string|list)|Traceback"
    r"|\bNone\b|\bTrue\b|\bFalse\b|\bdict\b|\bstr\b|\bint\b|codec|Errno|Exception"
)
TELLS_WHAT_TO_DO = re.compile(
    r"(?:Send|Use|Remove|Correct|Leave|Add|Ask|Give|Create|Read|Wait|Refresh|Call|Complete) "
)


def assert_readable(response: TestResponse, code: str, begins: str = "") -> None:
    assert refusal(response)[1] == code
    message, resolution = response.json["message"], response.json["resolution"]
    assert message.startswith(begins)
    for sentence in (message, resolution):
        assert OF_LIBRARIES.search(sentence) is None
        assert sentence.endswith(".")
        assert len(sentence) < 800
    assert TELLS_WHAT_TO_DO.match(resolution)

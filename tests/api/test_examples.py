"""The examples of the OpenAPI document against its schemas and against the running server."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from api.openapi.document import document
from api.openapi.operations import EXTENSIONS, OPERATIONS
from api.wire.event_stream import LEAVE_CONNECTION
from tests.api.conftest import Agent, Confirm
from tests.described import validator
from tests.event_factories import make_subscription
from tests.voice.factories import make_stored_answer
from tests.webhook_receiver import SECRET
from webapp.answers import answering
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.error_codes import OF_REST
from webapp.drafts.editing import update_draft
from webapp.drafts.returns import return_draft
from webapp.records import forms
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft

JSON = "application/json"
BYTES = {"audio/*", "application/octet-stream"}
CHANGING = re.compile(
    r"(?P<id>(?:drf|frm|q|ses|ans|agt|sub)_)[0-9a-f]{24,32}|(?P<token>askag_)\w+(?:…\w+)?|(?P<link>/r/)[\w-]{22}"
    r"|\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=again in )\w+ \w+|(?<=request id )\w+"
)


@pytest.fixture
def described(settings: Settings) -> Any:
    return document(settings)


def without_what_changes(body: Any) -> Any:
    if isinstance(body, dict) and "cursor" in body:
        body = body | {"cursor": "*"}
    """Ids, links, moments and waits replaced, wherever they stand."""
    if isinstance(body, dict):
        return {name: without_what_changes(value) for name, value in body.items()}
    if isinstance(body, list):
        return [without_what_changes(value) for value in body]
    if isinstance(body, str):
        return CHANGING.sub(
            lambda found: f"{found['id'] or found['token'] or found['link'] or ''}*", body
        )
    return body


def contents(described: Any) -> list[tuple[Any, list[Any]]]:
    """Every schema of a body with the examples that stand beside it."""
    found = []
    for methods in described["paths"].values():
        for operation in methods.values():
            bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
            for body in bodies:
                for kind, content in body.get("content", {}).items():
                    if kind not in BYTES:
                        found.append((content["schema"], examples(described, content)))
    return found


def examples(described: Any, content: Any) -> list[Any]:
    named = described["components"]["examples"]
    of_codes = [named[code]["value"] for code in content.get("examples", {})]
    return [content["example"], *of_codes] if "example" in content else of_codes


def test_every_body_has_examples_that_its_schema_allows(described: Any) -> None:
    found = contents(described)

    assert len(found) > 30
    for schema, bodies in found:
        assert bodies
        for body in bodies:
            validator(schema).validate(body)


def test_parameters_and_headers_are_exemplified_within_their_schemas(described: Any) -> None:
    for kind in ("parameters", "headers"):
        for one in described["components"][kind].values():
            if "example" in one:
                validator(one["schema"]).validate(one["example"])


@pytest.fixture
def example(described: Any) -> Callable[[str], Any]:
    """The body of an operation's success in the document."""

    def example(operation_id: str) -> Any:
        found = next(known for known in (*OPERATIONS, *EXTENSIONS) if known.id == operation_id)
        responses = described["paths"][found.path][found.method.lower()]["responses"]
        return without_what_changes(responses[str(int(found.status))]["content"][JSON]["example"])

    return example


def sent(described: Any, path: str, method: str) -> Any:
    return described["paths"][path][method]["requestBody"]["content"][JSON]["example"]


@pytest.mark.usefixtures("hook")
def test_successes_equal_the_examples(
    agent: Agent, confirm: Confirm, described: Any, example: Callable[[str], Any]
) -> None:
    created = agent.post("/drafts", json=sent(described, "/drafts", "post"))
    draft_id = created.json["draftId"]
    read = agent.get(f"/drafts/{draft_id}")
    confirm(draft_id)
    published = agent.post(f"/drafts/{draft_id}/publish")
    form_id = published.json["formId"]
    respond(agent.app, published.json["shareUrl"].rpartition("/")[2])

    asked = sent(described, "/forms/{formId}/agent-tokens", "post")
    token = agent.post(f"/forms/{form_id}/agent-tokens", json=asked)
    reader = Agent(agent.app, token.json["token"])
    subscriptions = f"/forms/{form_id}/subscriptions"
    subscribed = sent(described, "/forms/{formId}/subscriptions", "post")

    answers = {
        "createServiceDraft": created,
        "getServiceDraftReview": reviewed(agent, described),
        "getServiceDraft": read,
        "publishServiceDraft": published,
        "listService": agent.get("/forms"),
        "getService": agent.get(f"/forms/{form_id}"),
        "getServiceResponses": agent.get(f"/forms/{form_id}/responses"),
        "createAgentToken": token,
        "createSubscription": agent.post(subscriptions, json=subscribed),
        "listSubscriptions": agent.get(subscriptions),
        "getAskAnswers": reader.get(f"/agent/asks/{form_id}/answers"),
    }
    for operation_id, answer in answers.items():
        assert without_what_changes(answer.json) == example(operation_id), operation_id


def reviewed(agent: Agent, described: Any) -> TestResponse:
    """The review of a draft whose creator reworded a question, then sent it back."""
    example = described["paths"]["/drafts/{draftId}/review"]["get"]["responses"]["200"]
    said = example["content"][JSON]["example"]
    (change,) = said["changes"]
    question = {"id": change["questionId"], "text": change["before"]}
    draft_id = agent.post("/drafts", json={"questions": [question]}).json["draftId"]
    with agent.app.app_context():
        draft = db.session.get_one(Draft, draft_id)
        by_creator = parse_draft_input({"questions": [question | {"text": change["after"]}]})
        of, now = (draft.account_id, draft_id), utc_now()
        update_draft(*of, by_creator, author=None, now=now)
        return_draft(*of, revision=2, note=said["note"], now=now)
    return agent.get(f"/drafts/{draft_id}/review")


def test_an_update_equals_its_example(
    agent: Agent, described: Any, example: Callable[[str], Any]
) -> None:
    body = sent(described, "/drafts", "post")
    draft_id = agent.post("/drafts", json=body).json["draftId"]

    changed = agent.patch(f"/drafts/{draft_id}", json=sent(described, "/drafts/{draftId}", "patch"))

    assert without_what_changes(changed.json) == example("updateServiceDraft")


def respond(app: Flask, share_token: str) -> None:
    """Kim answers both questions and sends them."""
    with app.app_context():
        for position, text in enumerate(["I did: two were ill.", "Easter."]):
            answering.answer_question(
                share_token,
                "k" * 32,
                position=position,
                answer_text=text,
                answer_key=f"key-{position}-of-kim-in-cafe",
                now=utc_now(),
                signs=None,
            )
        answering.complete_response(share_token, "k" * 32, responder_name="Kim", now=utc_now())


Provoke = Callable[[Agent, str, Confirm], Any]


def reused(agent: Agent, _draft: str, _confirm: Confirm) -> Any:
    headers = {"Idempotency-Key": "k"}
    agent.post("/drafts", json={}, headers=headers)
    return agent.post("/drafts", json={"title": "x"}, headers=headers)


def stale(agent: Agent, draft: str, confirm: Confirm) -> Any:
    confirm(draft)
    agent.patch(f"/drafts/{draft}", json={"title": "x"})
    return agent.post(f"/drafts/{draft}/publish")


def published(agent: Agent, draft: str, confirm: Confirm) -> Any:
    confirm(draft)
    agent.post(f"/drafts/{draft}/publish")
    return agent.patch(f"/drafts/{draft}", json={"title": "x"})


def incomplete(agent: Agent, _draft: str, _confirm: Confirm) -> Any:
    made = agent.post("/drafts", json={"questions": ["Who?", ""]}).json["draftId"]
    return agent.post(f"/drafts/{made}/publish")


def outdated(agent: Agent, draft: str, _confirm: Confirm) -> Any:
    agent.patch(f"/drafts/{draft}", json={"title": "x"})
    return agent.patch(f"/drafts/{draft}", json={}, headers={"If-Match": '"1"'})


def limited(agent: Agent, _draft: str, _confirm: Confirm) -> Any:
    return [agent.post("/drafts", json={}) for _ in range(31)][-1]


def nobody(agent: Agent, _draft: str, _confirm: Confirm) -> Any:
    return agent.app.test_client().get("/api/forms")


def subscribed(*, before: int) -> Provoke:
    """Subscribe to an address that leads inside, with so many subscriptions before."""

    def subscribe(agent: Agent, draft: str, confirm: Confirm) -> Any:
        confirm(draft)
        form_id = agent.post(f"/drafts/{draft}/publish").json["formId"]
        with agent.app.app_context():
            for _ in range(before):
                make_subscription(db.session.get_one(forms.Form, form_id))
        body = {"url": "https://localhost/", "secret": SECRET}
        return agent.post(f"/forms/{form_id}/subscriptions", json=body)

    return subscribe


def crowded(agent: Agent, draft: str, confirm: Confirm) -> Any:
    confirm(draft)
    form_id = agent.post(f"/drafts/{draft}/publish").json["formId"]
    reader = Agent(agent.app, agent.post(f"/forms/{form_id}/agent-tokens", json={}).json["token"])
    full = {LEAVE_CONNECTION: lambda _stream: False}
    return reader.get(f"/agent/asks/{form_id}/stream", environ_overrides=full)


def beyond(agent: Agent, draft: str, confirm: Confirm) -> Any:
    """Ask for bytes after the end of a recording."""
    confirm(draft)
    form_id = agent.post(f"/drafts/{draft}/publish").json["formId"]
    with agent.app.app_context():
        recording = make_stored_answer(db.session.get_one(forms.Form, form_id), "k" * 32)
        path = f"/forms/{form_id}/attachments/{recording.id}"
    return agent.get(path, headers={"Range": "bytes=999999-"})


def posted(**request: Any) -> Provoke:
    return lambda agent, _draft, _confirm: agent.post("/drafts", **request)


def called(method: str, path: str) -> Provoke:
    return lambda agent, draft, _confirm: agent.call(method, path.format(draft=draft))


PROVOKED: dict[str, Provoke] = {
    "invalid_json": posted(data=b'{"title": "\n', content_type=JSON),
    "validation_failed": posted(json={"title": "x" * 134}),
    "unknown_field": posted(json={"colour": "red"}),
    "context_required": posted(json={"followUpMode": "smart"}),
    "invalid_since": called("GET", "/forms/x/responses?since=yesterday"),
    "invalid_text": posted(json={"title": "One line\nmore"}),
    "payload_too_large": posted(data=b"x" * 300_000, content_type=JSON),
    "idempotency_key_reused": reused,
    "authentication_required": nobody,
    "draft_not_found": called("GET", "/drafts/x"),
    "form_not_found": called("GET", "/forms/x"),
    "not_found": called("GET", "/nothing"),
    "method_not_allowed": called("PUT", "/forms"),
    "draft_not_confirmed": called("POST", "/drafts/{draft}/publish"),
    "confirmation_stale": stale,
    "draft_incomplete": incomplete,
    "draft_already_published": published,
    "revision_conflict": outdated,
    "range_not_satisfiable": beyond,
    "rate_limited": limited,
    "callback_failed": subscribed(before=0),
    "too_many_subscriptions": subscribed(before=100),
    "too_many_streams": crowded,
    "internal_error": called("GET", "/forms/broken"),
    "storage_unavailable": called("GET", "/forms/away"),
}


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two forms that cannot be read."""
    found = forms.get_form

    def get_form(account_id: str, form_id: str) -> Any:
        if form_id == "broken":
            raise RuntimeError
        if form_id == "away":
            raise OperationalError("", {}, Exception())
        return found(account_id, form_id)

    monkeypatch.setattr(forms, "get_form", get_form)


@pytest.mark.usefixtures("faults")
@pytest.mark.parametrize("code", OF_REST)
def test_refusals_equal_their_examples(
    code: str, agent: Agent, draft_id: str, confirm: Confirm, described: Any
) -> None:
    answer = PROVOKED[code](agent, draft_id, confirm)

    shown = described["components"]["examples"][code]["value"]
    assert without_what_changes(answer.json) == without_what_changes(shown)

"""The examples of the OpenAPI document against its schemas and against the running server."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.openapi.document import document
from api.openapi.operations import EXTENSIONS, OPERATIONS
from tests.api.conftest import Agent, Confirm
from tests.described import validator
from webapp.answers import answering
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.drafts.confirmations import return_draft
from webapp.drafts.editing import update_draft
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
    """Ids, links, moments and waits replaced, wherever they stand."""
    if isinstance(body, dict) and "cursor" in body:
        body = body | {"cursor": "*"}
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


def test_examples_are_within_their_schemas(described: Any) -> None:
    found = contents(described)

    assert len(found) > 30
    for schema, bodies in found:
        assert bodies
        for body in bodies:
            validator(schema).validate(body)
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
    other = agent.post("/drafts", json=sent(described, "/drafts", "post")).json["draftId"]
    body = sent(described, "/drafts/{draftId}", "patch")
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
        "updateServiceDraft": agent.patch(f"/drafts/{other}", json=body),
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


REFUSED: list[tuple[str, str, str, dict[str, Any]]] = [
    ("validation_failed", "POST", "/drafts", {"json": {"title": "x" * 134}}),
    ("unknown_field", "POST", "/drafts", {"json": {"colour": "red"}}),
    ("invalid_text", "POST", "/drafts", {"json": {"title": "One line\nmore"}}),
    ("context_required", "POST", "/drafts", {"json": {"followUpMode": "smart"}}),
    ("payload_too_large", "POST", "/drafts", {"data": b"x" * 300_000, "content_type": JSON}),
    ("invalid_json", "POST", "/drafts", {"data": b'{"title":  x}', "content_type": JSON}),
    ("invalid_since", "GET", "/forms/x/responses?since=yesterday", {}),
    ("draft_not_found", "GET", "/drafts/x", {}),
    ("form_not_found", "GET", "/forms/x", {}),
    ("method_not_allowed", "PUT", "/drafts", {}),
]


def test_refusals_equal_the_examples(agent: Agent, described: Any) -> None:
    for code, method, path, request in REFUSED:
        answer = agent.call(method, path, **request)
        assert answer.json == described["components"]["examples"][code]["value"]

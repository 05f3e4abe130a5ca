"""No response to a respondent contains goal or private context, in any state of a form."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask, request
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.factories import make_form, make_response
from tests.pages.respondent_client import Respondent, arrive, close, storage_away
from webapp.records.accounts.models import Account

CANARIES = tuple(b"CANARY-CONTEXT CANARY-GOAL @example.com frm_ drf_ acc_ ses_ ans_".split())
BLUEPRINTS = ("respond", "elsewhere", "follow_ups", "voice")


class Overheard(FlaskClient):
    """Keeps every byte that was answered, headers included, and the endpoints that answered."""

    heard: list[bytes]
    endpoints: set[str]

    def open(self, *arguments: Any, **named: Any) -> TestResponse:
        response = super().open(*arguments, **named)
        for answer in (*response.history, response):
            self.heard.append(str(answer.headers).encode() + answer.data)
        return response


@pytest.fixture
def client(app: Flask) -> Iterator[Overheard]:
    client = Overheard(app, app.response_class)
    client.heard, client.endpoints = [], set()

    def note() -> None:
        client.endpoints.add(request.endpoint or "")

    for blueprint in BLUEPRINTS:
        app.before_request_funcs.setdefault(blueprint, []).append(note)
    yield client
    for blueprint in BLUEPRINTS:
        app.before_request_funcs[blueprint].remove(note)


def secretive(app: Flask, account: Account, **changed: Any) -> Any:
    with app.app_context():
        return make_form(
            account.id,
            context="CANARY-CONTEXT: what only the creator knows",
            goal="CANARY-GOAL: what the creator is after",
            followUpMode="smart",
            questions=[{"text": "Who?", "context": "First names do."}, "What?"],
            **changed,
        )


def whole_way(respondent: Respondent) -> None:
    """Through every page of a form that is open, with its refusals."""
    respondent.open()
    respondent.answer(1, "")
    respondent.answer(1, "x" * 20_001)
    respondent.post("/check", name="Sam")
    before = respondent.open()
    respondent.answer(1, "Me")
    respondent.page, after = before, respondent.page
    respondent.answer(1, "Somebody else")
    respondent.page = after
    for path in ("/q/1/next", "/q/1/open", "/resume"):
        respondent.post(path)
    go_on_elsewhere(respondent)
    respondent.post("/q/2/skip")
    respondent.post("/check/open")
    for name in ("n" * 81, "Sam"):
        respondent.post("/check", name=name)
    for path in ("", "/", "/q/1", "/q/9", "/check", "/done", "/sent", f"/picture/{64 * '0'}"):
        respondent.open(path)
    for path in ("/sent", "/done/open"):
        respondent.post(path)
    respondent.page = before
    respondent.answer(1, "Too late")
    respondent.post("/another")
    respondent.answer(2, "It")
    for path in ("/q/1", "/check", "/recordings/att_1"):
        respondent.open(path)
    voice = ("/begin-recording", "/q/1/recording", "/q/1/transcript", "/recordings/att_1")
    for path in ("/q/9", *voice, "/withdraw", "/withdraw/now"):
        respondent.post(path, foreign="field")


def go_on_elsewhere(respondent: Respondent) -> None:
    """Make a link for another device, and use it up here."""
    offer = respondent.post("/q/2/elsewhere", answer="half a sentence")
    for path in re.findall(r'value="[^"]*(/continue/[^"]*)"', offer.text):
        respondent.open(path)
        respondent.post("/continue")
        respondent.open(path)
    respondent.open("/continue")


def closed_way(respondent: Respondent) -> None:
    """Every route of a form that takes no answers."""
    for path in ("", "/q/1", "/check", "/done", "/sent"):
        respondent.open(path)
    sent = {"session": "k" * 32, "answer_key": "k" * 32, "answer": "Me"}
    for path in ("/q/1", "/q/1/skip", "/q/1/open", "/check", "/check/open", "/sent", "/another"):
        respondent.client.post(f"/r/{respondent.share_token}{path}", data=sent)


@pytest.mark.parametrize("headers", [{}, {"HTTP_HX_REQUEST": "true"}])
@pytest.mark.parametrize(
    ("way", "state"), [(whole_way, "open"), (closed_way, "closed"), (closed_way, "full")]
)
def test_no_response_contains_goal_or_private_context(
    app: Flask,
    account: Account,
    client: Overheard,
    way: Callable[[Respondent], None],
    headers: dict[str, str],
    state: str,
) -> None:
    form = secretive(app, account, responseLimit="one" if state == "full" else "multiple")
    if state == "closed":
        close(app, form)
    if state == "full":
        with app.app_context():
            make_response(form)
    client.environ_base |= headers

    way(arrive(client, form))
    with storage_away(app):
        client.get(f"/r/{form.share_token}")
        client.post(
            f"/r/{form.share_token}/q/1",
            data={"session": "k" * 32, "answer_key": "k" * 32, "answer": "Me"},
        )

    assert len(client.heard) > 10
    assert b"Who?" in b"".join(client.heard) or state != "open"
    assert [secret for secret in CANARIES if secret in b"".join(client.heard)] == []


def test_the_example_visit_requests_every_route(
    app: Flask, account: Account, client: Overheard
) -> None:
    whole_way(arrive(client, secretive(app, account)))

    routes = {rule.endpoint for rule in app.url_map.iter_rules() if rule.rule.startswith("/r/")}
    assert client.endpoints == routes

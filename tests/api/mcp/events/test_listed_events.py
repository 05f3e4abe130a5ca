"""What may be subscribed to, and that nothing speaks of it where events are off."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.api.mcp.conftest import Host, Hosted
from tests.api.mcp.events.subscribing import EVENT, asked, held
from webapp.base.vocabulary import Scope

METHODS = ("events/list", "events/poll", "events/subscribe", "events/unsubscribe")


def listed(host: Host) -> dict[str, Any]:
    (found,) = host.result("events/list")["events"]
    assert isinstance(found, dict)
    return found


def test_arguments_are_closed_and_the_payload_stays_open(host: Host) -> None:
    event = listed(host)
    assert event.keys() == {"name", "description", "delivery", "inputSchema", "payloadSchema"}
    assert (event["name"], event["delivery"]) == (EVENT, ["webhook", "poll"])
    second, stream = host.send("events/list", {"cursor": "2"}), host.send("events/stream", {})
    assert [each.json["error"]["code"] for each in (second, stream)] == [-32602, -32601]
    arguments = Draft202012Validator(event["inputSchema"])
    payload = Draft202012Validator(event["payloadSchema"])
    sent = {"formId": "frm_1", "responseId": "ses_1", "submittedAt": "2026-11-21T12:04:00Z"}

    assert arguments.is_valid({"formId": "frm_1"})
    assert not arguments.is_valid({"formId": "frm_1", "more": 1})
    assert not arguments.is_valid({})
    assert event["payloadSchema"]["required"] == ["formId", "responseId", "submittedAt"]
    assert payload.is_valid(sent)
    assert payload.is_valid(sent | {"answerCount": 2, "later": True})
    assert not payload.is_valid(sent | {"answerCount": "2"})


@pytest.mark.parametrize("method", METHODS)
def test_the_scope_responses_read_is_asked_for(
    hosted: Hosted, account: Any, form: Any, version: str, method: str
) -> None:
    refused = hosted(account.id, [Scope.FORMS_READ], version).send(method, asked(form))

    assert refused.status_code == 403
    challenge = refused.headers["WWW-Authenticate"]
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="forms:read responses:read"' in challenge


@pytest.mark.settings(mcp_events_enabled=False)
def test_where_events_are_off_there_are_no_methods(host: Host, form: Any) -> None:
    parameters = ({}, held(form), asked(form), held(form))
    answers = [host.send(*call) for call in zip(METHODS, parameters, strict=True)]

    assert [answer.get_json()["error"]["code"] for answer in answers] == [-32601] * 4
    assert {answer.status_code for answer in answers} == {404 if host.is_modern else 200}

"""What may be subscribed to, and that nothing speaks of it where events are off."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.api.mcp.conftest import Host, Hosted
from tests.api.mcp.events.subscribing import EVENT, asked, held
from webapp.base.vocabulary import Scope

EXTENSION = "io.modelcontextprotocol/events"
METHODS = ("events/list", "events/poll", "events/subscribe", "events/unsubscribe")


def listed(host: Host) -> dict[str, Any]:
    (found,) = host.result("events/list")["events"]
    assert isinstance(found, dict)
    return found


def test_one_event_is_listed_by_webhook_and_by_poll(host: Host) -> None:
    found = host.result("events/list")

    assert found.keys() - {"resultType", "_meta"} == {"events"}
    event = listed(host)
    assert event.keys() == {"name", "description", "delivery", "inputSchema", "payloadSchema"}
    assert (event["name"], event["delivery"]) == (EVENT, ["webhook", "poll"])


def test_arguments_are_closed_and_the_payload_stays_open(host: Host) -> None:
    event = listed(host)
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


def test_there_is_no_second_page(host: Host) -> None:
    body = host.send("events/list", {"cursor": "2"}).get_json()

    assert body["error"]["code"] == -32602


def test_both_capabilities_are_advertised(hosted: Hosted, account: Any, version: str) -> None:
    host = hosted(account.id, version=version)
    found = host.result("server/discover" if host.is_modern else "initialize")

    assert found["capabilities"]["events"] == {}
    assert found["capabilities"]["extensions"] == {EXTENSION: {}}


def test_there_is_no_stream(host: Host) -> None:
    answer = host.send("events/stream", {})

    assert answer.get_json()["error"]["code"] == -32601
    assert answer.status_code == (404 if host.is_modern else 200)


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


@pytest.mark.settings(mcp_events_enabled=False)
def test_where_events_are_off_nothing_speaks_of_them(
    hosted: Hosted, account: Any, version: str
) -> None:
    host = hosted(account.id, version=version)
    found = host.result("server/discover" if host.is_modern else "initialize")

    assert found["capabilities"] == {"tools": {}}
    for told in (found["instructions"], str(host.result("tools/list")["tools"])):
        for word in ("event", "subscri", "webhook"):
            assert word not in told.lower()

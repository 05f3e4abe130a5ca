"""`events/list`, and `events/poll`: hosts ask for what came after their cursor."""

from typing import Any

import pytest
from flask import Flask
from jsonschema import Draft202012Validator
from sqlalchemy import Update, select, update

from tests.api.mcp.conftest import Host
from tests.api.mcp.events.conftest import EVENT, asked, error, held, named
from tests.api.subscriptions.subscribing import count_subscriptions
from tests.factories import make_account, make_form, make_response
from tests.voice.factories import make_spoken_answer
from webapp.answers.answering import complete_response
from webapp.answers.trash import delete_form
from webapp.base.database import db, utc_now
from webapp.events.outbox import event_id_of
from webapp.records.responses.models import ResponseSession
from webapp.records.responses.recordings import Recording

TWO_MINUTES_LATER = update(ResponseSession).values(
    completed_stamp=ResponseSession.completed_stamp - 120_000
)


def parameters(form: Any, **changed: Any) -> dict[str, Any]:
    return {"name": EVENT, "arguments": {"formId": form.id}} | changed


def poll(host: Host, form: Any, **changed: Any) -> dict[str, Any]:
    found = host.result("events/poll", parameters(form, **changed))
    return {name: value for name, value in found.items() if name not in ("resultType", "_meta")}


def ids(page: dict[str, Any]) -> list[str]:
    return [event["data"]["responseId"] for event in page["events"]]


def complete(app: Flask, form: Any, count: int = 1, *, spoken: bool = False) -> list[str]:
    with app.app_context():
        before = set(db.session.scalars(select(ResponseSession.id)))
        for number in range(count):
            key = f"key of {number} after {len(before)}"
            if spoken:
                make_spoken_answer(form, key, transcriber="whisper", next_at=utc_now())
                complete_response(form.share_token, key, responder_name="", now=utc_now())
            else:
                make_response(form, key)
        order = select(ResponseSession.id).order_by(ResponseSession.completed_stamp)
        return [each for each in db.session.scalars(order) if each not in before]


def test_the_first_poll_begins_now_and_the_next_has_what_came_after_it(
    app: Flask, host: Host, form: Any
) -> None:
    complete(app, form)
    first = poll(host, form, cursor="", maxEvents="")
    (session,) = complete(app, form)
    second = poll(host, form, cursor=first["cursor"], maxAgeMs=60_000, maxEvents=None)

    assert first == {
        "events": [],
        "cursor": first["cursor"],
        "truncated": False,
        "hasMore": False,
        "nextPollMs": 5000,
    }
    (event,) = second["events"]
    moment = event["timestamp"]
    assert event == {
        "eventId": event_id_of(session),
        "name": EVENT,
        "timestamp": moment,
        "data": {
            "formId": form.id,
            "responseId": session,
            "submittedAt": moment,
            "answerCount": 1,
        },
    }
    assert (second["truncated"], second["hasMore"]) == (False, False)
    assert poll(host, form, cursor=second["cursor"])["events"] == []
    assert poll(host, form, cursor=first["cursor"])["events"] == [event]
    assert count_subscriptions(app) == 0


def test_pages_are_bounded_and_lose_nothing(app: Flask, host: Host, form: Any) -> None:
    page = poll(host, form)
    sessions = complete(app, form, 103)
    for most, start, end in ((2, 0, 2), (10**9, 2, 102), (2, 102, 103)):
        page = poll(host, form, cursor=page["cursor"], maxEvents=most)
        assert (ids(page), page["hasMore"]) == (sessions[start:end], end < 103)
    assert poll(host, form, cursor=page["cursor"])["events"] == []


def test_what_is_older_than_asked_for_is_left_out_and_said(host: Host, form: Any) -> None:
    cursor = poll(host, form)["cursor"]
    complete(host.app, form)
    with host.app.app_context():
        db.session.execute(TWO_MINUTES_LATER)
        db.session.commit()
    page = poll(host, form, cursor=cursor, maxAgeMs=60_000)

    assert (page["events"], page["truncated"]) == ([], True)
    sessions = complete(host.app, form)
    again = poll(host, form, cursor=page["cursor"], maxAgeMs=60_000)
    assert (ids(again), again["truncated"]) == (sessions, False)


@pytest.mark.parametrize("cursor", ["altered", "x" * 5000, None])
def test_a_cursor_of_no_use_is_a_gap_and_no_error(
    app: Flask, host: Host, form: Any, cursor: str | None
) -> None:
    with app.app_context():
        other = make_form(form.account_id)
    complete(app, form)
    page = poll(host, form, cursor=poll(host, other)["cursor"] if cursor is None else cursor)

    assert (page["events"], page["truncated"]) == ([], True)
    assert ids(poll(host, form, cursor=page["cursor"])) == []


@pytest.mark.parametrize(
    "then",
    [
        update(Recording).values(next_at=None),
        TWO_MINUTES_LATER,
    ],
    ids=["written down", "two minutes later"],
)
def test_an_event_waits_for_the_words_of_its_recordings(
    app: Flask, host: Host, form: Any, then: Update
) -> None:
    cursor = poll(host, form)["cursor"]
    sessions = complete(app, form) + complete(app, form, spoken=True) + complete(app, form)
    page = poll(host, form, cursor=cursor)
    again = poll(host, form, cursor=page["cursor"])
    with app.app_context():
        db.session.execute(then)
        db.session.commit()

    assert (ids(page), page["hasMore"]) == (sessions[:1], False)
    assert (ids(again), again["truncated"]) == ([], False)
    assert ids(poll(host, form, cursor=cursor)) == sessions


def test_a_form_that_is_unknown_foreign_or_deleted_is_forbidden_in_the_same_words(
    app: Flask, host: Host, form: Any
) -> None:
    cursor = poll(host, form)["cursor"]
    complete(app, form)
    with app.app_context():
        foreign = make_form(make_account(email="bo@example.com").id)
        delete_form(form.account_id, form.id, now=utc_now())
    unknown = parameters(form, arguments={"formId": "frm_unknown"})
    sent = (unknown, parameters(foreign), parameters(form), parameters(form, cursor=cursor))

    refused = [error(host, "events/poll", each) for each in sent]

    reason = refused[0]["data"]["reason"]
    assert refused == [named(host, "Forbidden", reason=reason)] * 4


METHODS = ("events/list", "events/poll", "events/subscribe", "events/unsubscribe")


def test_arguments_are_closed_and_the_payload_stays_open(host: Host) -> None:
    (event,) = host.result("events/list")["events"]
    assert event.keys() == {"name", "description", "delivery", "inputSchema", "payloadSchema"}
    assert (event["name"], event["delivery"]) == (EVENT, ["webhook", "poll"])
    second, stream = host.send("events/list", {"cursor": "2"}), host.send("events/stream", {})
    assert [each.json["error"]["code"] for each in (second, stream)] == [-32602, -32601]
    arguments = Draft202012Validator(event["inputSchema"])
    assert arguments.is_valid({"formId": "frm_1"})
    assert not arguments.is_valid({"formId": "frm_1", "more": 1})
    assert event["payloadSchema"]["required"] == ["formId", "responseId", "submittedAt"]
    assert event["payloadSchema"].get("additionalProperties") is not False


@pytest.mark.settings(mcp_events_enabled=False)
def test_where_events_are_off_there_are_no_methods(host: Host, form: Any) -> None:
    parameters = ({}, held(form), asked(form), held(form))
    answers = [host.send(*call) for call in zip(METHODS, parameters, strict=True)]

    assert [answer.get_json()["error"]["code"] for answer in answers] == [-32601] * 4
    assert {answer.status_code for answer in answers} == {404}

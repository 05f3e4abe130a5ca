"""Hooks of automation tools cannot send a challenge back: their creator confirms them."""

import re
import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update
from standardwebhooks import Webhook as Verifier

from tests.api.conftest import Agent, refusal
from tests.factories import make_account, make_form
from tests.jobs.conftest import Allow
from tests.jobs.test_subscribed_events import disconnected, reused
from tests.jobs.way import Way
from tests.pages.creator_client import Creator, creator
from tests.pinning import PINS
from tests.webhook_receiver import SECRET, Webhook
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.events.endings import purge_ended
from webapp.oauth.account_deletion import delete_account
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditEvent
from webapp.records.events import CallbackEndpoint

pytestmark = pytest.mark.settings(write_limits=False)

SUCCESS = b'{"attempt":"0198c0de","id":"0198c0de","request_id":"0198c0de","status":"success"}'


@pytest.fixture
def page(way: Way, account: Account) -> Creator:
    """The browser of the creator whose agent subscribes."""
    zapier(way.receiver)
    return creator(way.app, account)


def zapier(receiver: Webhook) -> None:
    """Answers the same to whatever is posted."""
    receiver.status, receiver.fixed = 200, ("application/json", SUCCESS)


def button(page: Creator, action: str = "confirm") -> str:
    """Where the button of the first address leads; "" without one."""
    found = re.search(rf'action="(/connections/addresses/\w+/{action})"', listed(page))
    return found[1] if found else ""


def press(page: Creator, action: str = "confirm") -> int:
    """The status of its button; 0 without one."""
    address = button(page, action)
    return page.post(address).status_code if address else 0


def listed(page: Creator) -> str:
    return page.page("/connections").text


def test_the_hook_of_a_tool_is_confirmed_once_and_gets_its_events(way: Way, page: Creator) -> None:
    refused = way.subscribe()
    way.complete()
    before = way.sent()

    pressed = press(page)
    granted = way.subscribe()
    way.complete()
    (event,) = way.sent()
    renewed = way.subscribe(secret="whsec_" + "Ab3d" * 10)

    assert refusal(refused) == (400, "callback_failed")
    assert f"{way.app.config['SETTINGS'].public_url}/connections#" in refused.json["resolution"]
    assert (before, pressed) == ([], 303)
    assert granted.status_code == renewed.status_code == 200
    assert event["eventId"] == way.completed()[1]
    assert way.receiver.posted == []  # no further challenge


def test_an_address_that_nobody_confirmed_gets_one_challenge_and_nothing_else(
    way: Way, page: Creator
) -> None:
    answers = []
    for _ in range(5):
        answers.append(refusal(way.subscribe()))
        way.complete()
        way.deliverer.work()

    assert answers == [(400, "callback_failed")] * 5
    (posted,) = way.receiver.posted
    assert Verifier(SECRET).verify(posted.body, posted.headers)["type"] == "verification"
    assert way.stored() == []


def age(by: timedelta) -> None:
    """What waits was asked for so long ago."""
    aged = {"asked_at": utc_now() - by - timedelta(seconds=1)}
    db.session.execute(update(CallbackEndpoint).values(aged))
    db.session.commit()


def test_what_would_take_no_event_cannot_be_confirmed(way: Way, page: Creator) -> None:
    for status in (302, 404, 503):
        way.receiver.status = status

        assert refusal(way.subscribe()) == (400, "callback_failed")
        assert press(page) == 0


def test_it_waits_for_a_week_and_is_forgotten_then(way: Way, page: Creator) -> None:
    way.subscribe()
    way.run(age, timedelta(days=7))

    assert press(page) == 0
    way.run(lambda: list(purge_ended(utc_now() + timedelta(days=1))))
    assert way.run(db.session.scalar, select(func.count(CallbackEndpoint.id))) == 0


def test_no_more_than_twenty_wait_for_an_account(way: Way, page: Creator) -> None:
    answers = [way.subscribe(url=f"{way.receiver.origin}/{n}").json for n in range(22)]

    offered = ["20 other addresses wait" not in answer["resolution"] for answer in answers]
    assert offered == [True] * 20 + [False] * 2
    assert listed(page).count("Confirm this address") == 20
    press(page, "remove")
    again = way.subscribe(url=f"{way.receiver.origin}/21").json
    assert "20 other" not in again["resolution"]


def test_no_agent_confirms(way: Way, page: Creator) -> None:
    """Neither with a token nor without the token of a page."""
    way.subscribe()
    confirm = button(page)
    token = {"Authorization": f"Bearer {way.agent.token}"}
    client = way.app.test_client()

    answers = [
        client.post(confirm, headers=token),
        client.post(f"/api{confirm}", headers=token),
        page.client.post(confirm, base_url="http://127.0.0.1:8000"),
        page.client.get(confirm, base_url="http://127.0.0.1:8000"),
    ]

    assert [answer.status_code for answer in answers] == [400, 404, 400, 405]
    assert refusal(way.subscribe()) == (400, "callback_failed")


def test_another_account_neither_sees_nor_confirms_nor_uses_it(
    way: Way, page: Creator, settings: Settings
) -> None:
    way.subscribe()
    confirm = button(page)
    stranger = way.run(make_account, email="bo@example.com")
    with way.app.app_context():
        form = make_form(stranger.id)
        token = issue_token(stranger.id, [Scope.RESPONSES_READ], settings.api_url, now=utc_now())
    bo = creator(way.app, stranger)
    body = {"url": f"{way.receiver.origin}/hook", "secret": SECRET}

    assert way.receiver.origin not in listed(bo)
    assert bo.post(confirm).status_code == 404
    press(page)
    theirs = Agent(way.app, token).post(f"/forms/{form.id}/subscriptions", json=body)
    bo.post(confirm.replace("confirm", "remove"))
    assert refusal(theirs) == (400, "callback_failed")
    assert way.subscribe().status_code == 200


def test_the_confirmation_is_for_exactly_this_address(way: Way, page: Creator) -> None:
    way.subscribe()
    press(page)

    for other in ("/hook?", "/Hook"):
        answer = way.subscribe(url=way.receiver.origin + other)
        assert refusal(answer) == (400, "callback_failed")


def test_hosts_of_mcp_keep_the_challenge(way: Way, page: Creator, settings: Settings) -> None:
    way.subscribe()
    press(page)
    with way.app.app_context():
        scopes = [Scope.RESPONSES_READ]
        token = issue_token(way.form.account_id, scopes, settings.mcp_url, now=utc_now())
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "events/subscribe",
        "params": {
            "name": "response.submitted",
            "arguments": {"formId": way.form.id},
            "delivery": {"url": f"{way.receiver.origin}/hook", "secret": SECRET},
        },
    }
    headers = {"Authorization": f"Bearer {token}", "MCP-Protocol-Version": "2025-11-25"}

    answer = way.app.test_client().post("/mcp/app", json=call, headers=headers).get_json()

    assert answer["error"]["data"] == {"reason": "challenge_failed"}
    assert len(way.receiver.posted) == 2


def test_removing_it_ends_what_is_sent_there_at_once(way: Way, page: Creator) -> None:
    way.subscribe()
    press(page)
    way.subscribe()
    way.complete()

    assert press(page, "remove") == 303

    assert way.sent() == []
    (ended,) = way.stored()
    assert (ended.url, ended.secret) == (None, None)
    assert way.receiver.origin not in listed(page)
    assert refusal(way.subscribe()) == (400, "callback_failed")
    trail = select(AuditEvent.kind, AuditEvent.actor).order_by(AuditEvent.id)
    trail = trail.where(AuditEvent.kind.startswith("callback_"), AuditEvent.subject == way.form.id)
    assert way.run(lambda: db.session.execute(trail).all()) == [
        ("callback_confirmed", "creator"),
        ("callback_removed", "creator"),
    ]


def erased(way: Way) -> None:
    delete_account(way.form.account_id, now=utc_now())


@pytest.mark.parametrize("end", [disconnected, reused, erased])
def test_it_goes_with_the_connection_and_with_the_account(
    way: Way, page: Creator, end: Callable[[Way], None]
) -> None:
    way.subscribe()
    press(page)

    way.run(end, way)

    kept = select(CallbackEndpoint.url, CallbackEndpoint.confirmed_at, CallbackEndpoint.asked_at)
    assert way.run(lambda: db.session.execute(kept).all()) in ([], [(None, None, None)])


def test_the_allowlist_holds_when_it_is_confirmed_and_afterwards(
    way: Way, page: Creator, allow: Allow
) -> None:
    way.subscribe()
    allow()
    refused = press(page)
    allow(way.receiver.origin)
    press(page)
    way.subscribe()
    asked = len(way.receiver.posted)
    allow()
    way.complete()
    way.deliverer.work()

    assert refused == 422
    assert refusal(way.subscribe()) == (400, "validation_failed")
    assert len(way.receiver.posted) == asked


@pytest.mark.usefixtures("hook_pinned")
def test_a_confirmed_name_that_leads_inside_gets_nothing(
    way: Way, page: Creator, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "https://hooks.example.com/hook"
    way.subscribe(url=url)
    press(page)
    PINS.clear()
    inside = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: inside)
    tried: list[Any] = []
    monkeypatch.setattr(socket, "create_connection", lambda *given, **_: tried.append(given))

    assert way.subscribe(url=url).status_code == 200
    way.complete()
    way.deliverer.work()

    assert tried == []
    (stored,) = way.stored()
    assert stored.last_failure == "connection_refused"


@pytest.fixture
def hook_pinned(hook: Webhook) -> None:
    """The name of the receiver over TLS, which answers as a tool does."""
    zapier(hook)

"""The door for agents without MCP: they bring an address and a secret."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, update
from standardwebhooks import Webhook as Verifier

from tests.api.conftest import Agent, Connect, refusal
from tests.api.subscriptions.subscribing import lives_for, path, subscribe
from tests.event_factories import make_subscription
from tests.factories import make_account, make_form, make_response
from tests.webhook_receiver import HOST, SECRET, Webhook
from webapp.answers.trash import delete_form
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import DeliveryFailure
from webapp.oauth.models import OAuthGrant
from webapp.records.audit import AuditEvent
from webapp.records.events import EventDelivery, EventSubscription
from webapp.records.responses.models import ResponseSession


def test_subscribing_verifies_the_address_and_grants_a_day(
    agent: Agent, form: Any, hook: Webhook
) -> None:
    answer = subscribe(agent, form)

    assert answer.status_code == 200
    assert answer.json.keys() == {"subscriptionId", "refreshBefore", "cursor", "truncated"}
    assert lives_for(answer) == pytest.approx(86_400, abs=10)
    assert answer.json["truncated"] is False
    (posted,) = hook.posted
    assert posted.target == "/askback?flow=7"
    assert posted.headers["host"] == HOST
    assert posted.headers["x-mcp-subscription-id"] == answer.json["subscriptionId"]
    assert Verifier(SECRET).verify(posted.body, posted.headers)["type"] == "verification"


def test_the_same_call_renews_without_another_challenge(
    app: Flask, agent: Agent, form: Any, hook: Webhook
) -> None:
    first, second = subscribe(agent, form), subscribe(agent, form, ttlSeconds=600)

    assert first.json["subscriptionId"] == second.json["subscriptionId"]
    assert lives_for(second) == pytest.approx(600, abs=10)
    assert len(hook.posted) == 1
    with app.app_context():
        kept = db.session.scalars(select(EventSubscription)).one()
        assert kept.secret is not None
        assert SECRET[6:] not in kept.secret
        assert kept.secret.startswith("k1:")
    other = subscribe(agent, form, url=f"https://{HOST}/askback?flow=8").json["subscriptionId"]
    assert other != second.json["subscriptionId"]
    assert len(agent.get(path(form)).json["subscriptions"]) == 2


@pytest.mark.parametrize(
    ("sent", "granted"), [(1, 300), (300, 300), (3600.0, 3600), (10**9, 604_800), (None, 86_400)]
)
def test_the_life_stays_within_its_bounds(
    agent: Agent, form: Any, hook: Webhook, sent: float | None, granted: int
) -> None:
    assert lives_for(subscribe(agent, form, ttlSeconds=sent)) == pytest.approx(granted, abs=10)


def test_it_never_outlives_the_connection(
    app: Flask, agent: Agent, form: Any, hook: Webhook
) -> None:
    with app.app_context():
        ends = utc_now() + timedelta(minutes=7)
        db.session.execute(update(OAuthGrant).values(expires_at=ends))
        db.session.commit()

    assert lives_for(subscribe(agent, form)) == pytest.approx(420, abs=10)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"url": "http://hooks.example.com/"}, "url"),
        ({"url": "https://127.0.0.1/"}, "url"),
        ({"url": "https://hooks.example.com/" + "x" * 2048}, "url"),
        ({"url": 7}, "url"),
        ({"url": None}, "url"),
        ({"secret": "whsec_c2hvcnQ="}, "secret"),
        ({"secret": "hunter2hunter2hunter2hunter2hunter2"}, "secret"),
        ({"secret": None}, "secret"),
        ({"ttlSeconds": 0}, "ttlSeconds"),
        ({"ttlSeconds": 1.5}, "ttlSeconds"),
        ({"ttlSeconds": True}, "ttlSeconds"),
        ({"maxAgeSeconds": -1}, "maxAgeSeconds"),
        ({"maxAgeSeconds": False}, "maxAgeSeconds"),
        ({"cursor": 7}, "cursor"),
    ],
)
def test_bad_input_is_refused_by_its_field_and_asks_nobody(
    agent: Agent, form: Any, hook: Webhook, changed: dict[str, Any], field: str
) -> None:
    answer = subscribe(agent, form, **changed)

    assert refusal(answer) == (400, "validation_failed")
    assert answer.json["message"].startswith(f"{field}: ")
    assert "hunter2" not in answer.text
    assert hook.posted == []


def test_the_list_tells_host_and_state_but_neither_address_nor_secret(
    app: Flask, agent: Agent, form: Any, hook: Webhook
) -> None:
    granted = subscribe(agent, form).json
    with app.app_context():
        failed = {"last_failure": DeliveryFailure.HTTP_5XX, "suspended_at": utc_now()}
        db.session.execute(update(EventSubscription).values(**failed))
        db.session.commit()

    answer = agent.get(path(form))

    assert answer.json["subscriptions"] == [
        {
            "subscriptionId": granted["subscriptionId"],
            "host": f"{HOST}:443",
            "active": False,
            "lastDeliveryAt": None,
            "lastError": "http_5xx",
            "refreshBefore": granted["refreshBefore"],
        }
    ]
    assert "flow=7" not in answer.text


def test_unsubscribing_ends_it_and_succeeds_again(agent: Agent, form: Any, hook: Webhook) -> None:
    address = f"{path(form)}/{subscribe(agent, form).json['subscriptionId']}"

    answers = [agent.call("DELETE", address) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [204, 204]
    assert {answer.headers["Cache-Control"] for answer in answers} == {"private, no-store"}
    assert agent.get(path(form)).json == {"subscriptions": []}


@pytest.mark.parametrize(("seconds", "sent"), [(60, 1), (20, 0)])
def test_nothing_older_than_the_age_in_seconds_is_sent(
    app: Flask, agent: Agent, form: Any, hook: Webhook, seconds: int, sent: int
) -> None:
    before = subscribe(agent, form).json
    agent.call("DELETE", f"{path(form)}/{before['subscriptionId']}")
    with app.app_context():
        make_response(form)
        earlier = ResponseSession.completed_stamp - 30_000
        db.session.execute(update(ResponseSession).values(completed_stamp=earlier))
        db.session.commit()

    again = subscribe(agent, form, cursor=before["cursor"], maxAgeSeconds=seconds).json

    assert again["truncated"] is not bool(sent)
    with app.app_context():
        assert db.session.scalar(select(func.count(EventDelivery.id))) == sent


def test_the_audit_trail_says_who_subscribed_and_unsubscribed(
    app: Flask, agent: Agent, form: Any, hook: Webhook
) -> None:
    for _ in range(2):
        key = subscribe(agent, form).json["subscriptionId"]
    for _ in range(2):
        agent.call("DELETE", f"{path(form)}/{key}")
    subscribe(agent, form)

    with app.app_context():
        of_form = select(AuditEvent).where(AuditEvent.subject == form.id)
        events = db.session.scalars(of_form.where(AuditEvent.kind.endswith("subscribed"))).all()
    assert Counter(event.kind for event in events) == {"subscribed": 2, "unsubscribed": 1}
    told = {(event.actor, event.client_name, event.address) for event in events}
    assert told == {("agent", "Askback command line", "127.0.0.1")}


def test_another_accounts_form_and_subscription_are_not_found(
    app: Flask, connect: Connect, agent: Agent, form: Any, hook: Webhook
) -> None:
    with app.app_context():
        stranger = make_account(email="bo@example.com")
        own = make_form(stranger.id)
    bo = connect(stranger.id)
    known = subscribe(agent, form).json["subscriptionId"]
    asked = len(hook.posted)

    answers = [subscribe(bo, form), bo.get(path(form)), bo.call("DELETE", f"{path(form)}/{known}")]
    elsewhere = bo.call("DELETE", f"{path(own)}/{known}")

    assert [refusal(answer) for answer in answers] == [(404, "form_not_found")] * 3
    assert elsewhere.status_code == 204
    assert len(agent.get(path(form)).json["subscriptions"]) == 1
    assert len(hook.posted) == asked
    theirs = subscribe(bo, own).json["subscriptionId"]  # of the same address
    assert theirs != known
    assert len(hook.posted) == asked + 1
    with app.app_context():
        delete_form(form.account_id, form.id, now=utc_now())
    for answer in (subscribe(agent, form), agent.get(path(form))):
        assert refusal(answer) == (404, "form_not_found")


def test_the_hundred_and_first_is_refused_before_it_is_asked(
    app: Flask, agent: Agent, form: Any, hook: Webhook
) -> None:
    subscribe(agent, form)
    with app.app_context():
        for _ in range(99):
            make_subscription(form)

    answer = subscribe(agent, form, url=f"https://{HOST}/more")

    assert refusal(answer) == (409, "too_many_subscriptions")
    assert "Link" not in answer.headers
    assert len(hook.posted) == 1
    assert subscribe(agent, form).status_code == 200


@pytest.mark.settings(mcp_events_enabled=False)
def test_without_events_there_is_nothing_here(agent: Agent, form: Any) -> None:
    answers = [
        subscribe(agent, form),
        agent.get(path(form)),
        agent.call("DELETE", f"{path(form)}/sub_1"),
    ]

    assert [refusal(answer) for answer in answers] == [(404, "not_found")] * 3

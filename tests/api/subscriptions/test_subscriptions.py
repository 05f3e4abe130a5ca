"""Subscribing by REST with an address and a secret; the address is asked before it is sent to."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from standardwebhooks import Webhook as Verifier
from werkzeug.test import TestResponse

from api import subscriptions as routes
from tests.api.conftest import Agent, Connect, refusal
from tests.api.subscriptions.subscribing import count_subscriptions, path, subscribe
from tests.databases import both_databases
from tests.event_factories import make_subscription
from tests.factories import make_account, make_form, make_response
from tests.pages.respondent_client import set_columns
from tests.services import wait_until
from tests.webhook_receiver import HOST, SECRET, URL, Webhook
from webapp.answers.trash import delete_form
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import DeliveryFailure
from webapp.events import callbacks
from webapp.oauth.models import OAuthGrant
from webapp.records.audit import AuditEvent
from webapp.records.events import CallbackEndpoint, EventDelivery, EventSubscription
from webapp.records.responses.models import ResponseSession

pytestmark = pytest.mark.usefixtures("hook")


def lives_for(answer: TestResponse) -> float:
    ends = datetime.fromisoformat(answer.json["refreshBefore"])
    return (ends - utc_now()).total_seconds()


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


@pytest.mark.parametrize(
    ("sent", "granted"), [(1, 300), (3600.0, 3600), (10**9, 604_800), (None, 86_400)]
)
def test_the_life_stays_within_its_bounds(
    agent: Agent, form: Any, sent: float | None, granted: int
) -> None:
    assert lives_for(subscribe(agent, form, ttlSeconds=sent)) == pytest.approx(granted, abs=10)


def test_it_never_outlives_the_connection(agent: Agent, form: Any) -> None:
    set_columns(agent.app, OAuthGrant, expires_at=utc_now() + timedelta(minutes=7))

    assert lives_for(subscribe(agent, form)) == pytest.approx(420, abs=10)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"url": "http://hooks.example.com/"}, "url"),
        ({"url": "https://127.0.0.1/"}, "url"),
        ({"secret": "hunter2hunter2hunter2hunter2hunter2"}, "secret"),
        ({"ttlSeconds": 0}, "ttlSeconds"),
        ({"maxAgeSeconds": -1}, "maxAgeSeconds"),
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
    app: Flask, agent: Agent, form: Any
) -> None:
    granted = subscribe(agent, form).json
    failed = {"last_failure": DeliveryFailure.HTTP_5XX, "suspended_at": utc_now()}
    set_columns(app, EventSubscription, **failed)

    (listed,) = agent.get(path(form)).json["subscriptions"]

    assert (listed["host"], listed["active"]) == (f"{HOST}:443", False)
    assert (listed["lastDeliveryAt"], listed["lastError"]) == (None, "http_5xx")
    assert listed["refreshBefore"] == granted["refreshBefore"]
    assert "flow=7" not in str(listed)


@pytest.mark.parametrize(("seconds", "sent"), [(60, 1), (20, 0)])
def test_nothing_older_than_the_age_in_seconds_is_sent(
    app: Flask, agent: Agent, form: Any, seconds: int, sent: int
) -> None:
    before = subscribe(agent, form).json
    agent.call("DELETE", f"{path(form)}/{before['subscriptionId']}")
    with app.app_context():
        make_response(form)
    set_columns(app, ResponseSession, completed_stamp=ResponseSession.completed_stamp - 30_000)

    again = subscribe(agent, form, cursor=before["cursor"], maxAgeSeconds=seconds).json

    assert again["truncated"] is not bool(sent)
    with app.app_context():
        assert db.session.scalar(select(func.count(EventDelivery.id))) == sent


def test_the_audit_trail_says_who_subscribed_and_unsubscribed(agent: Agent, form: Any) -> None:
    for _ in range(2):
        key = subscribe(agent, form).json["subscriptionId"]
    for _ in range(2):
        assert agent.call("DELETE", f"{path(form)}/{key}").status_code == 204
    subscribe(agent, form)

    with agent.app.app_context():
        of_form = select(AuditEvent).where(AuditEvent.subject == form.id)
        events = db.session.scalars(of_form.where(AuditEvent.kind.endswith("subscribed"))).all()
    assert Counter(event.kind for event in events) == {"subscribed": 2, "unsubscribed": 1}
    told = {(event.actor, event.client_name, event.address) for event in events}
    assert told == {("agent", "Askback command line", "127.0.0.1")}


def test_a_subscription_is_of_one_account_and_a_deleted_form_has_none(
    app: Flask, connect: Connect, agent: Agent, form: Any, hook: Webhook
) -> None:
    with app.app_context():
        own = make_form(make_account().id)
    bo = connect(own.account_id)
    known = subscribe(agent, form).json["subscriptionId"]

    assert bo.call("DELETE", f"{path(own)}/{known}").status_code == 204
    assert len(agent.get(path(form)).json["subscriptions"]) == 1
    assert subscribe(bo, own).json["subscriptionId"] != known  # of the same address
    assert len(hook.posted) == 2
    with app.app_context():
        delete_form(form.account_id, form.id, now=utc_now())
    for answer in (agent.get(path(form)), agent.call("DELETE", f"{path(form)}/{known}")):
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


def test_an_address_is_asked_again_after_a_day(agent: Agent, form: Any, hook: Webhook) -> None:
    subscribe(agent, form)
    yesterday = utc_now() - timedelta(hours=24, seconds=1)
    set_columns(agent.app, CallbackEndpoint, verified_at=yesterday)

    subscribe(agent, form)

    assert len(hook.posted) == 2


def test_a_challenge_is_given_up_when_the_answer_is_late(
    app: Flask, agent: Agent, form: Any, hook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook.seconds = 60
    monkeypatch.setattr(routes, "CHALLENGE_SECONDS", 1)

    answer = subscribe(agent, form)

    assert refusal(answer) == (400, "callback_failed")
    assert "(timeout)" in answer.json["message"]
    assert count_subscriptions(app) == 0


def test_a_connection_that_ends_during_the_challenge_subscribes_to_nothing(
    app: Flask, agent: Agent, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def disconnect(*_arguments: object, **_options: object) -> None:
        set_columns(app, OAuthGrant, revoked_at=utc_now())

    monkeypatch.setattr(callbacks, "send_challenge", disconnect)

    answer = subscribe(agent, form)

    assert refusal(answer) == (401, "authentication_required")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
    assert count_subscriptions(app) == 0


@both_databases
def test_the_challenge_goes_out_with_no_connection_open(
    app: Flask, agent: Agent, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_connections: list[int] = []
    send = callbacks.send_challenge

    def watched(*arguments: Any, **options: Any) -> Any:
        app.extensions["deferred_writes"].settle(10)
        open_connections.append(db.engine.pool.checkedout())  # type: ignore[attr-defined]
        return send(*arguments, **options)

    monkeypatch.setattr(callbacks, "send_challenge", watched)

    assert subscribe(agent, form).status_code == 200
    assert open_connections == [0]


def test_an_account_sends_thirty_challenges_a_minute(
    agent: Agent, form: Any, hook: Webhook
) -> None:
    answers = [subscribe(agent, form, url=f"https://{HOST}/{n}") for n in range(31)]

    assert [answer.status_code for answer in answers] == [200] * 30 + [429]
    assert "challenges is 30 per minute" in answers[-1].json["message"]
    assert 0 < int(answers[-1].headers["Retry-After"]) <= 60
    assert subscribe(agent, form, url=f"https://{HOST}/1").status_code == 200  # verified already
    assert len(hook.posted) == 30


def fail(agent: Agent, form: Any, *numbers: int) -> set[tuple[int, str]]:
    return {refusal(subscribe(agent, form, url=f"https://{HOST}/{n}")) for n in numbers}


def test_a_host_fails_ten_challenges_a_minute_whosever_they_are(
    app: Flask, connect: Connect, agent: Agent, form: Any, hook: Webhook
) -> None:
    others = others_with_forms(app, connect, 3)
    verified = subscribe(agent, form)
    hook.echoes = False

    failed = fail(agent, form, *range(4)) | fail(*others[0], *range(4)) | fail(*others[1], 1, 2)
    answers = [subscribe(*other) for other in others]

    assert verified.status_code == 200
    assert failed == {(400, "callback_failed")}
    assert {refusal(answer) for answer in answers} == {(429, "rate_limited")}
    said = [answer.json["message"] for answer in answers]
    assert all("limit of failed challenges of one host is 10 per minute" in each for each in said)
    assert len(hook.posted) == 11


def test_one_account_closes_a_host_to_itself_alone(
    app: Flask, connect: Connect, agent: Agent, form: Any, hook: Webhook
) -> None:
    ((other, own),) = others_with_forms(app, connect, 1)
    hook.echoes = False

    failed = fail(agent, form, *range(4))
    refused = [subscribe(agent, form, url=f"https://{HOST}/{n}") for n in range(4, 24)]
    hook.echoes = True

    assert failed == {(400, "callback_failed")}
    assert {refusal(answer) for answer in refused} == {(429, "rate_limited")}
    assert "challenges of one host by one account is 4 per minute" in refused[0].json["message"]
    assert 0 < int(refused[0].headers["Retry-After"]) <= 60
    elsewhere = subscribe(agent, form, url="https://other.example.org/")
    assert refusal(elsewhere) == (400, "callback_failed")
    assert subscribe(other, own).status_code == 200


def others_with_forms(app: Flask, connect: Connect, number: int) -> list[tuple[Agent, Any]]:
    found = []
    for each in range(number):
        with app.app_context():
            account_id = make_account(email=f"bo{each}@example.com").id
            form = make_form(account_id)
        found.append((connect(account_id), form))
    return found


def test_slow_addresses_hold_few_threads_of_an_account(
    agent: Agent, form: Any, hook: Webhook
) -> None:
    hook.seconds, most = 60, routes.CHALLENGES_OF_ACCOUNT
    hook.released.clear()
    with ThreadPoolExecutor(most) as pool:
        for n in range(most):
            pool.submit(subscribe, agent, form, url=f"{URL}{n}")
        wait_until(lambda: len(hook.posted) == most, "challenges", seconds=20)
        answer = subscribe(agent, form)
        hook.released.set()

    assert refusal(answer) == (429, "rate_limited")
    assert answer.headers["Retry-After"] == "2"
    assert subscribe(agent, form).status_code == 200

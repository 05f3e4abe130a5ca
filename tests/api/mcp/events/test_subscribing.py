"""Subscribing by MCP: the same rows as by REST."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

import orjson
import pytest
from flask import Flask
from sqlalchemy import select, update
from standardwebhooks import Webhook as Verifier

from tests.api.conftest import Agent
from tests.api.mcp.conftest import Host, Hosted
from tests.api.mcp.events.subscribing import DECLARED, asked, held, named, subscribe
from tests.api.subscriptions.subscribing import (
    count_subscriptions,
    disconnect_while_asked,
    path,
)
from tests.api.subscriptions.subscribing import subscribe as subscribe_by_rest
from tests.databases import both_databases
from tests.domain.events.claiming import taken
from tests.event_factories import make_attempt, make_delivery
from tests.factories import make_response
from tests.races.threads import together
from tests.webhook_receiver import SECRET, Webhook
from webapp.answers.trash import delete_form, restore_form
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import DeliveryFailure, DeliveryState, ErrorProfile
from webapp.oauth.connections import disconnect_all
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditEvent
from webapp.records.events import CallbackEndpoint, EventDelivery, EventSubscription


def lives_for(granted: dict[str, Any]) -> float:
    """Seconds from here on."""
    assert granted["refreshBefore"].endswith("Z")
    return (datetime.fromisoformat(granted["refreshBefore"]) - utc_now()).total_seconds()


def missed_one(app: Flask, host: Host, form: Any) -> str:
    """The cursor of a subscription that ended before a response was completed."""
    cursor: str = subscribe(host, form)["cursor"]
    host.result("events/unsubscribe", held(form))
    with app.app_context():
        make_response(form)
    return cursor


def test_the_address_is_asked_and_a_day_is_granted(host: Host, form: Any, hook: Webhook) -> None:
    granted = subscribe(host, form)

    assert granted.keys() == {"id", "refreshBefore", "cursor", "truncated"}
    assert lives_for(granted) == pytest.approx(86_400, abs=10)
    assert granted["truncated"] is False
    (posted,) = hook.posted
    assert posted.target == "/askback?flow=7"
    assert posted.headers["x-mcp-subscription-id"] == granted["id"]
    assert Verifier(SECRET).verify(posted.body, posted.headers)["type"] == "verification"


def test_rest_and_mcp_hold_the_same_subscription(
    host: Host, agent: Agent, form: Any, hook: Webhook, app: Flask
) -> None:
    by_rest = subscribe_by_rest(agent, form).get_json()

    by_mcp = subscribe(host, form, ttlMs=600_000)

    assert by_mcp["id"] == by_rest["subscriptionId"]
    (shown,) = agent.get(path(form)).get_json()["subscriptions"]
    assert shown["refreshBefore"] == by_mcp["refreshBefore"]
    assert len(hook.posted) == 1
    again = subscribe_by_rest(agent, form, cursor=by_mcp["cursor"]).get_json()
    assert again["cursor"] == by_mcp["cursor"]
    assert host.result("events/unsubscribe", held(form)) is not None
    assert agent.get(path(form)).get_json() == {"subscriptions": []}
    assert count_subscriptions(app) == 1


@pytest.mark.parametrize(
    ("sent", "granted"),
    [(300_999, 300), (3_600_000, 3600), (10**30, 604_800), (None, 86_400)],
)
def test_the_life_stays_within_its_bounds(
    host: Host, form: Any, hook: Webhook, sent: int | None, granted: int
) -> None:
    assert lives_for(subscribe(host, form, ttlMs=sent)) == pytest.approx(granted, abs=10)


def test_the_mode_may_be_left_out_and_what_is_unknown_is_ignored(
    host: Host, form: Any, hook: Webhook
) -> None:
    params = asked(form, id="sub_mine", maxItems=3)
    del params["delivery"]["mode"]
    params["delivery"]["format"] = "json"

    assert host.result("events/subscribe", params)["id"] != "sub_mine"


@both_databases
def test_a_refresh_by_rest_keeps_the_numbers_of_the_client(
    app: Flask, agent: Agent, host: Host, form: Any, hook: Webhook
) -> None:
    subscribe(host, form)
    with app.app_context():
        before = db.session.scalars(select(EventSubscription.error_profile)).one()
    declares = host.is_modern and host.capabilities == DECLARED
    assert before is (ErrorProfile.EXTENSION if declares else ErrorProfile.PLAIN)

    refreshed = subscribe_by_rest(agent, form)

    assert refreshed.status_code == 200
    with app.app_context():
        assert db.session.scalars(select(EventSubscription.error_profile)).all() == [before]


def test_a_refresh_tells_how_it_went_and_resumes(
    app: Flask, host: Host, form: Any, hook: Webhook
) -> None:
    subscribe(host, form)
    with app.app_context():
        took = utc_now().replace(microsecond=250_000)
        fared = {
            "last_failure": DeliveryFailure.HTTP_5XX,
            "suspended_at": took,
            "last_delivery_at": took,
        }
        db.session.execute(update(EventSubscription).values(**fared))
        db.session.commit()

    first, second = subscribe(host, form), subscribe(host, form)

    told = {
        "active": False,
        "lastDeliveryAt": took.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "lastError": "http_5xx",
    }
    assert first["deliveryStatus"] == told
    assert second["deliveryStatus"] == told | {"active": True}
    assert len(hook.posted) == 1


@both_databases
def test_a_refresh_tells_since_when_it_fails_and_for_how_long_the_address_rests(
    app: Flask, host: Host, form: Any, hook: Webhook
) -> None:
    subscribe(host, form)
    with app.app_context():
        now = utc_now()
        moments = [now - timedelta(minutes=minutes) for minutes in (50, 40, 30, 20)]
        before, arrived, first, second = (at.replace(microsecond=250_000) for at in moments)
        one = db.session.scalars(select(EventSubscription)).one()
        one.last_delivery_at, one.last_failure = arrived, DeliveryFailure.HTTP_5XX
        delivery, tried = make_delivery(one, body="{}"), {"failure": DeliveryFailure.HTTP_5XX}
        for number, at in enumerate((before, first, second), 1):
            make_attempt(delivery, number=number, started_at=at, status=503, **tried)
        rests = {"failures": 2, "paused_until": now + timedelta(minutes=5)}
        db.session.execute(update(CallbackEndpoint).values(**rests))
        db.session.commit()

    told = subscribe(host, form)["deliveryStatus"]

    assert told["failedSince"] == first.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert told["throttled"] is True
    assert 290_000 < told["retryAfterMs"] <= 300_000


def test_an_address_that_has_just_answered_a_challenge_does_not_rest(
    app: Flask, host: Host, form: Any, hook: Webhook
) -> None:
    subscribe(host, form)
    with app.app_context():
        long_ago, later = utc_now() - timedelta(days=2), utc_now() + timedelta(minutes=5)
        changed = {"verified_at": long_ago, "paused_until": later, "failures": 7}
        db.session.execute(update(CallbackEndpoint).values(**changed))
        db.session.commit()

    told = subscribe(host, form)["deliveryStatus"]

    assert len(hook.posted) == 2
    assert told == {"active": True, "lastDeliveryAt": None, "lastError": None}


def test_a_connection_that_ends_during_the_challenge_subscribes_to_nothing(
    app: Flask, host: Host, form: Any, hook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    disconnect_while_asked(app, monkeypatch)

    answer = host.send("events/subscribe", asked(form))

    assert answer.status_code == 401
    assert "/.well-known/oauth-protected-resource/mcp/app" in answer.headers["WWW-Authenticate"]
    assert count_subscriptions(app) == 0


def test_a_disconnection_is_told_in_the_numbers_of_the_client(
    app: Flask, host: Host, account: Account, form: Any, hook: Webhook
) -> None:
    subscribe(host, form)
    with app.app_context():
        now = utc_now()
        disconnect_all(account.id, now=now)
        (claimed,) = taken(1, now=now)

    told = orjson.loads(claimed.body)
    assert told == {
        "type": "terminated",
        "error": named(host, "Forbidden", reason="Access revoked"),
    }


@both_databases
def test_two_calls_at_once_are_one_subscription(
    app: Flask, hosted: Hosted, account: Account, form: Any, hook: Webhook
) -> None:
    hosts = [hosted(account.id) for _ in range(2)]
    subscribe(hosts[0], form)
    hosts[0].result("events/unsubscribe", held(form))  # its address stays verified

    granted = together(app, [partial(subscribe, each, form) for each in hosts])

    assert granted[0]["id"] == granted[1]["id"]
    assert count_subscriptions(app) == 1


def test_unsubscribing_cancels_what_waits_and_is_noted(
    app: Flask, host: Host, form: Any, hook: Webhook
) -> None:
    cursor = missed_one(app, host, form)
    subscribe(host, form, cursor=cursor)

    result = host.result("events/unsubscribe", held(form))

    assert result.keys() <= {"resultType", "_meta"}
    with app.app_context():
        assert db.session.scalars(select(EventDelivery.state)).all() == [DeliveryState.CANCELLED]
        noted = select(AuditEvent.kind).where(AuditEvent.kind.endswith("subscribed"))
        assert sorted(db.session.scalars(noted)) == ["subscribed"] * 2 + ["unsubscribed"] * 2


def test_unsubscribing_ends_the_one_of_a_form_in_the_trash(
    app: Flask, host: Host, agent: Agent, account: Account, form: Any, hook: Webhook
) -> None:
    subscribe(host, form)
    with app.app_context():
        delete_form(account.id, form.id, now=utc_now())

    host.result("events/unsubscribe", held(form))

    with app.app_context():
        restore_form(account.id, form.id, now=utc_now())
    assert agent.get(path(form)).get_json() == {"subscriptions": []}

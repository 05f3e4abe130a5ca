"""Subscribing by MCP: the same rows as by REST; refusals in one order, by codes of the client."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.api.conftest import Agent
from tests.api.mcp.conftest import Host, Hosted
from tests.api.mcp.events.conftest import DECLARED, asked, error, held, named, subscribe
from tests.api.subscriptions.subscribing import (
    count_subscriptions,
    path,
    subscribe as subscribe_by_rest,
)
from tests.databases import both_databases
from tests.event_factories import make_attempt, make_delivery, make_subscription
from tests.factories import make_account
from tests.webhook_receiver import HOST, Webhook
from webapp.answers.trash import delete_form, restore_form
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import DeliveryFailure
from webapp.records.accounts.models import Account
from webapp.records.events import CallbackEndpoint, EventSubscription

pytestmark = pytest.mark.usefixtures("hook")


def test_rest_and_mcp_hold_the_same_subscription(
    host: Host, agent: Agent, form: Any, hook: Webhook, app: Flask
) -> None:
    by_rest = subscribe_by_rest(agent, form).get_json()

    by_mcp = subscribe(host, form, ttlMs=600_999)

    assert by_mcp["id"] == by_rest["subscriptionId"]
    ends = datetime.fromisoformat(by_mcp["refreshBefore"])
    assert (ends - utc_now()).total_seconds() == pytest.approx(600, abs=10)
    (shown,) = agent.get(path(form)).get_json()["subscriptions"]
    assert shown["refreshBefore"] == by_mcp["refreshBefore"]
    assert len(hook.posted) == 1
    again = subscribe_by_rest(agent, form, cursor=by_mcp["cursor"]).get_json()
    assert again["cursor"] == by_mcp["cursor"]
    assert host.result("events/unsubscribe", held(form)) is not None
    assert agent.get(path(form)).get_json() == {"subscriptions": []}
    assert count_subscriptions(app) == 1


@both_databases
def test_a_refresh_tells_how_it_went_since_when_it_fails_and_resumes(
    app: Flask, host: Host, form: Any, hook: Webhook
) -> None:
    subscribe(host, form)
    with app.app_context():
        now = utc_now()
        moments = [now - timedelta(minutes=minutes) for minutes in (50, 40, 30, 20)]
        before, arrived, first, second = (at.replace(microsecond=250_000) for at in moments)
        one = db.session.scalars(select(EventSubscription)).one()
        one.last_delivery_at = one.suspended_at = arrived
        one.last_failure = DeliveryFailure.HTTP_5XX
        delivery, tried = make_delivery(one, body="{}"), {"failure": DeliveryFailure.HTTP_5XX}
        for number, at in enumerate((before, first, second), 1):
            make_attempt(delivery, number=number, started_at=at, status=503, **tried)
        rests = {"failures": 2, "paused_until": now + timedelta(minutes=5)}
        db.session.execute(update(CallbackEndpoint).values(**rests))
        db.session.commit()

    told, then = (subscribe(host, form)["deliveryStatus"] for _ in range(2))

    assert (told["active"], then["active"], told["lastError"]) == (False, True, "http_5xx")
    assert datetime.fromisoformat(told["lastDeliveryAt"]) == arrived
    assert datetime.fromisoformat(told["failedSince"]) == first
    assert len(hook.posted) == 1
    assert told["throttled"] is True
    assert 290_000 < told["retryAfterMs"] <= 300_000


def test_unsubscribing_ends_the_one_of_a_form_in_the_trash(
    app: Flask, host: Host, agent: Agent, account: Account, form: Any
) -> None:
    subscribe(host, form)
    with app.app_context():
        delete_form(account.id, form.id, now=utc_now())

    host.result("events/unsubscribe", held(form))

    with app.app_context():
        restore_form(account.id, form.id, now=utc_now())
    assert agent.get(path(form)).get_json() == {"subscriptions": []}


METHODS = ("events/subscribe", "events/unsubscribe")
BAD_SECRET = "hunter2hunter2hunter2hunter2hunter2"
SECONDS_OF_A_MINUTE = range(1_000, 60_001, 1_000)  # in milliseconds


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["response.started", "", "Response.Submitted", "\ud800"])
def test_an_unknown_event_is_not_found(host: Host, form: Any, method: str, name: str) -> None:
    found = error(host, method, asked(form, name=name))

    assert found == named(host, "NotFound", kind="event")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mode", ["poll", "", 7, "\ud800", "x" * 9999])
def test_another_mode_is_unsupported(host: Host, form: Any, method: str, mode: object) -> None:
    found = error(host, method, asked(form, mode=mode))

    shown = mode if mode in ("poll", "push", "") else "x" * 60 if mode == "x" * 9999 else None
    assert found == named(host, "Unsupported", feature="deliveryMode", value=shown)


OF_BOTH: list[tuple[dict[str, Any], str]] = [
    ({"name": None}, "name"),
    ({"arguments": {}}, "arguments.formId"),
    ({"arguments": None}, "arguments"),
    ({"arguments": {"formId": "a\x00"}}, "arguments.formId"),
    ({"arguments": {"formId": "frm_1", "more": 1}}, "arguments.more"),
    ({"delivery": None}, "delivery"),
    ({"url": None}, "delivery.url"),
]
OF_SUBSCRIBING: list[tuple[dict[str, Any], str]] = [
    ({"url": "https://127.0.0.1/"}, "url"),
    ({"secret": BAD_SECRET}, "secret"),
    ({"secret": None}, "delivery.secret"),
    ({"ttlMs": 0}, "ttlMs"),
    ({"maxAgeMs": -1}, "maxAgeMs"),
    ({"cursor": 7}, "cursor"),
]
WRONG = [(method, *row) for method in METHODS for row in OF_BOTH]
WRONG += [(METHODS[0], *row) for row in OF_SUBSCRIBING]


@pytest.mark.parametrize(("method", "changed", "path"), WRONG)
def test_bad_parameters_are_refused_by_their_path(
    host: Host, form: Any, hook: Webhook, method: str, changed: dict[str, Any], path: str
) -> None:
    found = error(host, method, asked(form, **changed))

    assert found["code"] == -32602
    assert found["message"].startswith(f"{path}: ")
    assert "hunter2" not in str(found)
    assert hook.posted == []


def test_too_many_subscriptions_are_refused(app: Flask, host: Host, form: Any) -> None:
    with app.app_context():
        for _ in range(100):
            make_subscription(form)

    found = error(host, "events/subscribe", asked(form))

    assert found == named(host, "ResourceExhausted", limit="subscriptions", max=100)


def test_an_address_that_does_not_verify_is_refused_with_the_reason(
    app: Flask, host: Host, form: Any, hook: Webhook
) -> None:
    hook.status = 503

    found = error(host, "events/subscribe", asked(form))

    assert found == named(host, "CallbackEndpointError", reason="http_5xx")
    assert (len(hook.posted), count_subscriptions(app)) == (1, 0)
    for n in range(3):
        error(host, "events/subscribe", asked(form, url=f"https://{HOST}/{n}"))
    limited = error(host, "events/subscribe", asked(form))
    assert limited["data"].pop("retryAfterMs") in SECONDS_OF_A_MINUTE
    assert limited == named(host, "ResourceExhausted", limit="verification_rate")


@pytest.mark.settings(limit_subscribe="3/minute")
def test_both_doors_count_together(host: Host, agent: Agent, form: Any) -> None:
    assert subscribe_by_rest(agent, form).status_code == 200
    subscribe(host, form)
    error(host, "events/subscribe", {})  # a refusal counts

    found = error(host, "events/subscribe", asked(form))

    assert found["data"].pop("retryAfterMs") in SECONDS_OF_A_MINUTE
    assert found == named(host, "ResourceExhausted", limit="subscribe_rate", max=3)
    assert subscribe_by_rest(agent, form).status_code == 429


def test_only_clients_with_the_extension_hear_what_is_not_held(
    app: Flask, host: Host, hosted: Hosted, form: Any
) -> None:
    with app.app_context():
        stranger = make_account(email="bo@example.com")
    subscribe(host, form)
    unknown = held(form) | {"arguments": {"formId": "frm_unknown"}}
    never = held(form, url="not an address")
    foreign = hosted(stranger.id)
    foreign.capabilities = host.capabilities

    for one, params in ((host, unknown), (host, never), (foreign, held(form))):
        if host.capabilities == DECLARED:
            found = error(one, "events/unsubscribe", params)
            assert found == named(host, "NotFound", kind="subscription")
        else:
            assert one.result("events/unsubscribe", params).keys() <= {"resultType", "_meta"}
    assert "deliveryStatus" in subscribe(host, form)

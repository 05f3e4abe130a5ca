"""What is wrong with a subscription is refused in one order, by codes that its client knows."""

from typing import Any

import pytest
from flask import Flask

from tests.api.conftest import Agent
from tests.api.mcp.conftest import Host, Hosted
from tests.api.mcp.events.subscribing import (
    DECLARED,
    EXTENSION_CODES,
    PLAIN_CODES,
    asked,
    error,
    held,
    named,
    subscribe,
)
from tests.api.subscriptions.subscribing import UNVERIFIED, behave, count_subscriptions
from tests.api.subscriptions.subscribing import subscribe as subscribe_by_rest
from tests.event_factories import make_subscription
from tests.factories import make_account, make_form
from tests.webhook_receiver import HOST, Webhook
from webapp.answers.trash import delete_form
from webapp.base.database import utc_now
from webapp.base.vocabulary import ErrorProfile
from webapp.records.accounts.models import Account
from webapp.records.events import EventError

METHODS = ("events/subscribe", "events/unsubscribe")
BAD_SECRET = "hunter2hunter2hunter2hunter2hunter2"
SECONDS_OF_A_MINUTE = range(1_000, 60_001, 1_000)  # in milliseconds


def test_one_table_has_the_numbers_of_both_profiles() -> None:
    assert {each.message: each.code(ErrorProfile.PLAIN) for each in EventError} == PLAIN_CODES
    assert {
        each.message: each.code(ErrorProfile.EXTENSION) for each in EventError
    } == EXTENSION_CODES


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["response.started", "", "Response.Submitted", "\ud800"])
def test_an_unknown_event_is_not_found(host: Host, form: Any, method: str, name: str) -> None:
    found = error(host, method, asked(form, name=name))

    assert found == named(host, "NotFound", kind="event")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mode", ["poll", "push", "", None, 7, ["webhook"], "\ud800", "x" * 9999])
def test_another_mode_is_unsupported(host: Host, form: Any, method: str, mode: object) -> None:
    found = error(host, method, asked(form, mode=mode))

    shown = mode if mode in ("poll", "push", "") else "x" * 60 if mode == "x" * 9999 else None
    assert found == named(host, "Unsupported", feature="deliveryMode", value=shown)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"name": None}, "name"),
        ({"name": 7}, "name"),
        ({"arguments": {}}, "arguments.formId"),
        ({"arguments": None}, "arguments"),
        ({"arguments": []}, "arguments"),
        ({"arguments": {"formId": 7}}, "arguments.formId"),
        ({"arguments": {"formId": ""}}, "arguments.formId"),
        ({"arguments": {"formId": "a\x00"}}, "arguments.formId"),
        ({"arguments": {"formId": "\ud800"}}, "arguments.formId"),
        ({"arguments": {"formId": "frm_1", "more": 1}}, "arguments.more"),
        ({"delivery": None}, "delivery"),
        ({"delivery": "https://hooks.example.com/"}, "delivery"),
        ({"delivery": {}}, "delivery.url"),
        ({"url": 7}, "delivery.url"),
        ({"url": None}, "delivery.url"),
        ({"url": "https://hooks.example.com/" + "x" * 2048}, "delivery.url"),
        ({"url": "https://hooks.example.com/\x00"}, "delivery.url"),
    ],
)
def test_bad_parameters_are_refused_by_their_path(
    host: Host, form: Any, hook: Webhook, method: str, changed: dict[str, Any], path: str
) -> None:
    found = error(host, method, asked(form, **changed))

    assert found["code"] == -32602
    assert found["message"].startswith(f"{path}: ")
    assert hook.posted == []


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"url": "http://hooks.example.com/"}, "url"),
        ({"url": "https://127.0.0.1/"}, "url"),
        ({"url": "https://a@hooks.example.com/"}, "url"),
        ({"url": "https://hooks.example.com/\n"}, "url"),
        ({"secret": "whsec_c2hvcnQ="}, "secret"),
        ({"secret": BAD_SECRET}, "secret"),
        ({"secret": None}, "delivery.secret"),
        ({"ttlMs": 0}, "ttlMs"),
        ({"ttlMs": -1}, "ttlMs"),
        ({"ttlMs": 3_600_000.0}, "ttlMs"),
        ({"ttlMs": True}, "ttlMs"),
        ({"maxAgeMs": -1}, "maxAgeMs"),
        ({"maxAgeMs": False}, "maxAgeMs"),
        ({"cursor": 7}, "cursor"),
    ],
)
def test_what_only_subscribing_takes_is_refused_by_its_path(
    host: Host, form: Any, hook: Webhook, changed: dict[str, Any], path: str
) -> None:
    found = error(host, "events/subscribe", asked(form, **changed))

    assert found["code"] == -32602
    assert found["message"].startswith(f"{path}: ")
    assert "hunter2" not in str(found)
    assert hook.posted == []


def test_what_is_wrong_first_is_refused_first(host: Host, form: Any, hook: Webhook) -> None:
    """Name, arguments, mode, address with secret and numbers, form."""
    wrong: dict[str, Any] = {
        "name": "response.started",
        "arguments": {},
        "mode": "poll",
        "url": "http://hooks.example.com/",
    }
    right: dict[str, Any] = {
        "name": "response.submitted",
        "arguments": {"formId": "frm_unknown"},
        "mode": "webhook",
        "url": f"https://{HOST}/",
    }
    codes = []
    for name in ("", *wrong):
        wrong |= {name: right[name]} if name else {}
        codes.append(error(host, "events/subscribe", asked(form, **wrong))["code"])

    not_found, unsupported, forbidden = (
        named(host, name)["code"] for name in ("NotFound", "Unsupported", "Forbidden")
    )
    assert codes == [not_found, -32602, unsupported, -32602, forbidden]
    assert hook.posted == []


def test_a_form_that_is_unknown_foreign_or_deleted_is_forbidden_in_the_same_words(
    app: Flask, host: Host, account: Account, hook: Webhook
) -> None:
    with app.app_context():
        foreign = make_form(make_account(email="bo@example.com").id)
        deleted = make_form(account.id)
        delete_form(account.id, deleted.id, now=utc_now())
    unknown = asked(foreign, arguments={"formId": "frm_unknown"})

    refused = [
        error(host, "events/subscribe", params)
        for params in (unknown, asked(foreign), asked(deleted))
    ]

    reason = refused[0]["data"]["reason"]
    assert refused == [named(host, "Forbidden", reason=reason)] * 3
    assert hook.posted == []


def test_the_hundred_and_first_is_refused_before_it_is_asked(
    app: Flask, host: Host, form: Any, hook: Webhook
) -> None:
    subscribe(host, form)
    with app.app_context():
        for _ in range(99):
            make_subscription(form)

    found = error(host, "events/subscribe", asked(form, url=f"https://{HOST}/more"))

    assert found == named(host, "ResourceExhausted", limit="subscriptions", max=100)
    assert len(hook.posted) == 1
    assert subscribe(host, form)["deliveryStatus"]["active"]


@pytest.mark.parametrize(("behaviour", "reason"), UNVERIFIED)
def test_an_address_that_does_not_verify_is_refused_with_the_reason(
    app: Flask,
    host: Host,
    form: Any,
    hook: Webhook,
    monkeypatch: pytest.MonkeyPatch,
    behaviour: dict[str, Any],
    reason: str,
) -> None:
    behave(hook, behaviour, monkeypatch)

    found = error(host, "events/subscribe", asked(form))

    assert found == named(host, "CallbackEndpointError", reason=reason)
    assert (len(hook.posted), count_subscriptions(app)) == (1, 0)
    hook.echoes, hook.status, hook.seconds = False, 200, 0
    for n in range(3):
        error(host, "events/subscribe", asked(form, url=f"https://{HOST}/{n}"))
    limited = error(host, "events/subscribe", asked(form))
    assert limited["data"].pop("retryAfterMs") in SECONDS_OF_A_MINUTE
    assert limited == named(host, "ResourceExhausted", limit="verification_rate")


@pytest.mark.settings(limit_subscribe="3/minute")
def test_both_doors_count_together(host: Host, agent: Agent, form: Any, hook: Webhook) -> None:
    assert subscribe_by_rest(agent, form).status_code == 200
    subscribe(host, form)
    error(host, "events/subscribe", {})  # a refusal counts

    found = error(host, "events/subscribe", asked(form))

    assert found["data"].pop("retryAfterMs") in SECONDS_OF_A_MINUTE
    assert found == named(host, "ResourceExhausted", limit="subscribe_rate", max=3)
    assert subscribe_by_rest(agent, form).status_code == 429


def test_what_is_not_held_is_told_to_those_with_the_extension_alone(
    app: Flask, host: Host, hosted: Hosted, form: Any, hook: Webhook
) -> None:
    with app.app_context():
        stranger = make_account(email="bo@example.com")
    subscribe(host, form)
    unknown = held(form) | {"arguments": {"formId": "frm_unknown"}}
    never = held(form, url="not an address")
    foreign = hosted(stranger.id, version=host.version)
    foreign.capabilities = host.capabilities

    for one, params in ((host, unknown), (host, never), (foreign, held(form))):
        if host.is_modern and host.capabilities == DECLARED:
            found = error(one, "events/unsubscribe", params)
            assert found == named(host, "NotFound", kind="subscription")
        else:
            assert one.result("events/unsubscribe", params).keys() <= {"resultType", "_meta"}
    assert "deliveryStatus" in subscribe(host, form)


@pytest.mark.parametrize(
    "declared", [{"events": {}}, {"extensions": []}, {"extensions": None}, {"extensions": {"x": 1}}]
)
def test_only_the_extension_itself_is_a_declaration(
    hosted: Hosted, account: Any, form: Any, declared: dict[str, Any]
) -> None:
    host = hosted(account.id)
    host.capabilities = declared

    assert error(host, "events/subscribe", asked(form, name="other"))["code"] == -32011

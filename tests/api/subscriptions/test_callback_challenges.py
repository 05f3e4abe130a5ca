"""An address is asked before anything is sent to it, and not too often."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, update

from api import challenges
from tests.api.conftest import Agent, Connect, refusal
from tests.api.subscriptions.subscribing import (
    UNVERIFIED,
    behave,
    count_subscriptions,
    disconnect_while_asked,
    forget_verification,
    given_up_once,
    path,
    subscribe,
)
from tests.databases import both_databases
from tests.factories import make_account, make_form
from tests.services import wait_until
from tests.webhook_receiver import HOST, URL, Webhook, webhook_receiver
from webapp.base.database import db, utc_now
from webapp.records.events import CallbackEndpoint

OTHER_SECRET = "whsec_" + "Ab3d" * 10


def test_an_address_is_asked_again_after_a_day(
    app: Flask, agent: Agent, form: Any, hook: Webhook
) -> None:
    subscribe(agent, form)
    with app.app_context():
        yesterday = utc_now() - timedelta(hours=24, seconds=1)
        db.session.execute(update(CallbackEndpoint).values(verified_at=yesterday))
        db.session.commit()

    subscribe(agent, form)

    assert len(hook.posted) == 2


@pytest.mark.parametrize(("behaviour", "reason"), UNVERIFIED)
def test_an_address_that_does_not_verify_is_refused_with_the_reason(
    app: Flask,
    agent: Agent,
    form: Any,
    hook: Webhook,
    monkeypatch: pytest.MonkeyPatch,
    behaviour: dict[str, Any],
    reason: str,
) -> None:
    behave(hook, behaviour, monkeypatch)

    answer = subscribe(agent, form)

    assert refusal(answer) == (400, "callback_failed")
    assert f"({reason})" in answer.json["message"]
    assert count_subscriptions(app) == 0
    with app.app_context():
        verified = CallbackEndpoint.verified_at.is_not(None)
        assert db.session.scalar(select(func.count(CallbackEndpoint.id)).where(verified)) == 0


def test_a_failed_renewal_leaves_the_subscription_as_it_was(
    app: Flask, agent: Agent, form: Any, hook: Webhook
) -> None:
    subscribe(agent, form)
    before = agent.get(path(form)).json
    forget_verification(app)
    hook.echoes = False

    assert subscribe(agent, form, secret=OTHER_SECRET).status_code == 400
    assert agent.get(path(form)).json == before


def test_a_connection_that_ends_during_the_challenge_subscribes_to_nothing(
    app: Flask, agent: Agent, form: Any, hook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    disconnect_while_asked(app, monkeypatch)

    answer = subscribe(agent, form)

    assert refusal(answer) == (401, "authentication_required")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
    assert count_subscriptions(app) == 0


@both_databases
def test_the_challenge_goes_out_with_no_connection_open(
    app: Flask, agent: Agent, form: Any, hook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_connections: list[int] = []
    send = challenges.send_challenge

    def watched(*arguments: Any, **options: Any) -> Any:
        app.extensions["deferred_writes"].settle(10)
        open_connections.append(db.engine.pool.checkedout())  # type: ignore[attr-defined]
        return send(*arguments, **options)

    monkeypatch.setattr(challenges, "send_challenge", watched)

    assert subscribe(agent, form).status_code == 200
    assert open_connections == [0]


def test_a_view_that_runs_again_asks_once(
    agent: Agent, form: Any, hook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = given_up_once(monkeypatch)

    assert subscribe(agent, form).status_code == 200
    assert len(tries) == 2
    assert len(hook.posted) == 1


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
    """How challenges of as many addresses of the same host are refused."""
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


def test_failures_at_once_use_up_no_more_of_a_host(
    app: Flask, connect: Connect, agent: Agent, form: Any, hook: Webhook
) -> None:
    (other, own), last = others_with_forms(app, connect, 2)
    hook.echoes = False
    for failing, its_form in ((agent, form), (other, own)):
        with subscribing_at_once(failing, its_form, hook):
            pass

    hook.echoes, hook.seconds = True, 0
    assert subscribe(*last).status_code == 200


def others_with_forms(app: Flask, connect: Connect, number: int) -> list[tuple[Agent, Any]]:
    """The agents of so many other accounts, each with a form."""
    found = []
    for each in range(number):
        with app.app_context():
            account_id = make_account(email=f"bo{each}@example.com").id
            form = make_form(account_id)
        found.append((connect(account_id), form))
    return found


@contextmanager
def subscribing_at_once(agent: Agent, form: Any, hook: Webhook) -> Iterator[None]:
    """While the block runs, the addresses keep all challenges waiting that an account may send."""
    before, hook.seconds = len(hook.posted), 60
    hook.released.clear()
    waiting = [
        threading.Thread(target=subscribe, args=(agent, form), kwargs={"url": f"{URL}{n}"})
        for n in range(challenges.CHALLENGES_OF_ACCOUNT)
    ]
    for thread in waiting:
        thread.start()
    wait_until(lambda: len(hook.posted) == before + len(waiting), "challenges", seconds=20)
    yield
    hook.released.set()
    for thread in waiting:
        thread.join()


@pytest.mark.settings(write_limits=False, limit_subscribe="2/minute")
def test_without_write_limits_nothing_is_counted(agent: Agent, form: Any, hook: Webhook) -> None:
    hook.echoes = False

    answers = [subscribe(agent, form, url=f"https://{HOST}/{n}") for n in range(35)]

    assert {refusal(answer) for answer in answers} == {(400, "callback_failed")}


def test_slow_addresses_hold_few_threads_of_an_account(
    agent: Agent, form: Any, hook: Webhook
) -> None:
    with subscribing_at_once(agent, form, hook):
        answer = subscribe(agent, form)

    assert refusal(answer) == (429, "rate_limited")
    assert answer.headers["Retry-After"] == "2"
    assert subscribe(agent, form).status_code == 200


@pytest.fixture(scope="module")
def inside() -> Iterator[Webhook]:
    with webhook_receiver() as running:
        yield running


@pytest.mark.parametrize("allowed", ["allowed", ""])
def test_an_origin_on_the_allowlist_is_verified_over_plain_http(
    app: Flask,
    agent: Agent,
    form: Any,
    inside: Webhook,
    allowed: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    origins = frozenset({inside.origin} if allowed else ())
    changed = app.config["SETTINGS"].model_copy(update={"mcp_events_callback_allowlist": origins})
    monkeypatch.setitem(app.config, "SETTINGS", changed)
    inside.posted.clear()

    answer = subscribe(agent, form, url=f"{inside.origin}/hook")

    assert (answer.status_code, len(inside.posted)) == ((200, 1) if allowed else (400, 0))

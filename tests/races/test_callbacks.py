"""Equal subscribes at once cost their address one challenge; a confirmation is there or not."""

from collections import Counter
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.api.conftest import Agent
from tests.api.subscriptions.subscribing import BODY, subscribe
from tests.databases import both_databases
from tests.domain.events.subscribing import asked_for, make_grant, subscribe_now, subscriptions
from tests.factories import make_account, make_form
from tests.races.threads import allowed, together
from tests.services import wait_until
from tests.webhook_receiver import Webhook
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.events.callbacks import (
    WAITING_MAX,
    Asked,
    confirm_callback,
    endpoint_id,
    note_unverified,
)
from webapp.events.endings import remove_callback
from webapp.oauth.connections import disconnect
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account
from webapp.records.events import CallbackEndpoint

pytestmark = both_databases

AT_ONCE = 25
OTHER_SECRET = "whsec_" + "Ab3d" * 10


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(account.id)


@pytest.fixture
def agent(app: Flask, settings: Settings, account: Account) -> Agent:
    return agent_of(app, account.id, settings.api_url)


def agent_of(app: Flask, account_id: str, resource: str) -> Agent:
    with app.app_context():
        return Agent(app, issue_token(account_id, [Scope.RESPONSES_READ], resource, now=utc_now()))


@pytest.mark.parametrize(
    ("behaviour", "status", "held"),
    [
        ({}, 200, True),
        ({}, 200, False),
        ({"echoes": False}, 400, True),
        ({"echoes": False}, 400, False),
        ({"status": 404}, 400, True),  # nothing is known of it afterwards
    ],
)
def test_equal_subscribes_at_once_share_one_challenge(
    app: Flask,
    agent: Agent,
    form: Any,
    hook: Webhook,
    behaviour: dict[str, Any],
    status: int,
    *,
    held: bool,
) -> None:
    """Also those that come when it was just answered."""
    for name, value in behaviour.items():
        setattr(hook, name, value)
    calls: list[Any] = [partial(subscribe, agent, form)] * AT_ONCE
    if held:
        hook.seconds = 60
        calls.append(partial(release_followed, app, hook))

    answers = together(app, calls)[:AT_ONCE]

    assert {answer.status_code for answer in answers} == {status}
    assert len(hook.posted) == 1
    if status == 400:
        assert len({answer.get_data() for answer in answers}) == 1


def release_followed(app: Flask, hook: Webhook) -> None:
    """Let the address answer once all others wait for that."""
    waits = app.extensions["wakeups"]
    wait_until(lambda: waits._held.total() == AT_ONCE - 1, "followers", seconds=20)
    hook.released.set()


def test_other_secrets_accounts_and_addresses_share_nothing(
    app: Flask, settings: Settings, agent: Agent, form: Any, hook: Webhook
) -> None:
    with app.app_context():
        stranger = make_account(email="bo@example.com")
        own = make_form(stranger.id)
    other = agent_of(app, stranger.id, settings.api_url)
    calls = [
        partial(subscribe, agent, form),
        partial(subscribe, agent, form, secret=OTHER_SECRET),
        partial(subscribe, agent, form, url=f"{BODY['url']}&n=2"),
        partial(subscribe, other, own),
    ]
    hook.seconds = 60

    def release() -> None:
        wait_until(lambda: len(hook.posted) == len(calls), "challenges", seconds=20)
        hook.released.set()

    answers = together(app, [*calls, release])[: len(calls)]  # type: ignore[list-item]

    assert [answer.status_code for answer in answers] == [200] * 4
    assert len(hook.posted) == 4


@pytest.fixture
def grant_id(app: Flask, account: Account) -> str:
    with app.app_context():
        return make_grant(account.id)


def test_the_bound_of_addresses_that_wait_is_exact(app: Flask, form: Any, grant_id: str) -> None:
    each = [
        asked_for(form, grant_id, url=f"https://hooks.example.com/{number}")
        for number in range(WAITING_MAX + 12)
    ]

    waits = together(app, [partial(note_unverified, one, "200", now=utc_now()) for one in each])

    assert Counter(waits) == {True: WAITING_MAX, False: 12}


def confirm(asked: Asked) -> None:
    callback = endpoint_id(asked.account_id, asked.url)
    confirm_callback(asked.account_id, callback, allowed_origins=frozenset(), now=utc_now())


@pytest.fixture
def waiting(app: Flask, form: Any, grant_id: str) -> Asked:
    """An address that waits for its creator."""
    asked = asked_for(form, grant_id)
    with app.app_context():
        note_unverified(asked, "200", now=utc_now())
    return asked


@pytest.mark.parametrize("attempt", range(4))
def test_what_subscribes_alongside_a_removal_ends_or_is_refused(
    app: Flask, waiting: Asked, attempt: int
) -> None:
    with app.app_context():
        confirm(waiting)
    callback = endpoint_id(waiting.account_id, waiting.url)

    again = allowed(partial(subscribe_now, waiting, confirmed=True))
    remove = partial(remove_callback, waiting.account_id, callback, now=utc_now())
    results = together(app, [again, again, remove, again])

    assert {each for each in results if isinstance(each, str)} <= {"callback_failed"}
    with app.app_context():
        assert [each.url for each in subscriptions() if each.ended_at is None] == []


@pytest.mark.parametrize("attempt", range(4))
def test_no_confirmation_outlives_its_connection(app: Flask, waiting: Asked, attempt: int) -> None:
    end = partial(disconnect, waiting.account_id, waiting.grant_id, now=utc_now())
    again = allowed(partial(confirm, waiting))
    first, _, second = together(app, [again, end, again])

    assert {first, second} <= {None, "not_found"}
    with app.app_context():
        kept = db.session.execute(select(CallbackEndpoint.url, CallbackEndpoint.confirmed_at))
        assert kept.all() == [(None, None)]

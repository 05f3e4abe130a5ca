"""Subscribing, refreshing and unsubscribing."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import Clock
from tests.domain.events.subscribing import (
    SEALER,
    URL,
    asked_for,
    make_grant,
    subscribe_now,
    subscriptions,
)
from tests.factories import make_account, make_form
from webapp.base.database import db, read_rows, utc_now
from webapp.base.sealing import Sealer
from webapp.events import subscribing as module
from webapp.events.endings import unsubscribe
from webapp.events.subscribing import Asked, Granted
from webapp.events.subscription_rows import secret_place, subscription_id

FIRST, SECOND, THIRD = ("whsec_" + letter * 32 for letter in "ABC")


@dataclass
class Agent:
    """A connected agent with one form of its creator."""

    form: Any
    grant_id: str

    def ask(self, **changed: Any) -> Asked:
        return asked_for(self.form, self.grant_id, **changed)

    def subscribe(self, now: Any = None, **changed: Any) -> Granted:
        return subscribe_now(self.ask(**changed), now=now or utc_now())


@pytest.fixture
def agent(app_context: None) -> Agent:
    account = make_account()
    return Agent(make_form(account.id), make_grant(account.id))


def unsealed(sealed: str | None, key: str) -> str | None:
    return SEALER.unseal(sealed, place=secret_place(key)) if sealed else None


def test_the_id_is_the_digest_of_account_address_event_and_arguments() -> None:
    """`printf '["acc_1","https://a.example/ü?k=9","response.submitted",{"formId":"frm_7"}]' |
    sha256sum`
    """
    expected = "sub_dff59c436b28f5b18643a7bba47269e1"
    assert subscription_id("acc_1", "frm_7", "https://a.example/ü?k=9") == expected


def test_exactly_one_previous_secret_is_kept(agent: Agent, clock: Clock) -> None:
    for secret in (FIRST, SECOND, THIRD):
        agent.subscribe(clock.forward(hours=1), secret=secret)

    (stored,) = subscriptions()
    assert unsealed(stored.secret, stored.id) == THIRD
    assert unsealed(stored.previous_secret, stored.id) == SECOND


def test_a_secret_that_no_key_opens_is_replaced(agent: Agent) -> None:
    agent.subscribe(secret=FIRST)
    other = Sealer({"k2": b"2" * 32})

    subscribe_now(agent.ask(secret=SECOND), sealer=other)

    (stored,) = subscriptions()
    assert other.unseal(str(stored.secret), place=secret_place(stored.id)) == SECOND
    assert stored.previous_secret is None


def test_expired_ended_and_foreign_ones_take_no_room(
    agent: Agent, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SUBSCRIPTIONS_MAX", 1)
    agent.subscribe(clock.now, url=f"{URL}&n=1", ttl_seconds=300)
    clock.forward(seconds=301)
    ended = agent.subscribe(clock.now, url=f"{URL}&n=2")
    unsubscribe(agent.form.account_id, agent.form.id, ended.subscription_id, now=clock.now)
    stranger = make_account()
    subscribe_now(asked_for(make_form(stranger.id), make_grant(stranger.id)), now=clock.now)

    agent.subscribe(clock.now, url=f"{URL}&n=3")

    assert len(subscriptions()) == 4


def test_unsubscribing_from_what_is_unknown_or_of_another_form_does_nothing(agent: Agent) -> None:
    key = agent.subscribe().subscription_id
    other = make_form(agent.form.account_id)

    unsubscribe(other.account_id, other.id, key, now=utc_now())
    unsubscribe(other.account_id, other.id, "sub_unknown", now=utc_now())

    assert [each.ended_at for each in subscriptions()] == [None]
    assert read_rows(db.select(module.EventSubscription.url))[0][0] == URL

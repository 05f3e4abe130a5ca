"""Subscribing, refreshing and unsubscribing."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.events.subscribing import (
    SEALER,
    URL,
    asked_for,
    deliveries,
    make_grant,
    states,
    subscribe_now,
    subscriptions,
)
from tests.event_factories import make_delivery
from tests.factories import make_account, make_form, make_response
from webapp.answers.trash import delete_form, restore_form
from webapp.base.database import db, read_rows, utc_now, write_transaction
from webapp.base.errors import NotFound, StateConflict
from webapp.base.sealing import Sealer
from webapp.base.vocabulary import DeliveryState, RevokedReason, SubscriptionEnd
from webapp.events import subscribing as module
from webapp.events.confirming import note_verified, read_callback
from webapp.events.endings import unsubscribe
from webapp.events.subscribing import Asked, Granted, check_asked, list_subscriptions
from webapp.events.subscription_rows import secret_place, subscription_id
from webapp.oauth.tokens import revoke_grant
from webapp.records.events import CallbackEndpoint

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


@both_databases
def test_a_subscription_is_stored_with_its_secret_sealed(agent: Agent) -> None:
    now = utc_now()

    granted = agent.subscribe(now)

    (stored,) = subscriptions()
    assert (stored.id, stored.url, stored.host) == (
        granted.subscription_id,
        URL,
        "hooks.example.com:443",
    )
    assert FIRST not in str(stored.secret)
    assert unsealed(stored.secret, stored.id) == FIRST
    assert stored.grant_id == agent.grant_id
    assert stored.expires_at == granted.refresh_before == now + timedelta(days=1)
    assert (granted.truncated, deliveries()) == (False, [])


def test_the_id_is_the_digest_of_account_address_event_and_arguments() -> None:
    """`printf '["acc_1","https://a.example/ü?k=9","response.submitted",{"formId":"frm_7"}]' |
    sha256sum`
    """
    expected = "sub_dff59c436b28f5b18643a7bba47269e1"
    assert subscription_id("acc_1", "frm_7", "https://a.example/ü?k=9") == expected


@pytest.mark.parametrize(
    "other", [("acc_2", "frm_7", URL), ("acc_1", "frm_8", URL), ("acc_1", "frm_7", URL + "&")]
)
def test_another_account_form_or_address_is_another_subscription(
    other: tuple[str, str, str],
) -> None:
    assert subscription_id(*other) != subscription_id("acc_1", "frm_7", URL)


@both_databases
def test_a_repetition_refreshes_the_same_row(agent: Agent, clock: Clock) -> None:
    first = agent.subscribe(clock.now)
    again = agent.subscribe(clock.forward(hours=1))

    (stored,) = subscriptions()
    assert again.subscription_id == first.subscription_id
    assert stored.expires_at == again.refresh_before == clock.now + timedelta(days=1)
    assert stored.created_at == clock.now - timedelta(hours=1)
    assert stored.refreshed_at == clock.now


def test_the_connection_that_subscribed_last_holds_it(agent: Agent) -> None:
    agent.subscribe()
    later = make_grant(agent.form.account_id)

    subscribe_now(asked_for(agent.form, later))

    assert [each.grant_id for each in subscriptions()] == [later]


@pytest.mark.parametrize(
    ("asked", "granted"),
    [(None, 86_400), (1, 300), (301, 301), (604_801, 604_800), (10**30, 604_800)],
)
def test_the_time_granted_has_bounds(agent: Agent, asked: int | None, granted: int) -> None:
    now = utc_now()

    assert agent.subscribe(now, ttl_seconds=asked).refresh_before == now + timedelta(
        seconds=granted
    )


def test_no_grant_passes_the_end_of_the_connection(agent: Agent) -> None:
    now = utc_now()
    ends = now + timedelta(seconds=40)

    granted = subscribe_now(agent.ask(), now=now, grant_ends=ends)

    assert granted.refresh_before == ends


def test_a_new_secret_keeps_the_one_before_it_for_a_day(agent: Agent, clock: Clock) -> None:
    agent.subscribe(clock.now, secret=FIRST)
    agent.subscribe(clock.forward(hours=1), secret=SECOND)
    rotated = clock.now
    agent.subscribe(clock.forward(hours=1), secret=SECOND)

    (stored,) = subscriptions()
    assert unsealed(stored.secret, stored.id) == SECOND
    assert unsealed(stored.previous_secret, stored.id) == FIRST
    assert stored.previous_until == rotated + timedelta(hours=24)


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


@both_databases
def test_the_hundred_and_first_is_refused_and_a_refresh_is_not(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SUBSCRIPTIONS_MAX", 3)
    for number in range(3):
        agent.subscribe(url=f"{URL}&n={number}")
    last = agent.ask(url=f"{URL}&n=3")

    for refused in (lambda: subscribe_now(last), lambda: check_asked(last, now=utc_now())):
        with pytest.raises(StateConflict) as refusal:
            refused()
        assert refusal.value.code == "too_many_subscriptions"
        db.session.rollback()
    again = agent.ask(url=f"{URL}&n=2")
    check_asked(again, now=utc_now())
    subscribe_now(again)
    assert len(subscriptions()) == 3


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


def test_an_address_is_challenged_once_a_day_and_account(agent: Agent, clock: Clock) -> None:
    assert not read_callback(agent.ask(), now=clock.now).verified
    note_verified(agent.ask(), now=clock.now)

    assert read_callback(agent.ask(), now=clock.forward(hours=23)).verified
    subscribe_now(agent.ask(), now=clock.now)
    assert not read_callback(agent.ask(), now=clock.forward(hours=1)).verified
    assert not read_callback(agent.ask(url=URL + "&"), now=clock.now).verified


def test_an_address_that_answers_a_challenge_is_paused_no_more(agent: Agent) -> None:
    agent.subscribe()
    with write_transaction():
        endpoint = db.session.scalars(db.select(CallbackEndpoint)).one()
        endpoint.failures, endpoint.paused_until = 9, utc_now() + timedelta(hours=1)

    subscribe_now(agent.ask())
    db.session.refresh(endpoint)
    assert endpoint.failures == 9
    note_verified(agent.ask(), now=utc_now())
    db.session.refresh(endpoint)
    assert (endpoint.failures, endpoint.paused_until) == (0, None)


@both_databases
def test_a_refresh_ends_a_suspension_and_tells_of_what_was_dropped(agent: Agent) -> None:
    agent.subscribe()
    make_response(agent.form)
    with write_transaction():
        (stored,) = db.session.scalars(db.select(module.EventSubscription))
        stored.suspended_at, stored.gone_count, stored.dropped = utc_now(), 3, True

    refreshed = [agent.subscribe().truncated for _ in range(2)]

    (stored,) = subscriptions()
    assert refreshed == [True, False]
    assert (stored.suspended_at, stored.gone_count, stored.dropped) == (None, 0, False)
    assert states() == ["pending"]


@both_databases
def test_a_form_of_another_account_an_unknown_and_a_deleted_one_are_not_found(
    agent: Agent,
) -> None:
    stranger = make_account()
    theirs = make_form(stranger.id)
    key = agent.subscribe().subscription_id
    foreign = agent.ask()._replace(form_id=theirs.id)
    unknown = agent.ask()._replace(form_id="frm_unknown")
    delete_form(agent.form.account_id, agent.form.id, now=utc_now())

    for asked in (foreign, unknown, agent.ask()):
        account_id, form_id = asked.account_id, asked.form_id
        calls = (
            lambda asked=asked: check_asked(asked, now=utc_now()),
            lambda asked=asked: subscribe_now(asked),
            lambda a=account_id, f=form_id: list_subscriptions(a, f, now=utc_now()),
            lambda a=account_id, f=form_id: unsubscribe(a, f, key, now=utc_now()),
        )
        for call in calls:
            with pytest.raises(NotFound) as refusal:
                call()
            assert refusal.value.code == "form_not_found"
            db.session.rollback()
    restore_form(agent.form.account_id, agent.form.id, now=utc_now())
    assert not agent.subscribe().truncated


@both_databases
def test_a_connection_that_has_just_ended_subscribes_no_more(agent: Agent) -> None:
    with write_transaction():
        revoke_grant(agent.grant_id, RevokedReason.REFRESH_REUSE, now=utc_now())

    with pytest.raises(StateConflict) as refusal:
        agent.subscribe()

    assert refusal.value.code == "authentication_required"
    assert subscriptions() == []


@both_databases
def test_live_subscriptions_of_the_form_are_listed(agent: Agent, clock: Clock) -> None:
    agent.subscribe(clock.now, url=f"{URL}&n=1", ttl_seconds=300)
    other = make_form(agent.form.account_id)
    subscribe_now(asked_for(other, agent.grant_id), now=clock.now)
    second = agent.subscribe(clock.forward(seconds=301), url=f"{URL}&n=2")
    third = agent.subscribe(clock.forward(seconds=1), url=f"{URL}&n=3")
    with write_transaction():
        db.session.get_one(module.EventSubscription, third.subscription_id).suspended_at = clock.now

    listed = list_subscriptions(agent.form.account_id, agent.form.id, now=clock.now)

    assert [(row.id, row.active) for row in listed] == [
        (second.subscription_id, True),
        (third.subscription_id, False),
    ]
    assert listed[0].host == "hooks.example.com:443"
    assert listed[0].refresh_before == second.refresh_before
    assert (listed[0].last_delivery_at, listed[0].last_failure) == (None, None)


@both_databases
def test_unsubscribing_cancels_the_queue_and_erases_address_and_secret(agent: Agent) -> None:
    key = agent.subscribe().subscription_id
    agent.subscribe(secret=SECOND)
    (stored,) = subscriptions()
    for state in DeliveryState:
        make_delivery(stored, state=state)
    form = agent.form

    for _ in range(2):
        unsubscribe(form.account_id, form.id, key, now=utc_now())

    (stored,) = subscriptions()
    assert stored.end_reason is SubscriptionEnd.UNSUBSCRIBED
    assert (stored.url, stored.secret, stored.previous_secret) == (None, None, None)
    assert stored.host == "hooks.example.com:443"
    assert sorted(states()) == ["abandoned", *["cancelled"] * 3, "delivered", "dropped"]
    make_response(form)
    assert len(deliveries()) == 6


def test_unsubscribing_from_what_is_unknown_or_of_another_form_does_nothing(agent: Agent) -> None:
    key = agent.subscribe().subscription_id
    other = make_form(agent.form.account_id)

    unsubscribe(other.account_id, other.id, key, now=utc_now())
    unsubscribe(other.account_id, other.id, "sub_unknown", now=utc_now())

    assert [each.ended_at for each in subscriptions()] == [None]
    assert read_rows(db.select(module.EventSubscription.url))[0][0] == URL

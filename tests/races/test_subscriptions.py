"""No completion falls between a subscription's head and its deliveries; one row, exact bounds."""

import random
import secrets
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.databases import both_databases
from tests.domain.events.subscribing import (
    KEY,
    URL,
    asked_for,
    deliveries,
    make_grant,
    states,
    subscribe_now,
    subscriptions,
)
from tests.event_factories import make_subscription
from tests.factories import make_answer, make_form, make_response
from tests.races.threads import Call, allowed, send, together, withdraw
from webapp.base.database import db, execute, utc_now, write_transaction
from webapp.base.vocabulary import DeliveryState, SubscriptionEnd
from webapp.events import outbox
from webapp.events.endings import end_expired, unsubscribe
from webapp.events.outbox import event_id_of, read_cursor
from webapp.events.subscriptions import Granted
from webapp.oauth.connections import disconnect
from webapp.records.accounts.models import Account
from webapp.records.events import EventDelivery
from webapp.records.responses.models import ResponseSession

pytestmark = both_databases
COMPLETERS = 8
SUBSCRIBERS = 6
LONGEST_LIFE_SECONDS = 0.05

fewer_in_short = pytest.mark.parametrize(
    "completions", [160, pytest.param(2400, marks=pytest.mark.prove)]
)


@dataclass
class Race:
    """Respondents who complete, and what is left of them to do so."""

    app: Flask
    form: Any
    grant_id: str
    working: int = COMPLETERS
    subscribed: Counter[str] = field(default_factory=Counter)

    def complete(self, keys: list[str]) -> None:
        try:
            for key in keys:
                send(self.form, key=key)()
        finally:
            self.working -= 1


@dataclass
class Subscriber:
    """One address, subscribed in every way for as long as anybody completes.

    head  the position at which it subscribed first
    """

    race: Race
    url: str
    head: int = -1
    last: Granted | None = None
    received: set[str] = field(default_factory=set)

    def run(self) -> None:
        while self.race.working:
            self.subscribe()
            self.receive()
            way = random.choice((self.refresh, self.lapse, self.unsubscribe))  # noqa: S311
            way()
            self.race.subscribed[way.__name__] += 1
        self.subscribe()

    def subscribe(self, **given: Any) -> None:
        """With the last cursor, as a client that keeps it."""
        cursor = self.last.cursor if self.last else None
        asked = asked_for(self.race.form, self.race.grant_id, url=self.url, cursor=cursor)
        self.last = subscribe_now(asked, **given)
        assert not self.last.truncated
        if cursor is None:
            self.head = read_cursor(KEY, self.race.form.id, self.last.cursor) or 0

    def refresh(self) -> None:
        self.subscribe()

    def lapse(self) -> None:
        """Live for a moment more, at whose end nobody is told."""
        now = utc_now()
        life = random.uniform(0, LONGEST_LIFE_SECONDS)  # noqa: S311
        self.subscribe(now=now, grant_ends=now + timedelta(seconds=life))
        self.receive()

    def unsubscribe(self) -> None:
        form, last = self.race.form, self.last
        assert last
        unsubscribe(form.account_id, form.id, last.subscription_id, now=utc_now())

    def receive(self) -> None:
        """Settle some of what waits, in any order: others are stuck meanwhile."""
        assert self.last
        mine = (
            EventDelivery.subscription_id == self.last.subscription_id,
            EventDelivery.state == DeliveryState.PENDING,
        )
        with write_transaction():
            waiting = execute(select(EventDelivery.id, EventDelivery.event_id).where(*mine)).all()
            taken = dict(random.sample(waiting, len(waiting) * 2 // 3))  # noqa: S311
            settled = update(EventDelivery).where(EventDelivery.id.in_(taken), *mine)
            settled = settled.values(state=DeliveryState.DELIVERED, settled_at=utc_now())
            sent = execute(settled.returning(EventDelivery.event_id)).scalars().all()
        self.received |= set(sent)

    def waiting(self) -> set[str]:
        assert self.last
        return {
            each.event_id
            for each in deliveries()
            if each.subscription_id == self.last.subscription_id
            and each.state is DeliveryState.PENDING
        }


@pytest.fixture
def race(app: Flask, account: Account) -> Race:
    with app.app_context():
        return Race(app, make_form(account.id), make_grant(account.id))


def keys_of(race: Race, count: int) -> list[str]:
    """Of respondents who have answered and not completed."""
    keys = [secrets.token_urlsafe(24) for _ in range(count)]
    with race.app.app_context():
        for key in keys:
            make_answer(race.form, key)
    return keys


def completed_after(position: int) -> set[str]:
    after = ResponseSession.completed_stamp > position
    return set(map(event_id_of, db.session.scalars(select(ResponseSession.id).where(after))))


@fewer_in_short
def test_nothing_after_the_head_of_a_subscription_is_missing(
    race: Race, completions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # what is stuck keeps the cursor back by more events than one replay has
    monkeypatch.setattr(outbox, "_LEFT_OUT", outbox._LEFT_OUT.offset(completions))
    keys = keys_of(race, completions)
    subscribers = [Subscriber(race, f"{URL}&n={number}") for number in range(SUBSCRIBERS)]
    parts = [keys[number::COMPLETERS] for number in range(COMPLETERS)]

    together(
        race.app,
        [
            *(partial(race.complete, part) for part in parts),
            *(subscriber.run for subscriber in subscribers),
        ],
    )

    with race.app.app_context():
        list(end_expired(utc_now()))
        for each in subscribers:
            missing = completed_after(each.head) - each.received - each.waiting()
            assert missing == set()
        assert len(completed_after(0)) == completions
    assert sum(race.subscribed.values()) > SUBSCRIBERS
    print(f"{completions} completions beside {dict(race.subscribed)}")


def attempt(race: Race, url: str = URL) -> Call:
    """The code of its refusal."""
    subscribe = allowed(partial(subscribe_now, asked_for(race.form, race.grant_id, url=url)))
    return lambda: found if isinstance(found := subscribe(), str) else "granted"


def test_the_bound_of_an_account_is_exact(race: Race) -> None:
    with race.app.app_context():
        for _ in range(90):
            make_subscription(race.form)

    results = together(race.app, [attempt(race, f"{URL}&n={n}") for n in range(25)])

    assert Counter(results) == {"granted": 10, "too_many_subscriptions": 15}


@pytest.mark.parametrize("_round", range(4))
def test_a_subscription_alongside_the_end_of_its_connection_ends_with_it(
    race: Race, _round: int
) -> None:
    account_id = race.form.account_id
    end = partial(disconnect, account_id, race.grant_id, now=utc_now())
    results = together(race.app, [attempt(race), attempt(race), end, attempt(race)])

    assert set(results) - {"granted", "authentication_required"} <= {results[2]}
    with race.app.app_context():
        ended = [each.end_reason for each in subscriptions()]
    assert set(ended) <= {SubscriptionEnd.DISCONNECTED}


@pytest.mark.parametrize("attempt", range(2))
@pytest.mark.parametrize("way", ["unsubscribed", "disconnected"])
def test_what_completes_alongside_an_end_is_not_left_in_the_queue(
    race: Race, way: str, attempt: int
) -> None:
    keys = keys_of(race, 6)
    with race.app.app_context():
        key = subscribe_now(asked_for(race.form, race.grant_id)).subscription_id
    of_form = race.form.account_id, race.form.id
    end = {
        "unsubscribed": partial(unsubscribe, *of_form, key),
        "disconnected": partial(disconnect, race.form.account_id, race.grant_id),
    }[way]

    together(
        race.app,
        [*(partial(race.complete, [key]) for key in keys[:3]), partial(end, now=utc_now())],
    )
    together(race.app, [partial(race.complete, [key]) for key in keys[3:]])

    with race.app.app_context():
        left = [each.kind.value for each in deliveries() if each.state is DeliveryState.PENDING]
    assert left == ["terminated"] * (way == "disconnected")


@pytest.mark.parametrize("attempt", range(4))
def test_a_response_withdrawn_alongside_its_replay_is_not_sent(race: Race, attempt: int) -> None:
    with race.app.app_context():
        cursor = subscribe_now(asked_for(race.form, race.grant_id)).cursor
        keys = [make_response(race.form) for _ in range(3)]
    again = asked_for(race.form, race.grant_id, url=URL + "&new", cursor=cursor)
    gone = [withdraw(race.form, key=key) for key in keys]

    together(race.app, [*gone, partial(subscribe_now, again)])

    with race.app.app_context():
        assert set(states()) == {"cancelled"}

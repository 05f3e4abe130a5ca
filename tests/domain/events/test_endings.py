"""How subscriptions end, and what becomes of their queue, address and secrets."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.events.subscribing import (
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
from webapp.app import background
from webapp.base.database import db, execute, utc_now, write_transaction
from webapp.base.vocabulary import DeliveryKind, DeliveryState, RevokedReason, SubscriptionEnd
from webapp.events.delivering import purge_settled
from webapp.events.endings import end_expired, note_unqueued, purge_ended, unsubscribe
from webapp.oauth.connections import disconnect, disconnect_all
from webapp.oauth.tokens import revoke_grant
from webapp.records.events import CallbackEndpoint, EventDelivery, EventSubscription

pytestmark = both_databases
End = Callable[[str, str, Any], object]


@pytest.fixture
def form(app_context: None) -> Any:
    return make_form(make_account().id)


@pytest.fixture
def grant_id(form: Any) -> str:
    return make_grant(form.account_id)


def revoke(account_id: str, grant_id: str, now: Any, reason: RevokedReason) -> None:
    with write_transaction():
        revoke_grant(grant_id, reason, now=now)


ENDS = {
    "disconnected": lambda account, grant, now: disconnect(account, grant, now=now),
    "all disconnected": lambda account, _, now: disconnect_all(account, now=now),
    "code reused": partial(revoke, reason=RevokedReason.CODE_REUSE),
    "refresh token reused": partial(revoke, reason=RevokedReason.REFRESH_REUSE),
    "revoked by client": partial(revoke, reason=RevokedReason.REVOKED_BY_CLIENT),
}


def last_words() -> list[EventDelivery]:
    return [each for each in deliveries() if each.kind is DeliveryKind.TERMINATED]


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_the_end_of_a_connection_ends_what_it_subscribed(
    form: Any, grant_id: str, end: End
) -> None:
    now = utc_now()
    other, stranger = make_form(form.account_id), make_form(make_account().id)
    for each in (form, other):
        subscribe_now(asked_for(each, grant_id))
        make_response(each)
    theirs = subscribe_now(asked_for(stranger, make_grant(stranger.account_id))).subscription_id

    for _ in range(2):
        end(form.account_id, grant_id, now)

    assert {each.id for each in subscriptions() if each.ended_at is None} == {theirs}
    with write_transaction():
        execute(delete(EventSubscription).where(EventSubscription.id == theirs))
    assert {each.ended_at for each in subscriptions()} == {now}
    disconnected = end in list(ENDS.values())[:2]
    reason = SubscriptionEnd.DISCONNECTED if disconnected else SubscriptionEnd.REVOKED
    assert {each.end_reason for each in subscriptions()} == {reason}
    assert sorted(states()) == ["cancelled", "cancelled", "pending", "pending"]
    told = last_words()
    assert {each.subscription_id for each in told} == {each.id for each in subscriptions()}
    for each in told:
        assert each.event_id.startswith("msg_terminated_")
        assert (each.next_at, each.position, each.answer_count) == (now, 0, 0)
    # until the subscriber has been told
    assert {each.url for each in subscriptions()} == {URL}
    make_response(form)
    assert len(deliveries()) == 4


def test_the_address_is_erased_when_there_was_time_to_tell(
    form: Any, grant_id: str, clock: Clock
) -> None:
    subscribe_now(asked_for(form, grant_id), now=clock.now)
    disconnect(form.account_id, grant_id, now=clock.now)

    assert list(end_expired(clock.forward(seconds=59))) == []
    assert subscriptions()[0].url == URL
    assert list(end_expired(clock.forward(seconds=1))) == [2]

    (stored,) = subscriptions()
    assert (stored.url, stored.secret, stored.host) == (None, None, "hooks.example.com:443")
    assert states() == ["cancelled"]
    assert list(end_expired(clock.now)) == []


def test_who_subscribes_again_is_not_told_of_the_end_before(
    form: Any, grant_id: str, clock: Clock
) -> None:
    first = subscribe_now(asked_for(form, grant_id), now=clock.now)
    make_response(form)
    disconnect(form.account_id, grant_id, now=clock.now)

    again = subscribe_now(
        asked_for(form, make_grant(form.account_id)), now=clock.forward(seconds=1)
    )

    assert again.subscription_id == first.subscription_id
    assert states() == ["cancelled", "cancelled"]
    assert subscriptions()[0].ended_at is None
    assert list(end_expired(clock.forward(minutes=5))) == []
    assert subscriptions()[0].url == URL
    disconnect_all(form.account_id, now=clock.now)
    assert len({each.event_id for each in last_words()}) == 2


def test_an_expired_subscription_keeps_its_host_alone(
    form: Any, grant_id: str, clock: Clock
) -> None:
    asked = asked_for(form, grant_id, ttl_seconds=300)
    subscribe_now(asked, now=clock.now)
    subscribe_now(asked._replace(secret="whsec_" + "B" * 32), now=clock.now)
    make_response(form)

    assert list(end_expired(clock.forward(seconds=299))) == []
    assert sum(end_expired(clock.forward(seconds=1))) == 2

    (stored,) = subscriptions()
    assert (stored.ended_at, stored.end_reason) == (clock.now, SubscriptionEnd.EXPIRED)
    assert (stored.url, stored.secret, stored.previous_secret) == (None, None, None)
    assert stored.host == "hooks.example.com:443"
    assert states() == ["cancelled"]
    assert deliveries()[0].settled_at == clock.now


def test_a_long_queue_is_cancelled_in_short_transactions(
    form: Any, grant_id: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.events.endings.BATCH_ROWS", 2)
    subscribe_now(asked_for(form, grant_id, ttl_seconds=300), now=clock.now)
    for _ in range(5):
        make_response(form)

    assert list(end_expired(clock.forward(seconds=300))) == [1, 2, 2, 1]

    assert states() == ["cancelled"] * 5


def test_a_previous_secret_is_erased_after_a_day(form: Any, grant_id: str, clock: Clock) -> None:
    asked = asked_for(form, grant_id, ttl_seconds=7 * 86_400)
    for letter in "AB":
        subscribe_now(asked._replace(secret="whsec_" + letter * 32), now=clock.now)

    assert list(purge_ended(clock.forward(hours=23))) == []
    assert list(purge_ended(clock.forward(hours=1))) == [1]

    (stored,) = subscriptions()
    assert (stored.previous_secret, stored.previous_until) == (None, None)
    assert stored.secret


def test_what_nothing_names_any_more_is_purged(form: Any, grant_id: str, clock: Clock) -> None:
    live = subscribe_now(asked_for(form, grant_id, ttl_seconds=7 * 86_400), now=clock.now)
    logged, gone = (
        subscribe_now(asked_for(form, grant_id, url=f"{URL}&n={n}"), now=clock.now)
        for n in range(2)
    )
    make_delivery(
        db.session.get_one(EventSubscription, logged.subscription_id),
        state=DeliveryState.DELIVERED,
        settled_at=clock.now,
    )
    for each in (logged, gone):
        unsubscribe(form.account_id, form.id, each.subscription_id, now=clock.now)

    assert list(purge_ended(clock.forward(hours=24))) == []
    assert list(purge_ended(clock.forward(seconds=1))) == [1, 1]

    kept = {each.id for each in subscriptions()}
    assert kept == {live.subscription_id, logged.subscription_id}
    assert {each.endpoint_id for each in subscriptions()} == set(
        db.session.scalars(select(CallbackEndpoint.id))
    )
    with write_transaction():
        execute(update(CallbackEndpoint).values(seen_at=clock.now))
    assert list(purge_ended(clock.now)) == []


def test_a_refresh_tells_of_what_was_completed_while_events_were_off(
    form: Any, grant_id: str
) -> None:
    asked = asked_for(form, grant_id)
    subscribe_now(asked)

    assert list(note_unqueued(utc_now())) == [1]
    assert list(note_unqueued(utc_now())) == []

    assert [subscribe_now(asked).truncated for _ in range(2)] == [True, False]


def test_subscriptions_and_deliveries_are_looked_after_while_serving(app_context: None) -> None:
    assert end_expired in background.EXPIRIES
    assert {*background.EXPIRIES, note_unqueued} == set(background.EXPIRIES_WITHOUT_EVENTS)
    assert {purge_ended, purge_settled} <= set(background.PURGES)

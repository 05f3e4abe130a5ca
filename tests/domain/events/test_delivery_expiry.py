"""What ends without an attempt, and what waits for too long."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from tests.conftest import Clock
from tests.databases import both_databases
from tests.event_factories import make_attempt, make_delivery, make_subscription
from tests.factories import make_account, make_form
from webapp.base.database import db, read_rows, to_millis
from webapp.base.vocabulary import DeliveryState
from webapp.events import settling
from webapp.events.settling import abandon_overflow, bound_waits, purge_settled
from webapp.records.events import (
    CallbackEndpoint,
    DeliveryAttempt,
    EventDelivery,
    EventSubscription,
)

pytestmark = [pytest.mark.usefixtures("app_context"), both_databases]


@pytest.fixture
def subscription() -> EventSubscription:
    return make_subscription(make_form(make_account().id))


def test_the_oldest_of_a_queue_that_grew_too_long_are_abandoned(
    clock: Clock, subscription: EventSubscription
) -> None:
    other = make_subscription(make_form(make_account().id))
    start = to_millis(clock.now)
    queued = [make_delivery(subscription, position=start + place) for place in range(5)]
    for place in range(3):
        make_delivery(other, position=start + place)

    assert abandon_overflow(now=clock.now, most=3) == 2

    db.session.expire_all()
    states = [each.state for each in queued]
    assert states == [DeliveryState.ABANDONED] * 2 + [DeliveryState.PENDING] * 3
    assert queued[0].settled_at == clock.now
    assert (subscription.dropped, other.dropped) == (True, False)
    assert abandon_overflow(now=clock.now, most=3) == 0


def test_two_processes_that_look_at_once_abandon_no_more_than_one(
    clock: Clock, subscription: EventSubscription, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in range(5):
        make_delivery(subscription, position=to_millis(clock.now) + place)
    seen_by_both = read_rows(settling._OVERFULL, most=3)
    monkeypatch.setattr(settling, "read_rows", lambda *_, **__: seen_by_both)

    assert [abandon_overflow(now=clock.now, most=3) for _ in range(2)] == [2, 0]


def test_settled_deliveries_are_kept_for_thirty_days(
    clock: Clock, subscription: EventSubscription
) -> None:
    old = make_delivery(subscription, state=DeliveryState.DELIVERED, settled_at=clock.now)
    later = clock.now + timedelta(seconds=1)
    kept = make_delivery(subscription, state=DeliveryState.ABANDONED, settled_at=later)
    waiting = make_delivery(subscription)
    kept_ids = {kept.id, waiting.id}
    for delivery in (old, kept):
        make_attempt(delivery)

    assert sum(purge_settled(clock.forward(days=30))) == 2

    db.session.expire_all()
    assert set(db.session.scalars(select(EventDelivery.id))) == kept_ids
    assert db.session.scalar(select(func.count(DeliveryAttempt.id))) == 1


@pytest.mark.parametrize(
    ("attempts", "ahead", "waits"),
    [
        (0, timedelta(days=300), timedelta(minutes=2)),
        (1, timedelta(days=300), timedelta(hours=2.4)),
        (8, timedelta(hours=2.3), timedelta(hours=2.3)),
    ],
)
def test_what_was_put_off_by_a_clock_that_was_ahead_waits_no_longer_than_it_may(
    clock: Clock, attempts: int, ahead: timedelta, waits: timedelta
) -> None:
    subscription = make_subscription(make_form(make_account().id))
    delivery = make_delivery(subscription, attempts=attempts, next_at=clock.now + ahead)
    endpoint = db.session.get_one(CallbackEndpoint, delivery.endpoint_id)
    endpoint.paused_until = clock.now + ahead
    db.session.commit()

    bound_waits(now=clock.now)

    db.session.expire_all()
    assert db.session.get_one(EventDelivery, delivery.id).next_at == clock.now + waits
    assert endpoint.paused_until == clock.now + min(ahead, timedelta(hours=1))

"""Answers of receivers and the exact states that follow; what ends without an attempt."""

from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime

import pytest
from sqlalchemy import func, select

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.events.claiming import release_lost, taken
from tests.event_factories import make_attempt, make_delivery, make_event, make_subscription
from tests.factories import make_account, make_form
from webapp.base.database import db, to_millis
from webapp.base.vocabulary import DeliveryFailure, DeliveryKind, DeliveryState
from webapp.events import delivering
from webapp.events.delivering import asked_delay
from webapp.events.log import send_again
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


@pytest.fixture
def delivery(subscription: EventSubscription, clock: Clock) -> EventDelivery:
    event_id = make_event(subscription.form_id)
    return make_delivery(subscription, next_at=clock.now, event_id=event_id)


def take(clock: Clock) -> delivering.Claimed:
    (claimed,) = taken(1, now=clock.now)
    return claimed


def answer(clock: Clock, status: int | None, **more: object) -> delivering.AttemptResult:
    failures = {2: None, 3: DeliveryFailure.CHALLENGE_FAILED, 4: DeliveryFailure.HTTP_4XX}
    failure = failures.get((status or 0) // 100, DeliveryFailure.HTTP_5XX)
    if status is None:
        failure = DeliveryFailure.TIMEOUT
    values = {"retry_after": None, "reply": b""} | more
    return delivering.AttemptResult(clock.now, 12, "v1,c2ln", status, failure, **values)  # type: ignore[arg-type]


def attempt(clock: Clock, status: int | None, **more: object) -> delivering.Claimed:
    claimed = take(clock)
    assert delivering.settle(claimed, answer(clock, status, **more), now=clock.now)
    db.session.expire_all()
    return claimed


def endpoint_of(subscription: EventSubscription) -> CallbackEndpoint:
    return db.session.get_one(CallbackEndpoint, subscription.endpoint_id)


def test_an_attempt_is_kept_with_the_start_of_its_answer(
    clock: Clock, delivery: EventDelivery
) -> None:
    attempt(clock, 500, reply=b"\xff\x00" + b"x" * 5000)
    clock.forward(seconds=2)
    attempt(clock, None, reply=b"")

    first, second = db.session.scalars(select(DeliveryAttempt).order_by(DeliveryAttempt.id))
    assert (first.delivery_id, first.form_id) == (delivery.id, delivery.form_id)
    assert (first.number, first.status, first.failure) == (1, 500, DeliveryFailure.HTTP_5XX)
    assert (first.duration_ms, first.signature) == (12, "v1,c2ln")
    assert first.reply == "\ufffd\ufffd" + "x" * 2046
    assert (second.number, second.status, second.reply) == (2, None, None)
    assert second.started_at == clock.now


def test_other_answers_are_tried_again_by_the_schedule(
    clock: Clock, subscription: EventSubscription, delivery: EventDelivery
) -> None:
    status = 301
    subscription.expires_at = clock.now + timedelta(days=7)
    db.session.commit()
    for seconds in (1, 5, 30, 120, 600, 1800, 3600, 7200):
        attempt(clock, status)

        assert (delivery.state, delivery.settled_at) == (DeliveryState.PENDING, None)
        waited = (delivery.next_at - clock.now).total_seconds()
        assert 0.8 * seconds - 0.001 <= waited <= 1.2 * seconds
        clock.now = max(delivery.next_at, endpoint_of(subscription).paused_until or clock.now)
    attempt(clock, status)

    assert (delivery.state, delivery.settled_at) == (DeliveryState.ABANDONED, clock.now)
    assert (delivery.attempts, subscription.suspended_at) == (9, None)

    clock.now = endpoint_of(subscription).paused_until or clock.now
    send_again(delivery.account_id, delivery.id, now=clock.now)
    attempt(clock, status)
    assert delivery.state is DeliveryState.PENDING


def test_three_events_in_a_row_answered_410_suspend(
    clock: Clock, subscription: EventSubscription
) -> None:
    for place, status in enumerate([410, 410, 200, 410, 413, 410]):
        make_delivery(subscription, next_at=clock.now + timedelta(milliseconds=place))
        clock.forward(milliseconds=place)
        attempt(clock, status)
        assert subscription.suspended_at is None
    make_delivery(subscription, next_at=clock.now)
    waiting = make_delivery(subscription, next_at=clock.now + timedelta(milliseconds=1))

    attempt(clock, 410)

    assert subscription.suspended_at == clock.now
    assert taken(9, now=clock.forward(days=0.5)) == []
    assert waiting.state is DeliveryState.PENDING


def test_one_event_answered_410_again_and_again_counts_once(
    clock: Clock, subscription: EventSubscription, delivery: EventDelivery
) -> None:
    for _ in range(4):
        attempt(clock, 410)
        send_again(delivery.account_id, delivery.id, now=clock.now)

    assert (subscription.gone_count, subscription.suspended_at) == (1, None)


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ("17", 17),
        ("86400", 3600),
        ("9" * 5000, 3600),
        (lambda clock: format_datetime(clock.now + timedelta(seconds=90), usegmt=True), 90),
        ("Fri, 99 Dec 2026 23:59:59 GMT", None),
    ],
)
def test_what_a_receiver_asks_for_is_kept_to_within_bounds(
    clock: Clock, asked: str | Callable[[Clock], str], seconds: int | None
) -> None:
    delay = asked_delay(asked if isinstance(asked, str) else asked(clock), now=clock.now)

    assert delay is None if seconds is None else delay is not None
    if delay is not None and seconds is not None:
        assert seconds - 1 <= delay.total_seconds() <= seconds


def test_retry_after_holds_for_all_of_the_endpoint(
    clock: Clock, subscription: EventSubscription, delivery: EventDelivery
) -> None:
    attempt(clock, 429, retry_after="300")
    make_delivery(subscription, next_at=clock.now)

    until = clock.now + timedelta(seconds=300)
    assert delivery.next_at == endpoint_of(subscription).paused_until == until
    assert taken(9, now=clock.forward(seconds=299)) == []
    assert len(taken(9, now=clock.forward(seconds=1))) == 2


def test_five_failures_in_a_row_open_the_breaker_for_one_probe_at_a_time(
    clock: Clock, subscription: EventSubscription
) -> None:
    for _ in range(40):
        make_delivery(subscription, next_at=clock.now)
    endpoint = endpoint_of(subscription)
    for _ in range(4):
        attempt(clock, 500)
        assert endpoint.paused_until is None
    for seconds in (60, 120, 240, 480, 900, 900):
        attempt(clock, 500)
        assert endpoint.paused_until == clock.now + timedelta(seconds=seconds)
        assert taken(9, now=clock.forward(seconds=seconds - 1)) == []
        clock.forward(seconds=1)

    attempt(clock, 200)

    assert (endpoint.failures, endpoint.paused_until) == (0, None)
    assert len(taken(9, now=clock.now)) == 2


def test_who_lost_the_lease_changes_nothing(clock: Clock, delivery: EventDelivery) -> None:
    late = take(clock)
    release_lost(now=clock.now)
    clock.forward(seconds=2)
    held = take(clock)

    assert not delivering.settle(late, answer(clock, 500), now=clock.now)
    assert delivering.settle(held, answer(clock, 200), now=clock.now)

    db.session.expire_all()
    assert (delivery.state, delivery.attempts) == (DeliveryState.DELIVERED, 2)
    assert len(db.session.scalars(select(DeliveryAttempt)).all()) == 1


def test_what_was_cancelled_meanwhile_stays_so(clock: Clock, delivery: EventDelivery) -> None:
    claimed = take(clock)
    db.session.refresh(delivery)
    delivery.state = DeliveryState.CANCELLED
    db.session.commit()

    assert not delivering.settle(claimed, answer(clock, 500), now=clock.now)

    db.session.refresh(delivery)
    assert delivery.state is DeliveryState.CANCELLED


@pytest.mark.parametrize(
    ("status", "state"), [(204, DeliveryState.DELIVERED), (500, DeliveryState.ABANDONED)]
)
def test_an_envelope_is_sent_once_then_address_and_secret_are_erased(
    clock: Clock, subscription: EventSubscription, status: int, state: DeliveryState
) -> None:
    subscription.ended_at, subscription.previous_secret = clock.now, "sealed before"
    envelope = make_delivery(subscription, kind=DeliveryKind.TERMINATED, position=0)
    clock.forward(seconds=1)

    attempt(clock, status)

    assert (envelope.state, envelope.settled_at) == (state, clock.now)
    assert (subscription.url, subscription.secret, subscription.previous_secret) == (None,) * 3
    assert subscription.host


def test_the_oldest_of_a_queue_that_grew_too_long_are_abandoned(
    clock: Clock, subscription: EventSubscription
) -> None:
    other = make_subscription(make_form(make_account().id))
    start = to_millis(clock.now)
    queued = [make_delivery(subscription, position=start + place) for place in range(5)]
    for place in range(3):
        make_delivery(other, position=start + place)

    assert delivering.abandon_overflow(now=clock.now, most=3) == 2

    db.session.expire_all()
    states = [each.state for each in queued]
    assert states == [DeliveryState.ABANDONED] * 2 + [DeliveryState.PENDING] * 3
    assert queued[0].settled_at == clock.now
    assert (subscription.dropped, other.dropped) == (True, False)
    assert delivering.abandon_overflow(now=clock.now, most=3) == 0


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

    assert sum(delivering.purge_settled(clock.forward(days=30))) == 2

    db.session.expire_all()
    assert set(db.session.scalars(select(EventDelivery.id))) == kept_ids
    assert db.session.scalar(select(func.count(DeliveryAttempt.id))) == 1


@pytest.mark.parametrize("ahead", [timedelta(days=300), timedelta(hours=0.9)])
def test_waits_that_a_clock_ahead_has_written_are_bounded(
    delivery: EventDelivery, clock: Clock, ahead: timedelta
) -> None:
    endpoint = db.session.get_one(CallbackEndpoint, delivery.endpoint_id)
    delivery.next_at = endpoint.paused_until = clock.now + ahead
    db.session.commit()

    delivering.bound_waits(now=clock.now)

    db.session.expire_all()
    assert delivery.next_at == clock.now + min(ahead, timedelta(hours=2.4))
    assert endpoint.paused_until == clock.now + min(ahead, timedelta(hours=1))

"""The log of deliveries and of subscriptions, on both databases."""

from datetime import timedelta

import pytest

from tests.bulk import copy_rows
from tests.databases import both_databases
from tests.event_factories import make_attempt, make_delivery, make_subscription
from tests.factories import make_account, make_form
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import DeliveryFailure, DeliveryState
from webapp.events import delivery_log
from webapp.events import subscription_log as subscriptions
from webapp.events.delivery_log import (
    PAGE_DELIVERIES,
    DeliveryFilters,
    DeliveryRow,
    StateGroup,
    get_delivery,
    list_deliveries,
)
from webapp.events.due import OPEN_AFTER_FAILURES
from webapp.records.events import CallbackEndpoint, EventDelivery, EventSubscription

pytestmark = [pytest.mark.usefixtures("app_context"), both_databases]
LATER = timedelta(minutes=5)
ALL = DeliveryFilters()


@pytest.fixture
def subscription() -> EventSubscription:
    return make_subscription(make_form(make_account().id))


def ids(account_id: str, filters: DeliveryFilters = ALL) -> list[str]:
    return [row.id for row in list_deliveries(account_id, filters).deliveries]


def only(subscription: EventSubscription) -> DeliveryRow:
    (found,) = list_deliveries(subscription.account_id, ALL).deliveries
    return found


def make_copies(delivery: EventDelivery, count: int) -> None:
    """Further deliveries to the same subscription, each a second older."""
    begun, digits = delivery.created_at, delivery.event_id.removeprefix("evt_")
    copy_rows(
        EventDelivery.__table__,
        delivery.id,
        count,
        id=f"dlv_{digits}{{:08x}}".format,
        event_id=f"evt_{digits}{{:08x}}".format,
        created_at=lambda number: begun - (number + 1) * timedelta(seconds=1),
    )


def test_pages_follow_each_other_without_gap_or_repeat(subscription: EventSubscription) -> None:
    now = utc_now()
    made = [
        make_delivery(subscription, created_at=now - timedelta(minutes=number // 3)).id
        for number in range(2 * PAGE_DELIVERIES + 7)
    ]

    page = list_deliveries(subscription.account_id, ALL)
    found = [row.id for row in page.deliveries]
    while page.older:
        page = list_deliveries(subscription.account_id, ALL, before=page.older)
        found += [row.id for row in page.deliveries]

    assert sorted(found) == sorted(made)
    assert len(set(found)) == len(found)


def test_the_last_attempt_is_that_of_the_highest_number(subscription: EventSubscription) -> None:
    """Attempts are numbered through, also where an event is sent again."""
    delivery = make_delivery(subscription, attempts=1)
    late = {"status": None, "failure": DeliveryFailure.TIMEOUT, "reply": None}
    make_attempt(delivery, number=11, status=204)
    make_attempt(delivery, number=2, **late)

    row = only(subscription)
    details = get_delivery(subscription.account_id, delivery.id)

    assert (row.tries, row.status, row.failure) == (11, 204, None)
    assert [attempt.number for attempt in details.attempts] == [11, 2]
    assert details.attempts[1].failure is DeliveryFailure.TIMEOUT


@pytest.mark.parametrize("state", DeliveryState)
def test_every_state_is_in_one_group(subscription: EventSubscription, state: DeliveryState) -> None:
    one = make_delivery(subscription, state=state).id

    account_id = subscription.account_id
    found = [group for group in StateGroup if ids(account_id, DeliveryFilters(group)) == [one]]

    assert len(found) == 1


def test_an_endpoint_is_silent_from_an_open_breaker_on(subscription: EventSubscription) -> None:
    make_delivery(subscription)
    make_delivery(subscription, state=DeliveryState.SENDING)
    make_delivery(subscription, state=DeliveryState.DELIVERED)
    now = utc_now()
    endpoint = db.session.get_one(CallbackEndpoint, subscription.endpoint_id)
    # a receiver that asked for a pause
    endpoint.failures, endpoint.paused_until = OPEN_AFTER_FAILURES - 1, now + LATER
    db.session.commit()
    assert subscriptions.list_silent_hosts(subscription.account_id, now=now) == []

    endpoint.failures = OPEN_AFTER_FAILURES
    db.session.commit()
    (silent,) = subscriptions.list_silent_hosts(subscription.account_id, now=now)
    assert (silent.host, silent.waiting, silent.answered_at) == (subscription.host, 2, None)

    later = subscription.expires_at + LATER
    assert subscriptions.list_silent_hosts(subscription.account_id, now=later) == []


def test_looking_further_back_finds_each_once(
    subscription: EventSubscription, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery_log, "LOOKED_AT", 100)
    make_copies(make_delivery(subscription, state=DeliveryState.DELIVERED), 330)
    failed = [
        make_delivery(
            subscription,
            state=DeliveryState.ABANDONED,
            created_at=utc_now() - timedelta(seconds=seconds, milliseconds=500),
        ).id
        for seconds in (5, 250, 251, 400)
    ]

    pages = [list_deliveries(subscription.account_id, DeliveryFilters(StateGroup.FAILED))]
    while older := pages[-1].older:
        filters = DeliveryFilters(StateGroup.FAILED)
        pages.append(list_deliveries(subscription.account_id, filters, before=older))

    assert [row.id for page in pages for row in page.deliveries] == failed
    assert [len(page.deliveries) for page in pages] == [1, 0, 2, 1]
    assert [page.is_cut_short for page in pages] == [True, True, True, False]

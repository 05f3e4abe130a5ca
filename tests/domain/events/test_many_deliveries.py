"""What is done for one form costs the same, however many subscriptions others have."""

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.bulk import copy_rows
from tests.databases import both_databases
from tests.domain.events.subscribing import asked_for
from tests.event_factories import make_delivery, make_subscription
from tests.factories import make_account, make_form
from tests.query_plans import statements_of, steps_of
from webapp.database import utc_now, write_transaction
from webapp.domain.events.cursors import watermark
from webapp.domain.events.deliveries import log
from webapp.domain.events.deliveries.claims import read_due
from webapp.domain.events.deliveries.expiry import purge_settled
from webapp.domain.events.deliveries.log import DeliveryFilters, StateGroup, list_deliveries
from webapp.domain.events.deliveries.sharing import Room
from webapp.domain.events.models import EventDelivery, EventSubscription
from webapp.domain.events.outbox import cancel_events, queue_deliveries
from webapp.domain.events.subscriptions.endings import end_expired
from webapp.domain.events.subscriptions.subscribing import check_asked, list_subscriptions
from webapp.domain.responses.models import Completion
from webapp.domain.shared.vocabulary import DeliveryState

ROWS = 3000


@pytest.fixture
def form(app_context: None) -> Any:
    form = make_form(make_account().id)
    make_delivery(make_subscription(form))
    return form


def make_others() -> None:
    """Many subscriptions to another form, each with a delivery that was settled just now."""
    other = make_subscription(make_form(make_account().id))
    settled = make_delivery(other, state=DeliveryState.DELIVERED, settled_at=utc_now())
    copy_rows(EventSubscription.__table__, other.id, ROWS, id="sub_{}".format)
    copy_deliveries(settled, ROWS, subscription_id="sub_{}".format)


def copy_deliveries(delivery: EventDelivery, count: int, **new: Callable[[int], Any]) -> None:
    new |= {name: f"{delivery.id}_{name}_{{}}".format for name in ("id", "event_id")}
    copy_rows(EventDelivery.__table__, delivery.id, count, **new)


def queue(form: Any) -> None:
    session_id = f"ses_{secrets.token_hex(12)}"
    completion = Completion(form.id, session_id, form.last_stamp + 1, 1, is_awaited=True)
    with write_transaction() as connection:
        queue_deliveries(connection, completion, now=utc_now())


def cancel(_form: Any) -> None:
    with write_transaction():
        cancel_events(["ses_1"], now=utc_now())


def settled_up_to(form: Any) -> None:
    watermark("sub_1", form.id)


def room(form: Any) -> None:
    check_asked(asked_for(form, "con_1"), now=utc_now())


def listed(form: Any) -> None:
    list_subscriptions(form.account_id, form.id, now=utc_now())


def expired(_form: Any) -> None:
    list(end_expired(utc_now()))


def settled_long_ago(_form: Any) -> None:
    list(purge_settled(utc_now()))


def due(_form: Any) -> None:
    read_due(100, Room(100), now=utc_now())


CALLS = (queue, cancel, settled_up_to, room, listed, expired, settled_long_ago, due)


def test_those_of_others_cost_nothing(form: Any) -> None:
    def steps() -> dict[str, int]:
        return {call.__name__: steps_of(partial(call, form)) for call in CALLS}

    few = steps()
    make_others()

    assert {name: steps for name, steps in steps().items() if steps > few[name] + ROWS} == {}


@pytest.mark.parametrize(
    "filters",
    [
        DeliveryFilters(),
        DeliveryFilters(StateGroup.FAILED),
        DeliveryFilters(form_id="frm_other"),
        DeliveryFilters(host="other.example:443"),
    ],
)
def test_a_page_of_the_log_costs_the_same_however_long_it_is(
    form: Any, filters: DeliveryFilters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "LOOKED_AT", 100)
    page = partial(list_deliveries, form.account_id, filters)
    subscription = make_subscription(form)
    copy_deliveries(make_delivery(subscription), 200)
    short = steps_of(page)

    copy_deliveries(make_delivery(subscription), ROWS)

    assert steps_of(page) <= short + ROWS


@both_databases
def test_queueing_is_one_statement(form: Any) -> None:
    assert len(statements_of(partial(queue, form))) == 1

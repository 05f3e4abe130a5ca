"""Statements about subscriptions go through their index, however many others there are."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Table

from tests.bulk import analyze, copy_rows
from tests.databases import both_databases
from tests.domain.events.subscribing import asked_for
from tests.event_factories import make_delivery, make_subscription
from tests.factories import make_account, make_form
from tests.query_plans import plan_of, statements_of
from webapp.database import utc_now, write_transaction
from webapp.domain.events.cursors import watermark
from webapp.domain.events.deliveries.expiry import purge_settled
from webapp.domain.events.models import EventDelivery, EventSubscription
from webapp.domain.events.outbox import cancel_events, queue_deliveries
from webapp.domain.events.subscriptions.endings import end_expired
from webapp.domain.events.subscriptions.subscribing import list_subscriptions, needs_challenge
from webapp.domain.responses.models import Completion

ROWS = 3000
EVENTS_OF_ONE = 200


@pytest.fixture
def form(app_context: None) -> Any:
    """A form with one subscription among many, whose deliveries are many, too."""
    subscriptions, deliveries = _table(EventSubscription), _table(EventDelivery)
    other = make_subscription(make_form(make_account().id))
    copy_rows(subscriptions, other.id, ROWS, id="sub_{}".format)
    copied = make_delivery(other)
    copy_rows(
        deliveries,
        copied.id,
        ROWS,
        id="dlv_{}".format,
        event_id="evt_{}".format,
        subscription_id=lambda number: f"sub_{number}",
    )
    form = make_form(make_account().id)
    mine = make_delivery(make_subscription(form))
    digits = range(EVENTS_OF_ONE)
    copy_rows(
        deliveries, mine.id, len(digits), id="dlv_mine_{}".format, event_id="evt_mine_{}".format
    )
    analyze()
    return form


def _table(model: Any) -> Table:
    table: Table = model.__table__
    return table


def queue(form: Any) -> None:
    completion = Completion(form.id, "ses_new", form.last_stamp + 1, 1, is_awaited=True)
    with write_transaction() as connection:
        queue_deliveries(connection, completion, now=utc_now())


def cancel(form: Any) -> None:
    with write_transaction():
        cancel_events(["ses_1"], now=utc_now())


def settled_up_to(form: Any) -> None:
    watermark("sub_1", form.id)


def room(form: Any) -> None:
    needs_challenge(asked_for(form, "con_1"), now=utc_now())


def listed(form: Any) -> None:
    list_subscriptions(form.account_id, form.id, now=utc_now())


def expired(_form: Any) -> None:
    list(end_expired(utc_now()))


def settled_long_ago(_form: Any) -> None:
    list(purge_settled(utc_now()))


HOT = {
    queue: "ix_event_subscriptions_of_form",
    cancel: "uq_event_deliveries_event_id",
    settled_up_to: "ix_event_deliveries_",
    room: "ix_event_subscriptions_of_account",
    listed: "ix_event_subscriptions_of_form",
    expired: "ix_event_subscriptions_ending",
    settled_long_ago: "ix_event_deliveries_settled",
}
BIG = ("event_subscriptions", "event_deliveries")


@both_databases
@pytest.mark.parametrize("call", HOT, ids=lambda call: call.__name__)
def test_what_many_wait_for_reads_no_table_whole(form: Any, call: Callable[[Any], None]) -> None:
    plan = plan_of(partial(call, form))

    whole = [s for s in plan if s.startswith(("SCAN", "Seq Scan")) and s.strip().endswith(BIG)]
    assert whole == [], plan
    through = HOT[call]
    assert any(through in step or "autoindex_event_deliveries" in step for step in plan), plan


@both_databases
def test_queueing_is_one_statement(form: Any) -> None:
    assert len(statements_of(partial(queue, form))) == 1

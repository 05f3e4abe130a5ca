"""Deliveries are queued with the completion of a response, and cancelled with its withdrawal."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from tests.databases import both_databases
from tests.domain.events.subscribing import deliveries, states
from tests.event_factories import make_delivery, make_subscription
from tests.factories import make_account, make_answer, make_form, make_response
from webapp.answers.answering import complete_response, withdraw_response
from webapp.base.database import db, to_millis, utc_now
from webapp.base.vocabulary import DeliveryKind, DeliveryState
from webapp.events.outbox import event_id_of
from webapp.records.responses.models import ResponseSession

pytestmark = both_databases
KEY = "a" * 32


@pytest.fixture
def form(app_context: None) -> Any:
    return make_form(make_account().id)


def complete(form: Any, **given: Any) -> list[str] | None:
    return complete_response(form.share_token, KEY, responder_name="", now=utc_now(), **given)


def session() -> ResponseSession:
    return db.session.scalars(select(ResponseSession)).one()


def test_completing_queues_a_delivery_for_each_live_subscription(form: Any) -> None:
    now = utc_now()
    live = make_subscription(form)
    suspended = make_subscription(form, suspended_at=now)
    make_subscription(form, ended_at=now)
    make_subscription(form, expires_at=now - timedelta(milliseconds=1))
    make_subscription(make_form(form.account_id))
    make_answer(form, KEY)
    make_answer(form, KEY, position=1)

    queued = complete(form)

    found = deliveries()
    assert {each.id for each in found} == set(queued or ())
    assert {each.subscription_id for each in found} == {live.id, suspended.id}
    done = session()
    for each in found:
        assert each.event_id == event_id_of(done.id) == "evt_" + done.id.removeprefix("ses_")
        assert each.id == f"dlv_{each.event_id[4:]}{each.subscription_id[4:]}"
        assert (each.account_id, each.form_id) == (form.account_id, form.id)
        assert (each.endpoint_id, each.host) in [
            (one.endpoint_id, one.host) for one in (live, suspended)
        ]
        assert (each.kind, each.state) == (DeliveryKind.EVENT, DeliveryState.PENDING)
        assert (each.answer_count, each.position) == (2, done.completed_stamp)
        assert (each.attempts, each.body, each.lease_until, each.settled_at) == (0, *[None] * 3)
        assert now <= each.next_at == each.created_at <= utc_now()


def test_a_delivery_is_due_at_once_also_when_the_clock_was_set_back(form: Any) -> None:
    make_subscription(form)
    make_answer(form, KEY)
    now = utc_now() - timedelta(hours=1)

    complete_response(form.share_token, KEY, responder_name="", now=now)

    (delivery,) = deliveries()
    assert delivery.next_at == now
    assert delivery.position > to_millis(now)


def test_withdrawing_cancels_what_is_not_settled(form: Any) -> None:
    make_answer(form, KEY)
    complete(form, events=False)
    event_id, now = event_id_of(session().id), utc_now()
    lease = now + timedelta(seconds=30)
    for state in (DeliveryState.DELIVERED, DeliveryState.SENDING, DeliveryState.PENDING):
        leased = {"lease_until": lease} if state is DeliveryState.SENDING else {}
        make_delivery(make_subscription(form), event_id=event_id, state=state, **leased)
    make_response(form)  # of somebody else

    withdraw_response(form.share_token, KEY, now=now)

    assert Counter(states()) == {"cancelled": 2, "delivered": 1, "pending": 3}
    assert {each.lease_until for each in deliveries()} == {None}
    assert {each.settled_at for each in deliveries() if each.state == "cancelled"} == {now}

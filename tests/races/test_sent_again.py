"""Sending again beside what ends the event: nothing waits of what is gone."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.databases import both_databases
from tests.event_factories import make_subscription
from tests.factories import make_form, make_response
from tests.races.threads import together
from webapp.answers.answering import withdraw_response
from webapp.base.database import db, execute, utc_now, write_transaction
from webapp.base.errors import StateConflict
from webapp.base.vocabulary import DeliveryState
from webapp.events.delivery_log import send_again
from webapp.events.endings import unsubscribe
from webapp.records.accounts.models import Account
from webapp.records.events import EventDelivery

ROUNDS = 24
UNSETTLED = (DeliveryState.PENDING, DeliveryState.SENDING)
SETTLED = {"state": DeliveryState.DELIVERED, "settled_at": utc_now()}

pytestmark = both_databases


def withdraw(form: Any, session_key: str, _subscription_id: str) -> None:
    withdraw_response(form.share_token, session_key, now=utc_now())


def sign_off(form: Any, _session_key: str, subscription_id: str) -> None:
    unsubscribe(form.account_id, form.id, subscription_id, now=utc_now())


def sent_again(account_id: str, delivery_id: str) -> None:
    with suppress(StateConflict):
        send_again(account_id, delivery_id, now=utc_now())


@pytest.mark.parametrize("end", [withdraw, sign_off])
def test_nothing_waits_that_was_ended_meanwhile(
    app: Flask, account: Account, end: Callable[..., None]
) -> None:
    for _ in range(ROUNDS):
        with app.app_context():
            form = make_form(account.id)
            subscription_id = make_subscription(form).id
            session_key = make_response(form)
            with write_transaction():
                delivered = update(EventDelivery).where(EventDelivery.form_id == form.id)
                execute(delivered.values(SETTLED))
            mine = select(EventDelivery.id).where(EventDelivery.form_id == form.id)
            one = db.session.scalars(mine).one()

        ended = partial(end, form, session_key, subscription_id)
        together(app, [partial(sent_again, account.id, one), ended])

    with app.app_context():
        left = select(EventDelivery.id).where(EventDelivery.state.in_(UNSETTLED))
        assert db.session.scalars(left).all() == []

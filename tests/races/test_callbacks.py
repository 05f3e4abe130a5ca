"""Callbacks that wait for their creator, and confirmations alongside their end."""

from collections import Counter
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.domain.events.subscribing import asked_for, make_grant, subscribe_now, subscriptions
from tests.factories import make_form
from tests.races.threads import allowed, together
from webapp.base.database import db, utc_now
from webapp.events.callbacks import (
    WAITING_MAX,
    Asked,
    confirm_callback,
    endpoint_id,
    note_unverified,
)
from webapp.events.endings import remove_callback
from webapp.oauth.connections import disconnect
from webapp.records.accounts.models import Account
from webapp.records.events import CallbackEndpoint

pytestmark = both_databases


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(account.id)


@pytest.fixture
def grant_id(app: Flask, account: Account) -> str:
    with app.app_context():
        return make_grant(account.id)


def test_the_bound_of_addresses_that_wait_is_exact(app: Flask, form: Any, grant_id: str) -> None:
    each = [
        asked_for(form, grant_id, url=f"https://hooks.example.com/{number}")
        for number in range(WAITING_MAX + 12)
    ]

    waits = together(app, [partial(note_unverified, one, "200", now=utc_now()) for one in each])

    assert Counter(waits) == {True: WAITING_MAX, False: 12}


def confirm(asked: Asked) -> None:
    callback = endpoint_id(asked.account_id, asked.url)
    confirm_callback(asked.account_id, callback, allowed_origins=frozenset(), now=utc_now())


@pytest.fixture
def waiting(app: Flask, form: Any, grant_id: str) -> Asked:
    """An address that waits for its creator."""
    asked = asked_for(form, grant_id)
    with app.app_context():
        note_unverified(asked, "200", now=utc_now())
    return asked


@pytest.mark.parametrize("attempt", range(4))
def test_what_subscribes_alongside_a_removal_ends_or_is_refused(
    app: Flask, waiting: Asked, attempt: int
) -> None:
    with app.app_context():
        confirm(waiting)
    callback = endpoint_id(waiting.account_id, waiting.url)

    again = allowed(partial(subscribe_now, waiting, confirmed=True))
    remove = partial(remove_callback, waiting.account_id, callback, now=utc_now())
    results = together(app, [again, again, remove, again])

    assert {each for each in results if isinstance(each, str)} <= {"callback_failed"}
    with app.app_context():
        assert [each.url for each in subscriptions() if each.ended_at is None] == []


@pytest.mark.parametrize("attempt", range(4))
def test_no_confirmation_outlives_its_connection(app: Flask, waiting: Asked, attempt: int) -> None:
    end = partial(disconnect, waiting.account_id, waiting.grant_id, now=utc_now())
    again = allowed(partial(confirm, waiting))
    first, _, second = together(app, [again, end, again])

    assert {first, second} <= {None, "not_found"}
    with app.app_context():
        kept = db.session.execute(select(CallbackEndpoint.url, CallbackEndpoint.confirmed_at))
        assert kept.all() == [(None, None)]

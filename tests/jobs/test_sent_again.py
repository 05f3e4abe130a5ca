"""From a failed delivery to the one that its creator sends again, and the page of both."""

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import select
from standardwebhooks import Webhook

from jobs.deliver import Deliverer
from tests.conftest import Clock
from tests.databases import both_databases
from tests.event_factories import make_delivery, make_event
from tests.factories import make_form
from tests.jobs.conftest import Allow
from tests.jobs.receiving import Receivers, new_secret, receivers, subscribe
from tests.pages.creator_client import Creator, creator, plain
from webapp.base.database import db
from webapp.base.vocabulary import DeliveryState
from webapp.records.accounts.models import Account
from webapp.records.events import DeliveryAttempt, EventDelivery

pytestmark = both_databases
SECRET = new_secret()


@pytest.fixture
def ann(app: Flask, account: Account) -> Creator:
    return creator(app, account)


@pytest.fixture
def place(allow: Allow) -> Iterator[Receivers]:
    """A receiver that is gone at first, and back at the second try."""
    with receivers(lambda number: 410 if number == 1 else 200) as found:
        allow(found.origin)
        yield found


def test_what_was_dropped_is_sent_again_as_it_was(
    app: Flask, ann: Creator, clock: Clock, deliverer: Deliverer, place: Receivers
) -> None:
    with app.app_context():
        form = make_form(ann.account.id)
        subscription = subscribe(form, f"{place.origin}/in", SECRET)
        one = make_delivery(subscription, next_at=clock.now, event_id=make_event(form.id)).id
    deliverer.work()
    assert "Turned away, 410" in plain(ann.page(f"/deliveries/{one}").text)

    assert ann.post(f"/deliveries/{one}/again").status_code == 303
    deliverer.work()

    first, second = place.got
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    Webhook(SECRET).verify(second.body, second.headers)
    page = plain(ann.page(f"/deliveries/{one}").text)
    assert "Arrived, 200" in page
    assert page.index("Try 2 It arrived.") < page.index("Try 1 The address says that it is gone")
    with app.app_context():
        assert db.session.get_one(EventDelivery, one).state is DeliveryState.DELIVERED
        attempts = select(DeliveryAttempt.signature).order_by(DeliveryAttempt.number)
        signatures = list(db.session.scalars(attempts))
    for request, signature in zip(place.got, signatures, strict=True):
        assert request.headers["webhook-signature"] == signature
        for name in ("webhook-timestamp", "webhook-signature", "X-MCP-Subscription-Id"):
            assert f"{name}: {request.headers[name]}" in page

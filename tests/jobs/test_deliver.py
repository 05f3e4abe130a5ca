"""Attempts through real sockets: what receivers get, and what follows from what they answer."""

import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
from flask import Flask
from sqlalchemy import select, update
from standardwebhooks import Webhook as Verifier

from jobs import deliver
from jobs.deliver import Deliverer
from tests.conftest import Clock
from tests.databases import both_databases, on_postgresql
from tests.event_factories import make_delivery
from tests.factories import make_account, make_form
from tests.jobs.conftest import Allow
from tests.jobs.receiving import new_secret, states, subscribe
from tests.raw_receiver import Answer, raw_receiver, says
from tests.services import wait_until
from tests.webhook_receiver import Webhook, webhook_receiver
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import DeliveryFailure, DeliveryState
from webapp.events import callbacks, delivering
from webapp.events.callbacks import callback_bounds
from webapp.events.delivering import AttemptResult, Claimed, settle
from webapp.records.events import (
    CallbackEndpoint,
    DeliveryAttempt,
    EventDelivery,
    EventSubscription,
)

PENDING, DROPPED = DeliveryState.PENDING, DeliveryState.DROPPED
DELIVERED = DeliveryState.DELIVERED
REFUSED, TIMEOUT = DeliveryFailure.CONNECTION_REFUSED, DeliveryFailure.TIMEOUT
HTTP_4XX, HTTP_5XX = DeliveryFailure.HTTP_4XX, DeliveryFailure.HTTP_5XX


def queued(app: Flask, *urls: str, each: int = 1) -> list[str]:
    """The ids of so many due deliveries to each of these addresses."""
    with app.app_context():
        form = make_form(make_account().id)
        to = [subscribe(form, url) for url in urls]
        return [make_delivery(subscription).id for subscription in to for _ in range(each)]


def state_of(app: Flask, delivery_id: str) -> tuple[str, str | None]:
    """The state of a delivery and the failure of its last attempt."""
    with app.app_context():
        failures = select(DeliveryAttempt.failure).order_by(DeliveryAttempt.id.desc())
        delivery = db.session.get_one(EventDelivery, delivery_id)
        return delivery.state, db.session.scalars(failures).first()


@pytest.fixture
def shorter_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second for each attempt."""

    def bounds(origins: frozenset[str], **given: Any) -> object:
        return replace(callback_bounds(origins, **given), total_seconds=1, connect_seconds=1)

    monkeypatch.setattr(callbacks, "callback_bounds", bounds)


@contextmanager
def at_work(*workers: Deliverer) -> Iterator[None]:
    """Each works until nothing is due."""
    threads = [threading.Thread(target=each.work) for each in workers]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join()


@both_databases
def test_a_receiver_verifies_every_try_of_the_same_bytes(
    app: Flask, deliverer: Deliverer, allow: Allow, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, old = new_secret(), new_secret()
    with webhook_receiver() as place:
        place.status = lambda number: 500 if number < 3 else 204
        allow(place.origin)
        with app.app_context():
            form = make_form(make_account().id)
            subscription = subscribe(form, f"{place.origin}/a?k=9", secret)
            sealed_for = f"event_subscriptions/{subscription.id}/secret"
            subscription.previous_secret = deliver.sealer().seal(old, place=sealed_for)
            subscription.previous_until = clock.now + timedelta(seconds=1)
            db.session.commit()
            delivery = make_delivery(subscription, next_at=clock.now)
        monkeypatch.setattr(deliver, "utc_now", lambda: clock.now)
        for _ in range(3):
            deliverer.work()
            clock.forward(seconds=7)

    assert state_of(app, delivery.id) == (DELIVERED, None)
    assert {request.target for request in place.posted} == {"/a?k=9"}
    assert len({request.body for request in place.posted}) == 1
    assert len({request.headers["webhook-timestamp"] for request in place.posted}) == 3
    for request in place.posted:
        assert Verifier(secret).verify(request.body, request.headers)["eventId"]
        assert request.headers["webhook-id"] == delivery.event_id
        assert request.headers["x-mcp-subscription-id"] == delivery.subscription_id
        assert request.headers["content-type"] == "application/json"
    with app.app_context():
        signatures = select(DeliveryAttempt.signature).order_by(DeliveryAttempt.number)
        kept = list(db.session.scalars(signatures))
    assert kept == [request.headers["webhook-signature"] for request in place.posted]
    assert Verifier(old).verify(place.posted[0].body, place.posted[0].headers)
    assert " " not in place.posted[-1].headers["webhook-signature"]  # the old one signs for a time


def resets(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def status(line: str, *headers: str) -> Answer:
    head = "\r\n".join([f"HTTP/1.1 {line}", *headers, "Content-Length: 0", "", ""])
    return says(head.encode())


OK = b"HTTP/1.1 200 OK\r\n\r\n"
RECEIVERS: dict[str, tuple[Answer, DeliveryState, DeliveryFailure | None]] = {
    "204": (status("204 No Content"), DELIVERED, None),
    "410": (status("410 Gone"), DROPPED, HTTP_4XX),
    "429": (status("429 Too Many Requests", "Retry-After: 77"), PENDING, HTTP_4XX),
    "500": (status("500 Internal Server Error"), PENDING, HTTP_5XX),
    "reset": (resets, PENDING, REFUSED),
    "garbled": (says(b"SSH-2.0-OpenSSH_9.9\r\n"), PENDING, REFUSED),
    "stalled TLS": (lambda connection: time.sleep(8), PENDING, TIMEOUT),
    "drip of the head": (says(b"H", pause=0.1, repeat=300), PENDING, TIMEOUT),
    "1 GB": (says(OK, *[b"x" * 2**20] * 1024), DELIVERED, None),
}


def attempt(app: Flask, deliverer: Deliverer, allow: Allow, name: str) -> tuple[float, str]:
    """How long an attempt at this receiver took, and the delivery."""
    tls = name == "stalled TLS"
    with raw_receiver(RECEIVERS[name][0], reads=not tls) as receiver:
        origin = f"http{'s' * tls}://127.0.0.1:{receiver.port}"
        allow(origin)
        (delivery_id,) = queued(app, origin)
        began = time.monotonic()
        deliverer.work()
        return time.monotonic() - began, delivery_id


@pytest.mark.usefixtures("shorter_bounds")
@pytest.mark.parametrize("name", RECEIVERS)
def test_what_follows_from_an_answer(
    app: Flask, deliverer: Deliverer, allow: Allow, name: str
) -> None:
    _, state, failure = RECEIVERS[name]

    took, delivery_id = attempt(app, deliverer, allow, name)

    assert state_of(app, delivery_id) == (state, failure)
    assert took < 5
    with app.app_context():
        endpoint = db.session.scalars(select(CallbackEndpoint)).one()
        asked = endpoint.paused_until is not None
        assert (endpoint.failures, asked) == (int(state is PENDING), name == "429")


def test_a_secret_that_no_key_opens_stops_nothing_else(
    app: Flask, deliverer: Deliverer, place: Webhook
) -> None:
    closed, opened = queued(app, f"{place.origin}/1", f"{place.origin}/2")
    with app.app_context():
        of_closed = EventSubscription.url == f"{place.origin}/1"
        db.session.execute(update(EventSubscription).where(of_closed).values(secret="old:AAAA"))
        db.session.commit()

    for _ in range(2):
        deliverer.work()

    assert [request.target for request in place.posted] == ["/2"]
    assert state_of(app, opened)[0] == DELIVERED
    with app.app_context():
        held_back = db.session.get_one(EventDelivery, closed)
        assert (held_back.state, held_back.attempts) == (PENDING, 0)
        suspended = db.session.get_one(EventSubscription, held_back.subscription_id)
        assert suspended.suspended_at is not None


def test_an_error_of_ours_hammers_nobody_and_stops_nothing_else(
    app: Flask, deliverer: Deliverer, place: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(claimed: Claimed, result: AttemptResult, *, now: datetime) -> None:
        if claimed.url.endswith("/1"):
            raise ZeroDivisionError
        settle(claimed, result, now=now)

    monkeypatch.setattr(delivering, "settle", broken)
    ours, other = queued(app, f"{place.origin}/1", f"{place.origin}/2")
    began = utc_now()
    deliverer.work()

    assert state_of(app, other)[0] == DELIVERED
    assert sorted(request.target for request in place.posted) == ["/1", "/2"]
    with app.app_context():
        waiting = db.session.get_one(EventDelivery, ours)
        assert (waiting.state, waiting.attempts) == (PENDING, 1)
        assert waiting.next_at >= began + timedelta(seconds=0.8)


@on_postgresql
@pytest.mark.parametrize(
    ("endpoints", "each"), [(20, 10), pytest.param(40, 250, marks=pytest.mark.prove)]
)
def test_four_processes_send_each_row_once(
    app: Flask, place: Webhook, endpoints: int, each: int
) -> None:
    queued(app, *(f"{place.origin}/{number}" for number in range(endpoints)), each=each)
    label(app, None)  # one host would bound them all
    began = time.monotonic()
    with at_work(*(Deliverer(app, threads=8) for _ in range(4))):
        pass
    took = time.monotonic() - began

    rows = endpoints * each
    print(f"{rows} rows, {rows / took:.0f} a second")
    sent = Counter(orjson.loads(request.body)["eventId"] for request in place.posted)
    assert states(app) == {DELIVERED: rows}
    assert (len(sent), max(sent.values())) == (rows, 1)


@both_databases
@pytest.mark.parametrize(("accounts", "host", "takes"), [(5, None, None), (2, "one:443", 20)])
def test_receivers_that_hang_stand_in_nobodys_way(
    app: Flask,
    allow: Allow,
    deliverer: Deliverer,
    accounts: int,
    host: str | None,
    takes: int | None,
) -> None:
    """Fifty that were quick, or are new; also at the host of the live one."""
    released = threading.Event()
    with raw_receiver(lambda _: released.wait(60) and None) as hole, webhook_receiver() as place:
        allow(hole.origin, place.origin)
        for number in range(accounts):
            urls = [f"{hole.origin}/{number}/{path}" for path in range(50 // accounts)]
            queued(app, *urls, each=3)
        label(app, host, duration_ms=takes)
        with at_work(deliverer):
            wait_until(
                lambda: 0 < hole.connections == len(deliverer.running), "taking what they may"
            )
            queued(app, *(f"{place.origin}/{number}" for number in range(3)), each=10)
            label(app, host)
            deliverer.take([])
            wait_until(lambda: len(place.posted) == 30, "delivering to the live ones")
            deliverer.refuse()
            released.set()


def label(app: Flask, host: str | None, **values: object) -> None:
    """Name the hosts of all endpoints; None: each has one of its own."""
    with app.app_context():
        db.session.execute(
            update(CallbackEndpoint).values(host=host or CallbackEndpoint.id, **values)
        )
        db.session.execute(update(EventDelivery).values(host=host or EventDelivery.endpoint_id))
        db.session.commit()


def test_what_runs_is_finished_and_nothing_more_is_claimed(
    app: Flask, allow: Allow, deliverer: Deliverer
) -> None:
    with webhook_receiver() as place:
        place.seconds = 0.5
        allow(place.origin)
        queued(app, place.origin, each=5)
        with app.app_context():  # it is new, and gets one at a time
            db.session.execute(update(CallbackEndpoint).values(duration_ms=None))
            db.session.commit()
        with at_work(deliverer):
            wait_until(lambda: len(place.posted) == 1, "being sent")
            deliverer.stop()

    assert (len(place.posted), deliverer.running) == (1, {})

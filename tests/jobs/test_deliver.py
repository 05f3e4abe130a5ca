"""Attempts through real sockets: what receivers get, and what follows from what they answer."""

import socket
import struct
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
from flask import Flask
from sqlalchemy import select, update
from standardwebhooks import Webhook

from jobs import deliver
from jobs.deliver import Deliverer
from tests.conftest import Clock
from tests.databases import both_databases
from tests.event_factories import make_delivery
from tests.factories import make_account, make_form
from tests.jobs.conftest import Allow
from tests.jobs.receiving import new_secret, receivers, subscribe
from tests.raw_receiver import Answer, raw_receiver, says
from tests.services import wait_until
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import DeliveryFailure, DeliveryState
from webapp.events.callbacks import callback_bounds
from webapp.events.claims import Claimed
from webapp.events.settling import AttemptResult, settle
from webapp.records.events import (
    CallbackEndpoint,
    DeliveryAttempt,
    EventDelivery,
    EventSubscription,
)

pytestmark = both_databases


def state_of(app: Flask, delivery_id: str) -> tuple[str, str | None]:
    """The state of a delivery and the failure of its last attempt."""
    with app.app_context():
        failures = select(DeliveryAttempt.failure).order_by(DeliveryAttempt.id.desc())
        delivery = db.session.get_one(EventDelivery, delivery_id)
        return delivery.state, db.session.scalars(failures).first()


def test_a_receiver_verifies_every_try_of_the_same_bytes(
    app: Flask, deliverer: Deliverer, allow: Allow, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, old = new_secret(), new_secret()
    with receivers(lambda number: 500 if number < 3 else 204) as place:
        allow(place.origin)
        with app.app_context():
            form = make_form(make_account().id)
            subscription = subscribe(form, f"{place.origin}/a?k=9", secret)
            rotated = deliver.sealer().seal(
                old, place=f"event_subscriptions/{subscription.id}/secret"
            )
            subscription.previous_secret = rotated
            subscription.previous_until = clock.now + timedelta(seconds=1)
            db.session.commit()
            delivery = make_delivery(subscription, next_at=clock.now)
        monkeypatch.setattr(deliver, "utc_now", lambda: clock.now)
        for _ in range(3):
            deliverer.work()
            clock.forward(seconds=7)

    assert state_of(app, delivery.id) == (DeliveryState.DELIVERED, None)
    assert {request.path for request in place.got} == {"/a?k=9"}
    assert len({request.body for request in place.got}) == 1
    assert len({request.headers["webhook-timestamp"] for request in place.got}) == 3
    for request in place.got:
        assert Webhook(secret).verify(request.body, request.headers)["eventId"]
        assert request.headers["webhook-id"] == delivery.event_id
        assert request.headers["X-MCP-Subscription-Id"] == delivery.subscription_id
        assert request.headers["Content-Type"] == "application/json"
    assert Webhook(old).verify(place.got[0].body, place.got[0].headers)
    assert " " not in place.got[-1].headers["webhook-signature"]  # the old one signs for a time


def resets(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def status(line: str, *headers: str) -> Answer:
    head = "\r\n".join([f"HTTP/1.1 {line}", *headers, "Content-Length: 0", "", ""])
    return says(head.encode())


OK = b"HTTP/1.1 200 OK\r\n\r\n"
PENDING, DROPPED = DeliveryState.PENDING, DeliveryState.DROPPED
DELIVERED = DeliveryState.DELIVERED
REFUSED, TIMEOUT = DeliveryFailure.CONNECTION_REFUSED, DeliveryFailure.TIMEOUT
HTTP_4XX, HTTP_5XX = DeliveryFailure.HTTP_4XX, DeliveryFailure.HTTP_5XX
RECEIVERS: dict[str, tuple[Answer, DeliveryState, DeliveryFailure | None]] = {
    "200": (status("200 OK"), DELIVERED, None),
    "204": (status("204 No Content"), DELIVERED, None),
    "400": (status("400 Bad Request"), PENDING, HTTP_4XX),
    "410": (status("410 Gone"), DROPPED, HTTP_4XX),
    "413": (status("413 Content Too Large"), DROPPED, HTTP_4XX),
    "429": (status("429 Too Many Requests", "Retry-After: 77"), PENDING, HTTP_4XX),
    "500": (status("500 Internal Server Error"), PENDING, HTTP_5XX),
    "reset": (resets, PENDING, REFUSED),
    "nothing": (says(), PENDING, REFUSED),
    "garbled": (says(b"SSH-2.0-OpenSSH_9.9\r\n"), PENDING, REFUSED),
    "drip of the head": (says(b"H", pause=0.1, repeat=300), PENDING, TIMEOUT),
    "1 GB": (says(OK, *[b"x" * 2**20] * 1024), DELIVERED, None),
}


@pytest.mark.parametrize("name", RECEIVERS)
def test_what_follows_from_an_answer(
    app: Flask,
    deliverer: Deliverer,
    allow: Allow,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    answer, state, failure = RECEIVERS[name]
    monkeypatch.setattr(deliver, "callback_bounds", shorter_bounds)

    took, delivery_id, endpoint = attempt(app, deliverer, allow, answer)

    assert state_of(app, delivery_id) == (state, failure)
    assert took < 5
    asked = endpoint.paused_until is not None
    assert (endpoint.failures, asked) == (int(state is PENDING), name == "429")


def shorter_bounds(origins: frozenset[str], **given: Any) -> object:
    return replace(callback_bounds(origins, **given), total_seconds=1, connect_seconds=1)


def attempt(
    app: Flask, deliverer: Deliverer, allow: Allow, answer: Answer
) -> tuple[float, str, CallbackEndpoint]:
    """One attempt at a receiver: how long it took, the delivery, the endpoint after it."""
    with raw_receiver(answer) as receiver:
        allow(receiver.origin)
        with app.app_context():
            subscription = subscribe(make_form(make_account().id), receiver.origin)
            delivery = make_delivery(subscription)
        began = time.monotonic()
        deliverer.work()
        took = time.monotonic() - began
    with app.app_context():
        return took, delivery.id, db.session.get_one(CallbackEndpoint, delivery.endpoint_id)


def test_a_redirect_is_not_followed(app: Flask, deliverer: Deliverer, allow: Allow) -> None:
    with receivers() as inside:
        location = f"Location: {inside.origin}/admin"
        redirect = status("301 Moved Permanently", location)
        _, delivery_id, _ = attempt(app, deliverer, allow, redirect)

    assert inside.got == []
    assert state_of(app, delivery_id) == (PENDING, HTTP_4XX)


@pytest.mark.prove
@pytest.mark.parametrize("name", ["drip of the head", "1 GB"])
def test_an_attempt_ends_after_ten_seconds_in_little_memory(
    app: Flask, deliverer: Deliverer, allow: Allow, name: str
) -> None:
    tracemalloc.start()
    try:
        took, delivery_id, _ = attempt(app, deliverer, allow, RECEIVERS[name][0])
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    print(f"{name}: {took:.2f} s, {most / 2**20:.1f} MiB, {state_of(app, delivery_id)}")
    assert took < 10.5
    assert most < 10 * 2**20


def test_stalled_tls_ends_in_time(
    app: Flask, deliverer: Deliverer, allow: Allow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliver, "callback_bounds", shorter_bounds)
    with raw_receiver(lambda connection: time.sleep(8), reads=False) as receiver:
        origin = f"https://127.0.0.1:{receiver.port}"
        allow(origin)
        with app.app_context():
            delivery = make_delivery(subscribe(make_form(make_account().id), f"{origin}/"))
        began = time.monotonic()
        deliverer.work()
        took = time.monotonic() - began

    assert state_of(app, delivery.id) == (PENDING, TIMEOUT)
    assert took < 5


def test_a_secret_that_no_key_opens_stops_nothing_else(
    app: Flask, deliverer: Deliverer, allow: Allow
) -> None:
    with receivers() as place:
        allow(place.origin)
        with app.app_context():
            form = make_form(make_account().id)
            closed = make_delivery(subscribe(form, f"{place.origin}/1", secret="old:AAAA"))
            db.session.execute(update(EventSubscription).values(secret="old:AAAA"))
            db.session.commit()
            opened = make_delivery(subscribe(form, f"{place.origin}/2"))
        deliverer.work()
        deliverer.work()

    assert [request.path for request in place.got] == ["/2"]
    assert state_of(app, opened.id)[0] == DELIVERED
    with app.app_context():
        held_back = db.session.get_one(EventDelivery, closed.id)
        assert (held_back.state, held_back.attempts) == (PENDING, 0)
        ended = db.session.get_one(EventSubscription, closed.subscription_id)
        assert ended.suspended_at is not None


def test_an_error_of_ours_hammers_nobody_and_stops_nothing_else(
    app: Flask, deliverer: Deliverer, allow: Allow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(claimed: Claimed, result: AttemptResult, *, now: datetime) -> None:
        if claimed.url.endswith("/1"):
            raise ZeroDivisionError
        settle(claimed, result, now=now)

    monkeypatch.setattr("jobs.deliver.settle", broken)
    with receivers() as place:
        allow(place.origin)
        with app.app_context():
            form = make_form(make_account().id)
            ours = make_delivery(subscribe(form, f"{place.origin}/1"))
            other = make_delivery(subscribe(form, f"{place.origin}/2"))
        began = utc_now()
        deliverer.work()

    assert state_of(app, other.id)[0] == DELIVERED
    assert sorted(request.path for request in place.got) == ["/1", "/2"]
    with app.app_context():
        waiting = db.session.get_one(EventDelivery, ours.id)
        assert (waiting.state, waiting.attempts) == (PENDING, 1)
        assert waiting.next_at >= began + timedelta(seconds=0.8)


def queued(app: Flask, urls: list[str], each: int) -> None:
    """So many deliveries to each of these addresses, all due."""
    with app.app_context():
        form = make_form(make_account().id)
        for url in urls:
            subscription = subscribe(form, url)
            for _ in range(each):
                make_delivery(subscription)


def states(app: Flask) -> Counter[str]:
    with app.app_context():
        return Counter(db.session.scalars(select(EventDelivery.state)))


@pytest.mark.parametrize(
    ("endpoints", "each"), [(20, 10), pytest.param(40, 250, marks=pytest.mark.prove)]
)
def test_four_workers_send_each_row_once(
    app: Flask, allow: Allow, endpoints: int, each: int
) -> None:
    workers = [Deliverer(app, threads=8) for _ in range(4)]
    with receivers() as place:
        allow(place.origin)
        queued(app, [f"{place.origin}/{number}" for number in range(endpoints)], each)
        label(app, None)  # one host would bound them all
        began = time.monotonic()
        threads = [threading.Thread(target=worker.work) for worker in workers for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - began

    rows = endpoints * each
    print(f"{rows} rows, {rows / took:.0f} a second")
    sent = Counter(orjson.loads(request.body)["eventId"] for request in place.got)
    assert states(app) == {DELIVERED: rows}
    assert (len(sent), max(sent.values())) == (rows, 1)


@pytest.mark.parametrize("takes", [20, None])
@pytest.mark.parametrize(("accounts", "host"), [(1, None), (5, None), (2, "one:443")])
def test_receivers_that_hang_stand_in_nobodys_way(
    app: Flask, allow: Allow, accounts: int, host: str | None, takes: int | None
) -> None:
    """Fifty that were quick, or are new; also at the host of the live one."""
    released = threading.Event()
    deliverer = Deliverer(app, threads=16)
    with raw_receiver(lambda _: released.wait(60) and None) as hole, receivers() as place:
        allow(hole.origin, place.origin)
        for number in range(accounts):
            urls = [f"{hole.origin}/{number}/{path}" for path in range(50 // accounts)]
            queued(app, urls, each=3)
        label(app, host, duration_ms=takes)
        threads = [threading.Thread(target=deliverer.work) for _ in range(16)]
        for thread in threads:
            thread.start()
        wait_until(
            lambda: 0 < hole.connections == sum(thread.is_alive() for thread in threads),
            "taking what they may",
        )
        queued(app, [f"{place.origin}/{number}" for number in range(3)], each=10)
        label(app, host)
        deliverer.work()

        assert len(place.got) == 30
        deliverer.refuse()
        released.set()
        for thread in threads:
            thread.join(20)


def label(app: Flask, host: str | None, **values: object) -> None:
    """Name the hosts of all endpoints; None: each has one of its own."""
    with app.app_context():
        db.session.execute(
            update(CallbackEndpoint).values(host=host or CallbackEndpoint.id, **values)
        )
        db.session.execute(update(EventDelivery).values(host=host or EventDelivery.endpoint_id))
        db.session.commit()


def test_at_most_two_requests_reach_an_endpoint_at_a_time(app: Flask, allow: Allow) -> None:
    running, most = Counter[str](), Counter[str]()
    counting = threading.Lock()

    def answer(connection: socket.socket) -> None:
        with counting:
            running["all"] += 1
            most["all"] = max(most["all"], running["all"])
        time.sleep(0.02)
        with counting:
            running["all"] -= 1
        status("204 No Content")(connection)

    workers = [Deliverer(app, threads=4) for _ in range(3)]
    with raw_receiver(answer) as place:
        allow(place.origin)
        queued(app, [place.origin], each=20)
        threads = [threading.Thread(target=each.work) for each in workers for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert most["all"] == 2
    assert states(app) == {DELIVERED: 20}


@pytest.mark.parametrize(
    ("holes", "waiting", "live"),
    [(1, 40, 20), pytest.param(5, 200, 20, marks=pytest.mark.prove)],
)
def test_black_holes_stand_in_nobodys_way(
    app: Flask,
    deliverer: Deliverer,
    allow: Allow,
    monkeypatch: pytest.MonkeyPatch,
    holes: int,
    waiting: int,
    live: int,
) -> None:
    if waiting < 200:
        monkeypatch.setattr(deliver, "callback_bounds", shorter_bounds)
    hole: Callable[[socket.socket], None] = lambda _connection: time.sleep(12)  # noqa: E731
    with raw_receiver(hole) as nowhere, receivers() as place:
        dead = [f"http://127.0.0.{number + 1}:{nowhere.port}" for number in range(holes)]
        allow(place.origin, *dead)
        queued(app, dead, each=waiting)
        queued(app, [f"{place.origin}/{number}" for number in range(live)], each=5)
        threads = [threading.Thread(target=deliverer.work, daemon=True) for _ in range(16)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        while len(place.got) < live * 5 and time.monotonic() - began < 30:
            time.sleep(0.02)
        deliverer.finish(12)

    assert len(place.got) == live * 5

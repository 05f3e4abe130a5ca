"""How fast a queue of events is drained, beside the same client without our queue."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import func, insert, select, update

from jobs.deliver import sending
from jobs.queue import DELIVERIES, WakeUpQueue, hand_over
from tests.bench.events.receiving import certificate, receiving, send
from tests.bench.figures import Table
from tests.databases import both_databases
from tests.event_factories import delivery_row
from tests.factories import make_account, make_form
from tests.jobs.conftest import Allow
from tests.jobs.receiving import new_secret, subscribe
from tests.services import wait_until
from webapp.base import outbound
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import DeliveryState
from webapp.records.events import EventDelivery

pytestmark = pytest.mark.bench
ENDPOINTS, EACH = 40, 50
THREADS = 16


@pytest.fixture(params=["http", "https"])
def origin(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Receivers that answer after a millisecond; those over TLS have a private authority."""
    pem = None
    if request.param == "https":
        pem, ca_file = certificate(tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", str(ca_file))
        outbound._tls_context.cache_clear()
    with receiving(pem=pem) as receiver:
        yield receiver.origin
    outbound._tls_context.cache_clear()


@both_databases
def test_a_queue_is_drained(
    app: Flask,
    origin: str,
    allow: Allow,
    table: Table,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allow(origin)
    on_sqlite = table.database == "SQLite"
    url = None if on_sqlite else request.getfixturevalue("redis_url")
    monkeypatch.setitem(app.extensions, DELIVERIES, WakeUpQueue(url))
    rates = []
    with sending(app, stop_seconds=2):
        time.sleep(1)
        for _ in range(3):
            ids = queued(app, origin)
            with app.app_context():
                began = time.perf_counter()
                hand_over(ids)
            wait_until(lambda: sent(app) == ENDPOINTS * EACH, "draining")
            rates.append((ENDPOINTS * EACH / (time.perf_counter() - began), bare(origin)))
    ours, client = sorted(rates)[1]
    detail = f"{ours / client:.0%} of the client alone ({client:.0f}/s)"
    name, goal = "drain to 40 endpoints of 1 ms", "≥ 120/s" if on_sqlite else "≥ 200/s"
    if origin.startswith("https"):
        name, goal = f"{name}, TLS", ""
    table.add(name, f"{ours:.0f}/s", goal, detail)


def bare(origin: str) -> float:
    """Requests a second of the same client in as many threads."""
    secret, requests = new_secret(), ENDPOINTS * EACH
    began = time.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda _: send(origin, secret), range(requests)))
    return requests / (time.perf_counter() - began)


def sent(app: Flask) -> int:
    delivered = select(func.count()).where(EventDelivery.state == DeliveryState.DELIVERED)
    time.sleep(0.05)
    with app.app_context():
        return db.session.scalar(delivered) or 0


def queued(app: Flask, origin: str) -> list[str]:
    """EACH due deliveries for each of ENDPOINTS endpoints on hosts of their own."""
    with app.app_context():
        db.session.execute(update(EventDelivery).values(state=DeliveryState.CANCELLED))
        form, now = make_form(make_account().id), utc_now()
        rows = []
        for number in range(ENDPOINTS):
            subscription = subscribe(form, f"{origin}/{number}", host=f"host-{number}:443")
            rows += [delivery_row(subscription, next_at=now, attempts=0) for _ in range(EACH)]
        db.session.execute(insert(EventDelivery), rows)
        db.session.commit()
        return [row["id"] for row in rows]

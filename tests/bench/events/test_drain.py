"""How fast a queue of events is drained, beside the same client without our queue."""

import secrets
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, insert, select, update

from jobs.deliver import sending
from jobs.queue import WakeUpQueue, hand_over
from tests.bench.events.receiving import certificate, receiving, send
from tests.bench.figures import Table
from tests.databases import both_databases
from tests.factories import make_account, make_form
from tests.jobs.conftest import Allow
from tests.jobs.receiving import new_secret, subscribe
from tests.services import wait_until
from webapp.base import outbound
from webapp.base.database import db, to_millis, utc_now
from webapp.base.vocabulary import DeliveryKind, DeliveryState
from webapp.records.events import CallbackEndpoint, EventDelivery, EventSubscription

pytestmark = pytest.mark.bench
ENDPOINTS, EACH = 40, 50
THREADS = 16
GOALS = {"sqlite": "≥ 120/s", "postgresql": "≥ 200/s"}


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
@pytest.mark.usefixtures("deliverer")
def test_a_queue_is_drained(
    app: Flask,
    origin: str,
    allow: Allow,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allow(origin)
    with app.app_context():
        kind = db.engine.dialect.name
    url = request.getfixturevalue("redis_url") if kind == "postgresql" else None
    monkeypatch.setitem(app.extensions, "wake_up_queue", WakeUpQueue(url))
    table = Table("PostgreSQL" if kind == "postgresql" else "SQLite")
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
    tls = origin.startswith("https")
    name, goal = "drain to 40 endpoints of 1 ms", GOALS[kind]
    table.add(f"{name}, TLS" if tls else name, f"{ours:.0f}/s", "" if tls else goal, detail)


def bare(origin: str) -> float:
    """Requests a second of the same client in as many threads."""
    secret, each = new_secret(), ENDPOINTS * EACH // THREADS

    def run() -> None:
        for _ in range(each):
            send(origin, secret)

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return THREADS * each / (time.perf_counter() - began)


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
            host = f"host-{number}:443"
            subscription = subscribe(form, f"{origin}/{number}", host=host)
            endpoint = update(CallbackEndpoint).where(
                CallbackEndpoint.id == subscription.endpoint_id
            )
            db.session.execute(endpoint.values(host=host))
            rows += [delivery_row(subscription, now, place) for place in range(EACH)]
        db.session.execute(insert(EventDelivery), rows)
        db.session.commit()
        return [row["id"] for row in rows]


def delivery_row(to: EventSubscription, now: datetime, place: int) -> dict[str, Any]:
    digits = secrets.token_hex(12)
    return {
        "id": f"dlv_{to.id.removeprefix('sub_')}{digits}",
        "account_id": to.account_id,
        "form_id": to.form_id,
        "subscription_id": to.id,
        "endpoint_id": to.endpoint_id,
        "host": to.host,
        "kind": DeliveryKind.EVENT,
        "event_id": f"evt_{digits}",
        "answer_count": 2,
        "position": to_millis(now) + place,
        "state": DeliveryState.PENDING,
        "attempts": 0,
        "next_at": now,
        "created_at": now,
    }

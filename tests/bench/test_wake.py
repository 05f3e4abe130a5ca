"""From handing an event over to its receiver, beside one bare job of RQ that sends the same."""

import statistics
import threading
import time
from collections.abc import Callable

import pytest
from flask import Flask
from rq import Queue, SimpleWorker
from rq.serializers import JSONSerializer

from jobs.queue import WakeUpQueue, hand_over
from jobs.rq_worker import WORKER_TTL, ThreadWorker
from jobs.worker import delivering
from tests.bench.figures import Table
from tests.databases import both_databases
from tests.event_factories import make_delivery
from tests.factories import make_account, make_form
from tests.jobs.conftest import Allow
from tests.jobs.receiving import Receivers, new_secret, receivers, subscribe
from webapp.database import db, utc_now
from webapp.domain.events.callbacks.requests import callback_bounds, post
from webapp.domain.events.callbacks.signing import signed_headers

pytestmark = pytest.mark.bench
ROUNDS = 100
BARE = "bare"


class BareWorker(ThreadWorker):
    """Carries out any function."""

    execute_job = SimpleWorker.execute_job


def send(url: str, secret: str) -> None:
    """The job without our queue: sign and post."""
    body = b'{"eventId":"evt_1"}'
    headers = signed_headers("evt_1", body, [secret], subscription_id="sub_1", now=utc_now())
    origin = url.rpartition("/")[0]
    post(url, headers, body, bounds=callback_bounds(frozenset({origin})))


@both_databases
@pytest.mark.usefixtures("deliverer")
def test_an_event_reaches_its_receiver(
    app: Flask, allow: Allow, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with app.app_context():
        kind = db.engine.dialect.name
    url = request.getfixturevalue("redis_url") if kind == "postgresql" else None
    wake_ups = WakeUpQueue(url)
    monkeypatch.setitem(app.extensions, "wake_up_queue", wake_ups)
    client, secret = wake_ups.client(WORKER_TTL), new_secret()
    hop = Queue(BARE, connection=client, serializer=JSONSerializer)
    worker = BareWorker([hop], connection=client, serializer=JSONSerializer)
    threading.Thread(target=worker.work, kwargs={"logging_level": "ERROR"}, daemon=True).start()
    with receivers() as place, delivering(app, stop_seconds=2):
        allow(place.origin)
        time.sleep(1)

        def bare() -> None:
            hop.enqueue(f"{__name__}.send", f"{place.origin}/bare", secret, job_timeout=-1)

        with app.app_context():
            subscription = subscribe(make_form(make_account().id), f"{place.origin}/ours")
            pairs = []
            for _ in range(ROUNDS):
                delivery = make_delivery(subscription)
                ours = seconds_to(place, lambda row=delivery.id: hand_over([row]))
                pairs.append((seconds_to(place, bare), ours))
    report(kind, pairs)


def seconds_to(place: Receivers, begin: Callable[[], object]) -> float:
    """From the call until the receiver has got something."""
    before, began = len(place.got), time.perf_counter()
    begin()
    while len(place.got) == before:
        time.sleep(0.0002)
    return time.perf_counter() - began


def report(kind: str, pairs: list[tuple[float, float]]) -> None:
    table = Table("PostgreSQL" if kind == "postgresql" else "SQLite")
    (bare, late), (ours, ours_late) = (
        (statistics.median(side), sorted(side)[int(ROUNDS * 0.99)])
        for side in zip(*pairs, strict=True)
    )
    shown = f"{ours / bare:.1f}×, {ours_late / late:.1f}×"
    detail = (
        f"p50 {ours * 1000:.1f} to {bare * 1000:.1f} ms,"
        f" p99 {ours_late * 1000:.1f} to {late * 1000:.1f} ms"
    )
    table.add("hand-over → receiver, to the bare hop, p50 and p99", shown, "≤ 2×, ≤ 3×", detail)

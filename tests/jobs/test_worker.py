"""The threads of a process that delivers, with and without RQ, and with a Redis that fails."""

import os
import signal
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import redis
from flask import Flask
from rq import Queue
from rq.serializers import DefaultSerializer, JSONSerializer

from jobs import queue, rq_worker, worker
from jobs.deliver import sending
from jobs.queue import WakeUpQueue
from tests.bulk import analyze, copy_rows
from tests.event_factories import make_delivery, make_subscription
from tests.factories import make_account, make_form
from tests.jobs.receiving import states, subscribe
from tests.services import free_port, redis_server, wait_until
from tests.webhook_receiver import Webhook
from webapp.base.database import utc_now
from webapp.base.vocabulary import DeliveryState
from webapp.events.delivering import Leases
from webapp.records.events import EventDelivery

JOBS = "rq:job:*"
TIMES = 5  # one call alone could be late on a busy machine
AT_ONCE = TIMES * queue.REDIS_SECONDS  # a request that asks a Redis that is away waits as long
NO_SWEEPS = pytest.mark.constants("jobs.worker", SWEEP_SECONDS=60)


@pytest.fixture
def wakes(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Wake by the Redis at this address; None: in this process."""

    def through(url: str | None) -> WakeUpQueue:
        made = WakeUpQueue(url)
        monkeypatch.setitem(app.extensions, queue.DELIVERIES, made)
        return made

    return through


@pytest.fixture
def own_redis(wakes: Any) -> Iterator[redis.Redis]:
    """Of this test alone, and what wakes through it."""
    with redis_server() as url, redis.Redis.from_url(url) as client:
        wakes(url)
        yield client


def due(app: Flask, place: Webhook, count: int = 1) -> list[str]:
    with app.app_context():
        form = make_form(make_account().id)
        return [make_delivery(subscribe(form, f"{place.origin}/{n}")).id for n in range(count)]


def hand_over(app: Flask, ids: list[str]) -> float:
    """Seconds that so many requests would take for it."""
    began = time.monotonic()
    with app.app_context():
        for _ in range(TIMES):
            queue.hand_over(ids)
    return time.monotonic() - began


def wait_for_all(app: Flask, seconds: float = 20) -> None:
    wait_until(lambda: states(app).keys() == {DeliveryState.DELIVERED}, "delivering", seconds)


@NO_SWEEPS
def test_without_redis_a_wake_up_is_taken_at_once(app: Flask, place: Webhook, wakes: Any) -> None:
    wakes(None)
    with sending(app, stop_seconds=2):
        time.sleep(0.5)
        assert hand_over(app, due(app, place, count=6)) < AT_ONCE
        wait_for_all(app)


@NO_SWEEPS
def test_rq_on_redis_wakes_at_once(app: Flask, place: Webhook, redis_url: str, wakes: Any) -> None:
    wakes(redis_url)
    with sending(app, stop_seconds=2), redis.Redis.from_url(redis_url) as look:
        of_others = set(look.keys(JOBS))  # of processes that were killed
        time.sleep(0.5)
        hand_over(app, due(app, place, count=6))
        wait_for_all(app)
        wait_until(lambda: set(look.keys(JOBS)) <= of_others, "forgetting the jobs")


@pytest.mark.constants("jobs.worker", SWEEP_SECONDS=0.05)
@pytest.mark.constants("jobs.deliver", TIDY_SECONDS=0.1)
def test_of_a_queue_that_nobody_takes_ten_thousand_wait(app: Flask) -> None:
    with app.app_context():
        suspended = make_subscription(make_form(make_account().id), suspended_at=utc_now())
        made = {name: f"{name}_{{}}".format for name in ("id", "event_id")}
        copy_rows(EventDelivery.__table__, make_delivery(suspended).id, 10_001, **made)
        analyze()  # else PostgreSQL may plan for the few rows that it last saw
    with sending(app, stop_seconds=2):
        wait_until(
            lambda: states(app) == {DeliveryState.PENDING: 10_000, DeliveryState.ABANDONED: 2},
            "giving two up",
        )


@pytest.mark.constants("jobs.worker", SWEEP_SECONDS=0.02)
def test_a_sweep_that_fails_stops_nothing(
    app: Flask, place: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_self: Leases, *, now: datetime) -> None:
        raise ConnectionError("the database is away")

    monkeypatch.setattr(Leases, "look", fail)
    with sending(app, stop_seconds=2):
        time.sleep(0.1)
        due(app, place)
        wait_for_all(app)


@pytest.mark.settings(mcp_events_enabled=False)
@pytest.mark.constants("jobs.worker", SWEEP_SECONDS=0.05)
def test_switched_off_nothing_is_sent(app: Flask, place: Webhook) -> None:
    with sending(app, stop_seconds=1):
        due(app, place)
        time.sleep(0.5)

    assert place.posted == []


@pytest.mark.parametrize("fault", ["no thread of RQ", "no Redis", "a full Redis"])
def test_without_wake_ups_nobody_waits_and_everything_is_delivered(
    app: Flask,
    place: Webhook,
    own_redis: redis.Redis,
    wakes: Any,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    if fault == "no thread of RQ":
        monkeypatch.setattr(rq_worker, "work_until", lambda app, ended, name: None)
    elif fault == "no Redis":
        wakes(f"redis://127.0.0.1:{free_port()}/0")
    else:
        own_redis.config_set("maxmemory", "1")
    with sending(app, stop_seconds=2):
        assert hand_over(app, due(app, place, count=20) * 200) < AT_ONCE
        wait_for_all(app)


@pytest.mark.constants("jobs.rq_worker", RESTART_SECONDS=0.1)
def test_a_redis_that_hangs_ends_and_comes_back_empty_stops_nothing(
    app: Flask, place: Webhook, wakes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    with redis_server(port) as url:
        wakes(url)
        with redis.Redis.from_url(url) as look:
            process_id = look.info("server")["process_id"]
        with sending(app, stop_seconds=2):
            time.sleep(0.3)
            os.kill(process_id, signal.SIGSTOP)
            try:
                assert hand_over(app, due(app, place, count=5)) < AT_ONCE
                wait_for_all(app)
            finally:
                os.kill(process_id, signal.SIGCONT)
            os.kill(process_id, signal.SIGKILL)
            hand_over(app, due(app, place, count=5))
            wait_for_all(app)
            with redis_server(port):
                monkeypatch.setattr(worker, "SWEEP_SECONDS", 60)  # RQ alone
                time.sleep(1.5)
                hand_over(app, due(app, place, count=5))
                wait_for_all(app)


@NO_SWEEPS
def test_nothing_but_wake_ups_is_carried_out(
    app: Flask, place: Webhook, tmp_path: Path, own_redis: redis.Redis
) -> None:
    folders = [str(tmp_path / "json"), str(tmp_path / "pickle")]
    for folder, serializer in zip(folders, (JSONSerializer, DefaultSerializer), strict=True):
        Queue(queue.DELIVERIES, connection=own_redis, serializer=serializer).enqueue(
            "os.mkdir", folder
        )
    waiting = f"rq:queue:{queue.DELIVERIES}"
    with sending(app, stop_seconds=2):
        time.sleep(0.5)
        hand_over(app, due(app, place, count=3))
        wait_for_all(app)
        wait_until(lambda: own_redis.llen(waiting) == 0, "being taken", seconds=10)

    assert list(tmp_path.iterdir()) == []

"""The threads of a process that delivers, with and without RQ, and with a Redis that fails."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
import redis
from flask import Flask
from rq import Queue
from rq.serializers import DefaultSerializer, JSONSerializer
from rq.timeouts import TimerDeathPenalty
from sqlalchemy import func, select

from jobs import queue, rq_worker, worker
from jobs.deliver import Deliverer
from jobs.queue import WakeUpQueue
from jobs.worker import delivering
from tests.bulk import analyze, copy_rows
from tests.databases import both_databases
from tests.event_factories import make_delivery, make_subscription
from tests.factories import make_account, make_form
from tests.jobs.conftest import Allow
from tests.jobs.receiving import Receivers, receivers, subscribe
from tests.services import free_port, redis_server, wait_until
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import DeliveryState
from webapp.events.claims import Leases
from webapp.records.events import EventDelivery

JOBS = "rq:job:*"
TIMES = 5  # one call alone could be late on a busy machine
AT_ONCE = TIMES * queue.REDIS_SECONDS  # whoever asks a Redis that is away waits as long


@pytest.fixture
def place(allow: Allow) -> Iterator[Receivers]:
    with receivers() as found:
        allow(found.origin)
        yield found


def due(app: Flask, place: Receivers, count: int = 1) -> list[str]:
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


def states(app: Flask) -> Counter[str]:
    with app.app_context():
        counted = select(EventDelivery.state, func.count()).group_by(EventDelivery.state)
        return Counter(dict(db.session.execute(counted).all()))


def all_delivered(app: Flask) -> bool:
    return states(app).keys() == {DeliveryState.DELIVERED}


@pytest.fixture
def soon_overdue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter intervals, in the same order: a sweep, a new worker of RQ, overdue."""
    monkeypatch.setattr(worker, "SWEEP_SECONDS", 0.05)
    monkeypatch.setattr(rq_worker, "RESTART_SECONDS", 0.1)
    monkeypatch.setattr(worker, "OVERDUE_SECONDS", 0.5)


@both_databases
@pytest.mark.usefixtures("deliverer")
def test_without_redis_a_wake_up_is_taken_at_once(
    app: Flask, place: Receivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "SWEEP_SECONDS", 60)
    monkeypatch.setitem(app.extensions, "wake_up_queue", WakeUpQueue(None))
    with delivering(app, stop_seconds=2):
        time.sleep(0.5)
        ids = due(app, place, count=6)
        assert hand_over(app, ids) < AT_ONCE
        wait_until(lambda: all_delivered(app), "being delivered", seconds=30)  # no sweep helps


@pytest.mark.usefixtures("deliverer")
def test_rq_on_redis_wakes_at_once(
    app: Flask, place: Receivers, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "SWEEP_SECONDS", 60)
    monkeypatch.setitem(app.extensions, "wake_up_queue", WakeUpQueue(redis_url))
    with delivering(app, stop_seconds=2), redis.Redis.from_url(redis_url) as look:
        of_others = set(look.keys(JOBS))  # of processes that were killed
        time.sleep(0.5)
        hand_over(app, due(app, place, count=6))
        wait_until(lambda: all_delivered(app), "being delivered", seconds=5)
        wait_until(lambda: set(look.keys(JOBS)) <= of_others, "forgetting the jobs")


@pytest.fixture
def own_redis(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[redis.Redis]:
    """Of this test alone, and what wakes through it."""
    with redis_server() as url, redis.Redis.from_url(url) as client:
        monkeypatch.setitem(app.extensions, "wake_up_queue", WakeUpQueue(url))
        yield client


def test_a_wake_up_starts_no_timer_and_leaves_nothing(app: Flask, own_redis: redis.Redis) -> None:
    app.extensions["wake_up_queue"].enqueue(["dlv_1", "dlv_1"])

    jobs = Queue(queue.DELIVERIES.name, connection=own_redis, serializer=JSONSerializer).jobs
    with app.app_context():
        made = rq_worker._worker()

    assert len({job.id for job in jobs}) == 2
    for job in jobs:
        assert (job.args, job.timeout, job.result_ttl) == (["dlv_1"], -1, 0)
        assert (job.ttl, job.failure_ttl, job.retries_left) == (60, 60, None)
    assert (made.worker_ttl, made.serializer) == (60, JSONSerializer)
    assert made.death_penalty_class is TimerDeathPenalty


def test_where_enough_wake_ups_wait_others_look_seldom(
    app: Flask, own_redis: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    wake_ups = app.extensions["wake_up_queue"]
    monkeypatch.setattr(queue, "WAITING_IN_REDIS", 3)
    monkeypatch.setattr(queue, "FULL_REST_SECONDS", 2)
    wake_ups.enqueue(["dlv_1", "dlv_2", "dlv_3"])
    looked: list[bool] = []
    look = wake_ups.enqueue
    monkeypatch.setattr(wake_ups, "enqueue", lambda ids: looked.append(look(ids)) or looked[-1])

    began = time.monotonic()
    while time.monotonic() < began + 1:
        hand_over(app, ["dlv_4"])
        time.sleep(0.02)
    assert looked == [False]

    own_redis.flushall()  # somebody took them
    wait_until(lambda: looked[-1], "being enqueued")


@pytest.mark.usefixtures("deliverer")
def test_sweeps_that_fail_are_logged_once_and_go_on(
    app: Flask,
    place: Receivers,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tries = 0

    def fail_at_first(_self: Leases, *, now: datetime) -> None:
        nonlocal tries
        tries += 1
        if tries < 5:
            raise ConnectionError("the database is away")

    monkeypatch.setattr(worker, "SWEEP_SECONDS", 0.02)
    monkeypatch.setattr(worker, "OVERDUE_SECONDS", 0)
    monkeypatch.setattr(Leases, "look", fail_at_first)
    due(app, place)
    with delivering(app, stop_seconds=2):
        wait_until(lambda: tries >= 5 and all_delivered(app), "being delivered")

    assert [each.message for each in caplog.records if each.exc_info] == ["a sweep failed"]


@both_databases
@pytest.mark.usefixtures("deliverer")
def test_of_a_queue_that_nobody_takes_ten_thousand_wait(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "SWEEP_SECONDS", 0.05)
    with app.app_context():
        suspended = make_subscription(make_form(make_account().id), suspended_at=utc_now())
        made = {name: f"{name}_{{}}".format for name in ("id", "event_id")}
        copy_rows(EventDelivery.__table__, make_delivery(suspended).id, 10_001, **made)
        analyze()  # else PostgreSQL may plan for the few rows that it last saw
    with delivering(app, stop_seconds=2):
        wait_until(
            lambda: states(app) == {DeliveryState.PENDING: 10_000, DeliveryState.ABANDONED: 2},
            "giving two up",
        )


@both_databases
@pytest.mark.usefixtures("deliverer", "soon_overdue", "own_redis")
def test_without_a_thread_of_rq_everything_is_delivered(
    app: Flask, place: Receivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rq_worker, "work_until", lambda app, ended, kind: None)
    with delivering(app, stop_seconds=2):
        hand_over(app, due(app, place, count=20))
        wait_until(lambda: all_delivered(app), "being delivered", seconds=10)


@pytest.mark.usefixtures("deliverer")
def test_without_redis_nobody_waits_and_everything_is_delivered(
    app: Flask, place: Receivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = f"redis://127.0.0.1:{free_port()}/0"
    monkeypatch.setitem(app.extensions, "wake_up_queue", WakeUpQueue(nowhere))
    with delivering(app, stop_seconds=2):
        ids = due(app, place, count=20)
        assert hand_over(app, ids * 200) < AT_ONCE
        wait_until(lambda: all_delivered(app), "being delivered", seconds=10)


@pytest.mark.usefixtures("deliverer", "soon_overdue")
def test_with_a_full_redis_everything_is_delivered(
    app: Flask, place: Receivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    with redis_server() as url, redis.Redis.from_url(url) as full:
        full.config_set("maxmemory", "1")
        monkeypatch.setitem(app.extensions, "wake_up_queue", WakeUpQueue(url))
        with delivering(app, stop_seconds=2):
            assert hand_over(app, due(app, place, count=5)) < AT_ONCE
            wait_until(lambda: all_delivered(app), "being delivered", seconds=10)


@pytest.mark.usefixtures("deliverer", "soon_overdue")
def test_a_redis_that_hangs_ends_and_comes_back_empty_stops_nothing(
    app: Flask, place: Receivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    with redis_server(port) as url:
        monkeypatch.setitem(app.extensions, "wake_up_queue", WakeUpQueue(url))
        with redis.Redis.from_url(url) as look:
            process_id = look.info("server")["process_id"]
        with delivering(app, stop_seconds=2):
            time.sleep(0.3)
            os.kill(process_id, signal.SIGSTOP)
            try:
                assert hand_over(app, due(app, place, count=5)) < AT_ONCE
                wait_until(lambda: all_delivered(app), "being delivered", seconds=10)
            finally:
                os.kill(process_id, signal.SIGCONT)
            os.kill(process_id, signal.SIGKILL)
            hand_over(app, due(app, place, count=5))
            wait_until(lambda: all_delivered(app), "being delivered", seconds=10)
            with redis_server(port):
                monkeypatch.setattr(worker, "OVERDUE_SECONDS", 1000)  # RQ alone
                time.sleep(0.3)
                hand_over(app, due(app, place, count=5))
                wait_until(lambda: all_delivered(app), "being delivered", seconds=20)


@pytest.mark.usefixtures("deliverer")
def test_nothing_but_wake_ups_is_carried_out(
    app: Flask,
    place: Receivers,
    tmp_path: Path,
    own_redis: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "SWEEP_SECONDS", 60)
    folders = [str(tmp_path / "json"), str(tmp_path / "pickle")]
    for folder, serializer in zip(folders, (JSONSerializer, DefaultSerializer), strict=True):
        Queue(queue.DELIVERIES.name, connection=own_redis, serializer=serializer).enqueue(
            "os.mkdir", folder
        )
    with delivering(app, stop_seconds=2):
        time.sleep(0.5)
        hand_over(app, due(app, place, count=3))
        wait_until(lambda: all_delivered(app), "being delivered", seconds=10)
        wait_until(
            lambda: own_redis.llen(f"rq:queue:{queue.DELIVERIES.name}") == 0,
            "being taken",
            seconds=10,
        )

    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("soon_overdue")
@pytest.mark.settings(mcp_events_enabled=False)
def test_switched_off_nothing_is_sent(app: Flask, place: Receivers) -> None:
    before = set(threading.enumerate())
    with delivering(app, stop_seconds=1):
        due(app, place)
        hand_over(app, [])
        time.sleep(0.6)
        started = {thread.name for thread in set(threading.enumerate()) - before}

    assert place.got == []
    assert not started & {"deliveries", "wake-ups", "taking"}


def test_what_runs_is_finished_and_nothing_more_is_claimed(
    app: Flask, allow: Allow, deliverer: Deliverer
) -> None:
    def slow(_number: int) -> int:
        time.sleep(0.5)
        return 204

    with receivers(slow) as place:
        allow(place.origin)
        with app.app_context():
            subscription = subscribe(make_form(make_account().id), place.origin)
            for _ in range(5):
                make_delivery(subscription)
        thread = threading.Thread(target=deliverer.work)
        thread.start()
        wait_until(lambda: len(place.got) == 1, "being sent")
        assert deliverer.finish(5)
        thread.join(5)

    assert len(place.got) == 1


def test_a_full_queue_of_wake_ups_drops_and_never_blocks() -> None:
    handed_over = WakeUpQueue(f"redis://127.0.0.1:{free_port()}/0")
    began = time.monotonic()
    for _ in range(50):
        handed_over.hand_over(["dlv_1"] * 1000)

    assert time.monotonic() - began < 10


def test_whatever_fails_in_the_queue_the_next_wake_up_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def fail(_self: WakeUpQueue, ids: list[str]) -> None:
        tried.extend(ids)
        raise ValueError(ids)

    monkeypatch.setattr(WakeUpQueue, "_enqueue", fail)
    handed_over = WakeUpQueue(None)
    for number in range(3):
        handed_over.hand_over([f"dlv_{number}"])
        wait_until(lambda: len(tried) > number, "being tried", seconds=5)  # noqa: B023

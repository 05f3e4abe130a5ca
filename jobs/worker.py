"""Delivering in one process: threads that take wake-ups, and the sweep."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from jobs.deliver import WORKER_THREADS, Deliverer, deliverer, wake
from jobs.queue import DELIVERIES, Kind, wake_up_queue
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.events.claims import Leases, read_due
from webapp.events.settling import abandon_overflow, bound_waits

log = logging.getLogger("askback.deliveries")


SWEEP_SECONDS = 1.0
OVERDUE_SECONDS = 3  # then no worker of the queue is there
TIDY_SECONDS = 10.0
LOG_SECONDS = 60.0  # between two lines of the log that sweeps fail


def sweep_until(app: Flask, ended: threading.Event, *, threads: int) -> None:
    """Sweep each second, also after a failure; a long one is logged once in LOG_SECONDS.

    At the end renew leases only, until no attempt runs.
    """
    tidy_at = logs_at = time.monotonic()
    leases = Leases()
    while not ended.wait(SWEEP_SECONDS):
        try:
            with app.app_context():
                sweep(leases, threads=threads)
                if time.monotonic() >= tidy_at:
                    tidy_at = time.monotonic() + TIDY_SECONDS
                    abandon_overflow(now=utc_now())
                    bound_waits(now=utc_now())
        except Exception:
            if time.monotonic() >= logs_at:
                logs_at = time.monotonic() + LOG_SECONDS
                log.exception("a sweep failed")
    with app.app_context():
        while not deliverer().is_idle:
            with suppress(SQLAlchemyError):
                deliverer().renew()
            time.sleep(SWEEP_SECONDS)


def sweep(leases: Leases, *, threads: int) -> None:
    """Renew our leases, release those of dead processes, and enqueue a wake-up for what is due.

    What is overdue is delivered here, in up to `threads` new threads.
    """
    deliverer().renew()
    now = utc_now()
    leases.look(now=now)
    due = read_due(threads, deliverer().room(), now=now)
    if not due:
        return
    overdue = sum(each.next_at <= now - timedelta(seconds=OVERDUE_SECONDS) for each in due)
    for _ in range(overdue):
        threading.Thread(target=deliverer().work, name="overdue", daemon=True).start()
    wake_up_queue().enqueue([each.id for each in due])


@contextmanager
def delivering(app: Flask, *, stop_seconds: float, start_after: float = 0) -> Iterator[Deliverer]:
    """Deliver while the block runs, unless events are switched off.

    start_after   seconds until the threads begin, and import RQ where Redis is configured
    stop_seconds  how long what runs may take, from the end or from an earlier `refuse`
    """
    config: Settings = app.config["SETTINGS"]
    deliverer: Deliverer = app.extensions["deliverer"]
    ended = threading.Event()
    if config.mcp_events_enabled:
        arguments = (app, ended, WORKER_THREADS, start_after)
        threading.Thread(target=_run, args=arguments, name="deliveries", daemon=True).start()
    try:
        yield deliverer
    finally:
        ended.set()
        deliverer.finish(stop_seconds)


def _run(app: Flask, ended: threading.Event, threads: int, start_after: float) -> None:
    if ended.wait(start_after):
        return
    arguments = (app, ended, DELIVERIES, threads, wake)
    threading.Thread(target=take_wake_ups, args=arguments, name="taking", daemon=True).start()
    sweep_until(app, ended, threads=threads)


def take_wake_ups(
    app: Flask,
    ended: threading.Event,
    kind: Kind,
    threads: int,
    wake: Callable[[str], object],
) -> None:
    """Have so many threads take them: of RQ where Redis is, else new ones in this process."""
    with app.app_context():
        wake_ups = wake_up_queue(kind)

    def woken(each: str) -> None:
        with app.app_context():
            wake(each)

    def take(ids: Sequence[str]) -> None:
        for each in () if ended.is_set() else ids[:threads]:
            threading.Thread(target=woken, args=(each,), name=kind.name, daemon=True).start()

    if wake_ups.redis_url is None:
        wake_ups.take = take
        return
    from jobs.rq_worker import work_until  # takes long to import

    for number in range(threads):
        name = f"{kind.name}-{number}"
        threading.Thread(target=work_until, args=(app, ended, kind), name=name, daemon=True).start()

"""The look into the database each second: what is due is enqueued, what nobody takes delivered."""

import logging
import threading
import time
from contextlib import suppress
from datetime import timedelta

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from jobs.deliver import deliverer
from jobs.queue import wake_up_queue
from webapp.database import utc_now
from webapp.domain.events.deliveries.claims import Leases, read_due
from webapp.domain.events.deliveries.expiry import abandon_overflow, bound_waits

SWEEP_SECONDS = 1.0
OVERDUE_SECONDS = 3  # then no worker of the queue is there
TIDY_SECONDS = 10.0
LOG_SECONDS = 60.0  # between two lines of the log that sweeps fail

log = logging.getLogger("askback.deliveries")


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

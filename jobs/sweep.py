"""The look into the database each second: what is due is enqueued, what nobody takes delivered."""

import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from flask import Flask

from jobs.deliver import deliverer
from jobs.queue import wake_up_queue
from webapp.database import utc_now
from webapp.domain.events.deliveries.claims import read_due, release_expired
from webapp.domain.events.deliveries.expiry import abandon_overflow

SWEEP_SECONDS = 1.0
OVERDUE_SECONDS = 3  # then no worker of the queue is there
TIDY_SECONDS = 10.0

log = logging.getLogger("askback.deliveries")


def sweep_until(app: Flask, ended: threading.Event, *, threads: int) -> None:
    """Sweep each second; a failure of one sweep is logged, the next one comes."""
    tidy_at = time.monotonic()
    while not ended.wait(SWEEP_SECONDS):
        _once(app, lambda: sweep(app, threads=threads))
        if time.monotonic() >= tidy_at:
            _once(app, lambda: abandon_overflow(now=utc_now()))
            tidy_at = time.monotonic() + TIDY_SECONDS


def sweep(app: Flask, *, threads: int) -> None:
    """Enqueue a wake-up for what is due; deliver what is overdue in up to so many new threads."""
    now = utc_now()
    release_expired(now=now)
    due = read_due(now=now)
    if not due:
        return
    overdue = sum(each.next_at <= now - timedelta(seconds=OVERDUE_SECONDS) for each in due)
    for _ in range(min(overdue, threads)):
        threading.Thread(target=deliverer().work, name="overdue", daemon=True).start()
    wake_up_queue().enqueue([each.id for each in due[:threads]])


def _once(app: Flask, work: Callable[[], object]) -> None:
    try:
        with app.app_context():
            work()
    except Exception:
        log.exception("a sweep failed")

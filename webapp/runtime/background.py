"""Background work of a process, in one thread: stores counts every second, ends expired
subscriptions every minute, purges every hour. Several processes may do so concurrently.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TypeAlias

from flask import Flask

from webapp.account_deletion import purge_deleted_accounts
from webapp.config import Settings
from webapp.database import utc_now
from webapp.domain.deletion.discarded_drafts import purge_discarded
from webapp.domain.deletion.form_trash import purge_deleted
from webapp.domain.events.deliveries.expiry import purge_settled
from webapp.domain.events.subscriptions.endings import end_expired, note_unqueued, purge_ended
from webapp.domain.respondents.device_transfer import purge_expired_links
from webapp.oauth.expiry import purge_dead
from webapp.web import link_view_counter, request_audit

STORE_SECONDS = 1.0
EXPIRE_SECONDS = 60.0
PURGE_SECONDS = 3600.0
STOP_SECONDS = 0.5  # so that a hanging database does not delay the stop
PAUSE_SECONDS = 0.05  # between the transactions of a purge, so that other writers get their turn

Purge: TypeAlias = Callable[[datetime], Iterator[int]]

# a failure of one leaves the others to be done
PURGES: tuple[Purge, ...] = (
    purge_deleted,
    purge_discarded,
    purge_deleted_accounts,
    purge_dead,
    purge_expired_links,
    purge_settled,
    purge_ended,
)

EXPIRIES: tuple[Purge, ...] = (end_expired,)
EXPIRIES_WITHOUT_EVENTS: tuple[Purge, ...] = (*EXPIRIES, note_unqueued)

log = logging.getLogger("askback.background")


@contextmanager
def background_work(app: Flask) -> Iterator[None]:
    """Run the thread while the block runs; the last counts are stored when it ends."""
    ended = threading.Event()
    thread = threading.Thread(target=_work, args=(app, ended), name="background", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(STOP_SECONDS)


def _work(app: Flask, ended: threading.Event) -> None:
    due = dict.fromkeys((EXPIRE_SECONDS, PURGE_SECONDS), time.monotonic())
    config: Settings = app.config["SETTINGS"]
    expiries = EXPIRIES if config.mcp_events_enabled else EXPIRIES_WITHOUT_EVENTS
    work = {EXPIRE_SECONDS: expiries, PURGE_SECONDS: PURGES}
    while not ended.wait(STORE_SECONDS):
        _store(app)
        for seconds, purges in work.items():
            if time.monotonic() >= due[seconds]:
                for purge in purges:
                    _once(app, partial(_purge, purge, ended))
                due[seconds] = time.monotonic() + seconds
    _store(app)


def _store(app: Flask) -> None:
    for store in (link_view_counter.store, request_audit.store):
        _once(app, store)


def _once(app: Flask, work: Callable[[], None]) -> None:
    """Log a failure and continue: the database may be unavailable for a while."""
    with app.app_context():
        try:
            work()
        except Exception:
            log.exception("background work failed")


def _purge(purge: Purge, ended: threading.Event) -> None:
    if ended.is_set():
        return
    for deleted in purge(utc_now()):
        log.info("purged", extra={"rows": deleted})
        if ended.wait(PAUSE_SECONDS):
            return

"""Background work of a process: stores counts every second, ends expired subscriptions and
unclaimed recordings every minute, purges every hour. Recordings are erased in threads of their own,
because their store may not answer. Several processes may do all this concurrently.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TypeAlias

from flask import Flask

from webapp.account_deletion import purge_deleted_accounts
from webapp.config import Settings
from webapp.database import utc_now
from webapp.domain.deletion.deleted_responses import purge_deleted_responses
from webapp.domain.deletion.discarded_drafts import purge_discarded
from webapp.domain.deletion.form_trash import purge_deleted
from webapp.domain.events.deliveries.expiry import purge_settled
from webapp.domain.events.subscriptions.endings import end_expired, note_unqueued, purge_ended
from webapp.domain.respondents.device_transfer import purge_expired_links
from webapp.domain.responses.spending import purge_spending
from webapp.domain.voice.erasing import purge_unclaimed
from webapp.oauth.expiry import purge_dead
from webapp.runtime.audio_cleanup import erase_noted, erase_spooled, erase_unreferenced
from webapp.web import link_view_counter, request_audit

STORE_SECONDS = 1.0
DELETE_SECONDS = 5.0
ERASE_SECONDS = 20.0
EXPIRE_SECONDS = 60.0
PURGE_SECONDS = 3600.0
STOP_SECONDS = 0.5  # so that a hanging database does not delay the stop
PAUSE_SECONDS = 0.05  # between the transactions of a purge, so that other writers get their turn

Purge: TypeAlias = Callable[[datetime], Iterator[int]]

# a failure of one leaves the others to be done
PURGES: tuple[Purge, ...] = (
    purge_discarded,
    purge_dead,
    purge_expired_links,
    purge_spending,
    purge_settled,
    purge_ended,
)

# what people gave up for good: its recordings are to be gone within a minute, too
GIVEN_UP: tuple[Purge, ...] = (purge_deleted, purge_deleted_accounts)
DELETED: tuple[Purge, ...] = (purge_deleted_responses,)
# each line in a thread of its own: listing a large store takes minutes
ERASURES: dict[float, tuple[Purge, ...]] = {
    ERASE_SECONDS: (erase_noted,),
    PURGE_SECONDS: (erase_unreferenced, erase_spooled),
}
EXPIRIES: tuple[Purge, ...] = (end_expired, purge_unclaimed)
EXPIRIES_WITHOUT_EVENTS: tuple[Purge, ...] = (*EXPIRIES, note_unqueued)

log = logging.getLogger("askback.background")


@contextmanager
def background_work(app: Flask) -> Iterator[None]:
    """Run the threads while the block runs; the last counts are stored when it ends."""
    ended = threading.Event()
    work: list[tuple[str, Callable[[], None]]] = [("background", partial(_work, app, ended))]
    work += [
        (f"erasing, each {seconds:g} s", partial(_erase, app, ended, {seconds: purges}))
        for seconds, purges in ERASURES.items()
    ]
    threads = [threading.Thread(target=each, name=name, daemon=True) for name, each in work]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        until = time.monotonic() + STOP_SECONDS
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))


def _work(app: Flask, ended: threading.Event) -> None:
    """Everything that is done with the database."""
    config: Settings = app.config["SETTINGS"]
    expiries = EXPIRIES if config.mcp_events_enabled else EXPIRIES_WITHOUT_EVENTS
    work = {
        DELETE_SECONDS: DELETED,
        ERASE_SECONDS: GIVEN_UP,
        EXPIRE_SECONDS: expiries,
        PURGE_SECONDS: PURGES,
    }
    due = dict.fromkeys(work, time.monotonic())
    while not ended.wait(STORE_SECONDS):
        _store(app)
        _purge_what_is_due(app, ended, work, due)
    _store(app)


def _erase(app: Flask, ended: threading.Event, work: Mapping[float, Sequence[Purge]]) -> None:
    """What needs the store of recordings, too."""
    due = dict.fromkeys(work, time.monotonic())
    while not ended.wait(STORE_SECONDS):
        _purge_what_is_due(app, ended, work, due)


def _purge_what_is_due(
    app: Flask,
    ended: threading.Event,
    work: Mapping[float, Sequence[Purge]],
    due: dict[float, float],
) -> None:
    """Do the work whose seconds have passed, and note in `due` when it is to be done again."""
    for seconds, purges in work.items():
        if time.monotonic() >= due[seconds]:
            for purge in purges:
                _once(app, partial(_purge, purge, ended))
            due[seconds] = time.monotonic() + seconds


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

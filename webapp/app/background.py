"""Background work of a process, and the erasure of recordings."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TypeAlias

from flask import Flask

from webapp.answers import device_transfer, trash
from webapp.base.config import Settings, settings
from webapp.base.data_folder import empty_spool
from webapp.base.database import utc_now
from webapp.events import delivering, endings
from webapp.oauth import account_deletion, tokens
from webapp.records.responses.counters import purge_spending
from webapp.voice import uploads
from webapp.voice.audio_store import audio_store
from webapp.web import deferred_writes, request_audit

UNREFERENCED_KEPT_SECONDS = 24 * 3600  # objects without a row; a restore takes less
STORE_SECONDS = 1.0
DELETE_SECONDS = 5.0
ERASE_SECONDS = 20.0
EXPIRE_SECONDS = 60.0
PURGE_SECONDS = 3600.0
STOP_SECONDS = 0.5  # so that a hanging database does not delay the stop
PAUSE_SECONDS = 0.05  # between the transactions of a purge, so that other writers get their turn

log = logging.getLogger("askback.background")
Purge: TypeAlias = Callable[[datetime], Iterator[int]]
Work: TypeAlias = dict[float, tuple[Purge, ...]]  # by the seconds between two runs


def erase_noted(_now: datetime) -> Iterator[int]:
    """Erase objects whose row is gone; yields the number of each batch."""
    while erased := uploads.erase_noted_objects():
        yield erased


def erase_unreferenced(now: datetime) -> Iterator[int]:
    """Erase objects without a row that are a day old; yields the number of each batch.

    Younger ones may belong to an upload or a restore that has not committed its rows.
    """
    latest = now - timedelta(seconds=UNREFERENCED_KEPT_SECONDS)
    old = (each.key for each in audio_store().list_objects() if each.changed_at < latest)
    while batch := list(islice(old, uploads.ERASED_AT_ONCE)):
        if lost := uploads.without_row(batch):
            audio_store().delete(sorted(lost))
            yield len(lost)


def erase_spooled(_now: datetime) -> Iterator[int]:
    """Delete uploads, and copies for transcription, that killed processes left behind."""
    empty_spool(settings().data_folder)
    return iter(())


WORK: Work = {
    DELETE_SECONDS: (trash.purge_deleted_responses,),
    # recordings in deleted forms and accounts must be gone within a minute, too
    ERASE_SECONDS: (trash.purge_deleted, account_deletion.purge_deleted_accounts),
    PURGE_SECONDS: (
        *(trash.purge_discarded, tokens.purge_dead, device_transfer.purge_expired_links),
        *(purge_spending, delivering.purge_settled, endings.purge_ended),
    ),
}
# each in a thread of its own: listing a large store takes minutes
ERASURES: tuple[Work, ...] = (
    {ERASE_SECONDS: (erase_noted,)},
    {PURGE_SECONDS: (erase_unreferenced, erase_spooled)},
)


def count_without_object() -> tuple[int, int]:
    """Return the number of recordings, and how many of them have no object."""
    rows = uploads.object_keys()
    missing = rows - {each.key for each in audio_store().list_objects()}
    # some may have been withdrawn since they were read
    return len(rows), len(missing - uploads.without_row(missing))


@contextmanager
def background_work(app: Flask) -> Iterator[None]:
    """Run the threads during the block; the last counts are stored at its end."""
    ended = threading.Event()
    config: Settings = app.config["SETTINGS"]
    expiries = endings.end_expired, uploads.purge_unclaimed
    without_events = () if config.mcp_events_enabled else (endings.note_unqueued,)
    with_database = WORK | {EXPIRE_SECONDS: (*expiries, *without_events)}
    stores = (deferred_writes.store_views, request_audit.store)
    arguments = [(with_database, stores), *((work, ()) for work in ERASURES)]
    threads = [
        threading.Thread(target=_work, args=(app, ended, *each), name="background", daemon=True)
        for each in arguments
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        until = time.monotonic() + STOP_SECONDS
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))


def _work(
    app: Flask, ended: threading.Event, work: Work, stores: Sequence[Callable[[], None]]
) -> None:
    """Call all of `stores` each second and once at the end, and each part of `work` when due."""
    due = dict.fromkeys(work, time.monotonic())
    while not ended.wait(STORE_SECONDS):
        _each(app, stores)
        for seconds, purges in work.items():
            if time.monotonic() >= due[seconds]:
                _each(app, [partial(_purge, purge, ended) for purge in purges])
                due[seconds] = time.monotonic() + seconds
    _each(app, stores)


def _each(app: Flask, works: Sequence[Callable[[], None]]) -> None:
    """Call all works; log failures and continue, as the database may be unavailable for a while."""
    for work in works:
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

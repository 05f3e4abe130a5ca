"""Erases objects of the audio store that nothing refers to, and finds recordings without one."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from webapp.config import settings
from webapp.data_folder import empty_spool
from webapp.domain.shared.limits import UNREFERENCED_KEPT_SECONDS
from webapp.domain.voice.erasing import (
    ERASED_AT_ONCE,
    object_keys,
    without_row,
)
from webapp.integrations.audio_store import audio_store, erase_noted_objects


def erase_noted(_now: datetime) -> Iterator[int]:
    """Erase objects whose row is gone; yields how many, after each batch."""
    while erased := erase_noted_objects():
        yield erased


def erase_unreferenced(now: datetime) -> Iterator[int]:
    """Erase objects without a row, once they are a day old; yields how many, for each batch.

    Younger ones may belong to an upload or a restore that has not committed its rows.
    """
    latest = now - timedelta(seconds=UNREFERENCED_KEPT_SECONDS)
    old = (each.key for each in audio_store().list_objects() if each.changed_at < latest)
    while batch := list(islice(old, ERASED_AT_ONCE)):
        if lost := without_row(batch):
            audio_store().delete(sorted(lost))
            yield len(lost)


def erase_spooled(_now: datetime) -> Iterator[int]:
    """Erase what killed processes left of uploads, and of copies for whoever writes down."""
    empty_spool(settings().data_folder)
    return iter(())


def count_without_object() -> tuple[int, int]:
    """How many recordings there are, and how many of them have no object."""
    rows = set(object_keys())
    missing = rows - {each.key for each in audio_store().list_objects()}
    # some may have been withdrawn since they were read
    return len(rows), len(missing - without_row(missing))

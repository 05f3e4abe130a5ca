"""Transcribing: threads claim what is due, and an engine writes it down."""

import logging
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import cast

from flask import Flask, current_app
from sqlalchemy.exc import SQLAlchemyError

from jobs.queue import BEGUN, TRANSCRIPTIONS, hand_over, store, wake_up_queue
from jobs.worker import take_wake_ups
from webapp.answers.late_transcripts import conclude
from webapp.base.config import Settings, settings
from webapp.base.data_folder import empty_spool, open_folder, spool_folder
from webapp.base.database import release_connections, utc_now
from webapp.base.vocabulary import TranscriptState
from webapp.voice.audio_inspection import TranscriptionFailed, look, sniff_file
from webapp.voice.audio_store import audio_store
from webapp.voice.transcription import get_ready, is_loaded, write_down
from webapp.voice.transcripts import (
    Claimed,
    claim,
    is_recorded_here,
    note_look,
    put_back,
    read_steps,
    release_expired,
    renew,
    settle_failed,
    settle_silent,
    settle_unwritten,
    settle_written,
    spend_minutes,
)

EXTENSION = "transcriber"
RENEW_SECONDS = 20.0
UNDECLARED_MS = 5000  # beyond what its container claimed: it would spend minutes that nobody counts

log = logging.getLogger("askback.transcripts")


class Transcriber:
    """What writes down in this process, at most so many recordings at a time.

    A thread that finds nothing to do leaves.
    """

    def __init__(self, app: Flask, at_once: int) -> None:
        self._app = app
        self._free = threading.Semaphore(at_once)
        self._refuses = threading.Event()
        self._running: dict[str, Claimed] = {}

    def work(self) -> None:
        """Write down until nothing is due, or there is no place for this thread."""
        if not self._free.acquire(blocking=False):
            return
        try:
            while not self._refuses.is_set() and (claimed := self._claim()) is not None:
                self._attempt(claimed)
        finally:
            self._free.release()

    def refuse(self) -> None:
        """Claim nothing any more; what runs goes on."""
        self._refuses.set()

    def put_back(self) -> None:
        """Leave what runs to others, because this process ends; what fails is left to its lease."""
        self.refuse()
        for claimed in list(self._running.values()):
            with suppress(SQLAlchemyError), self._app.app_context():
                put_back(claimed, now=utc_now())

    def _claim(self) -> Claimed | None:
        with self._app.app_context():
            return claim(now=utc_now())

    def _attempt(self, claimed: Claimed) -> None:
        """Look, write down and settle; whatever fails uses the attempt up.

        Where not even that can be stored, the end of the lease brings the recording back.
        """
        self._running[claimed.id] = claimed
        try:
            with self._app.app_context(), _renewed(self._app, claimed):
                outcome = _outcome(claimed, settings())
        except Exception as error:
            why = f": {error}" if isinstance(error, TranscriptionFailed) else ""
            log.warning("a recording was not written down%s", why, exc_info=not why)
            outcome = partial(settle_failed, claimed)
        try:
            store(self._app, lambda: outcome(now=utc_now()))
            store(self._app, lambda: conclude_and_wake(claimed.id))
        except Exception:
            log.exception("what came of a recording was not stored")
        # another thread may have claimed it after the lease of this one
        self._running.pop(claimed.id, None)


def wake(recording_id: str) -> None:
    """A job: go on with whatever is due, if there is a place; for BEGUN, get ready."""
    if recording_id == BEGUN:
        return get_ready(settings())
    return cast(Transcriber, current_app.extensions[EXTENSION]).work()


def conclude_and_wake(recording_id: str) -> None:
    """The step after an attempt; deliveries that waited for it are handed over."""
    hand_over(conclude(recording_id, now=utc_now(), form_bytes_max=settings().limit_form_bytes))


def _outcome(claimed: Claimed, config: Settings) -> Callable[..., object]:
    """What the attempt brought. Raises whatever the store, the child and the engine raise."""
    with _copy(claimed, config.data_folder) as path:
        audio = sniff_file(path)
        if claimed.levels is None:
            seen = look(path, audio)
            if not seen.voiced:
                return partial(settle_silent, claimed, seen.levels)
            claimed = claimed._replace(levels=seen.levels)
            if seen.decoded_ms > claimed.duration_ms + UNDECLARED_MS:
                return partial(settle_unwritten, claimed)
            note_look(claimed, seen.levels)
            claimed = claimed._replace(duration_ms=max(claimed.duration_ms, seen.decoded_ms))
        if not claimed.transcriber or claimed.transcriber != config.transcriber_host:
            return partial(settle_unwritten, claimed)
        if not renew(claimed, now=utc_now()):  # withdrawn or replaced: nobody gets it any more
            return _nothing
        if not spend_minutes(
            claimed,
            of_form=config.transcriber_minutes_per_day,
            of_server=config.transcriber_minutes_per_day_total,
            now=utc_now(),
        ):
            if claimed.claimed:  # anyone can make others
                log.warning("the minutes of this day are used up that an answer may have")
            return _nothing
        release_connections()  # for as long as the engine takes
        return partial(
            settle_written,
            claimed,
            write_down(path, audio, claimed.language, hint=claimed.hint, config=config),
        )


def _nothing(*, now: object) -> None:
    """It waits for another day or for an answer, or is not ours any more."""


@contextmanager
def _copy(claimed: Claimed, data_folder: Path) -> Iterator[Path]:
    """The recording as a file that its owner alone may read, gone after the block."""
    open_folder(data_folder)
    with tempfile.NamedTemporaryFile(dir=spool_folder(data_folder)) as file:
        path = Path(file.name)
        audio_store().copy_to(claimed.object_key, path)
        release_connections()
        yield path


@contextmanager
def _renewed(app: Flask, claimed: Claimed) -> Iterator[None]:
    """Keep the lease while the block runs."""
    ended = threading.Event()

    def keep() -> None:
        while not ended.wait(RENEW_SECONDS):
            with suppress(SQLAlchemyError), app.app_context():
                if not renew(claimed, now=utc_now()):
                    return

    threading.Thread(target=keep, name="lease", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


SWEEP_SECONDS = 1.0
STAY_SECONDS = 20.0  # between two looks whether an engine of this server is still needed
OVERDUE_SECONDS = 3  # then no worker of the queue is there
LOG_SECONDS = 60.0  # between two lines of the log that sweeps fail


@contextmanager
def transcribing(app: Flask, *, at_once: int, start_after: float = 0) -> Iterator[Transcriber]:
    """Look at recordings and write them down while the block runs.

    at_once      how many at a time
    start_after  seconds until the threads begin, and import RQ where Redis is configured
    """
    transcriber = app.extensions[EXTENSION] = Transcriber(app, at_once)
    ended = threading.Event()
    arguments = (app, ended, at_once, start_after)
    threading.Thread(target=_run, args=arguments, name="transcripts", daemon=True).start()
    try:
        yield transcriber
    finally:
        ended.set()
        transcriber.put_back()


def sweep_until(app: Flask, ended: threading.Event) -> None:
    """Sweep each second, also after one that failed; a long failure is logged now and then."""
    logs_at = stays_until = time.monotonic()
    while not ended.wait(SWEEP_SECONDS):
        try:
            with app.app_context():
                sweep(app.extensions[EXTENSION])
                if time.monotonic() >= stays_until:
                    stays_until = time.monotonic() + STAY_SECONDS
                    stay_ready_if_needed()
        except Exception:
            if time.monotonic() >= logs_at:
                logs_at = time.monotonic() + LOG_SECONDS
                log.exception("a sweep failed")


def sweep(transcriber: Transcriber) -> None:
    """Do what is left of recordings that were written down; have the others written down."""
    now = utc_now()
    steps = read_steps(now=now)
    if any(step.lease_until is not None for step in steps):
        release_expired(now=now)
    for step in steps:
        if step.state is not TranscriptState.WAITING:
            conclude_and_wake(step.id)
    due = [step for step in steps if step.state is TranscriptState.WAITING]
    if any(step.next_at <= now - timedelta(seconds=OVERDUE_SECONDS) for step in due):
        threading.Thread(target=transcriber.work, name="overdue", daemon=True).start()
    if due:
        wake_up_queue(TRANSCRIPTIONS).enqueue([step.id for step in due])


def stay_ready_if_needed() -> None:
    """Keep the model of an engine of this server while a form that records is out."""
    if is_loaded(settings()) and is_recorded_here():
        get_ready(settings())


def _run(app: Flask, ended: threading.Event, at_once: int, start_after: float) -> None:
    if ended.wait(start_after):
        return
    config: Settings = app.config["SETTINGS"]
    empty_spool(config.data_folder)  # copies of processes that were killed
    arguments = (app, ended, TRANSCRIPTIONS, at_once, wake)
    threading.Thread(target=take_wake_ups, args=arguments, name="taking", daemon=True).start()
    sweep_until(app, ended)

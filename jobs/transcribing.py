"""What writes down in this process: threads that RQ wakes, and the look into the database."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from flask import Flask

from jobs.queue import TRANSCRIPTIONS, wake_up_queue
from jobs.transcribe import EXTENSION, Transcriber, conclude_and_wake
from jobs.worker import take_wake_ups
from webapp.config import Settings, settings
from webapp.data_folder import empty_spool
from webapp.database import utc_now
from webapp.domain.shared.vocabulary import TranscriptState
from webapp.domain.voice.transcripts import is_recorded_here, read_steps, release_expired
from webapp.integrations.transcription import get_ready, is_loaded

SWEEP_SECONDS = 1.0
STAY_SECONDS = 20.0  # between two looks whether an engine of this server is still needed
OVERDUE_SECONDS = 3  # then no worker of the queue is there
LOG_SECONDS = 60.0  # between two lines of the log that sweeps fail

log = logging.getLogger("askback.transcripts")


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
    arguments = (app, ended, TRANSCRIPTIONS, at_once)
    threading.Thread(target=take_wake_ups, args=arguments, name="taking", daemon=True).start()
    sweep_until(app, ended)

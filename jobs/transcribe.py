"""Transcription jobs: threads claim due recordings, and an engine transcribes them."""

import logging
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from jobs.queue import BEGUN, TRANSCRIPTIONS, hand_over
from jobs.worker import Worker, at_work
from webapp.answers.late_transcripts import conclude
from webapp.base.config import Settings, settings
from webapp.base.data_folder import empty_spool, open_folder, spool_folder
from webapp.base.database import release_connections, utc_now
from webapp.base.vocabulary import TranscriptState
from webapp.voice import audio_store, transcription, transcripts
from webapp.voice.audio_inspection import TranscriptionFailed, look, sniff_file

RENEW_SECONDS = 20.0
UNDECLARED_MS = 5000  # beyond the claimed duration: more would use uncounted minutes

log = logging.getLogger("askback.transcripts")


class Transcriber(Worker[transcripts.Claimed]):
    """The worker that transcribes in this process."""

    queue = TRANSCRIPTIONS

    def __init__(self, app: Flask, threads: int) -> None:
        super().__init__(app, threads)
        self._renews_at = time.monotonic() + RENEW_SECONDS

    def take(self, ids: Sequence[str]) -> None:
        """Look for work now; for BEGUN, also load the model."""
        if BEGUN in ids:
            threading.Thread(target=self._get_ready, daemon=True).start()
        super().take(ids)

    def claim(self, most: int) -> Sequence[transcripts.Claimed]:
        found = transcripts.claim(now=utc_now())
        if found and most > 1:
            super().take([])  # more recordings may be due
        return [found] if found else []

    def attempt(self, claimed: transcripts.Claimed) -> None:
        """Inspect, transcribe and settle one recording; any failure uses up the attempt.

        If even the failure cannot be stored, the recording is due again when its lease ends.
        """
        try:
            with self.app.app_context():
                outcome = _outcome(claimed, settings())
        except Exception as error:
            why = f": {error}" if isinstance(error, TranscriptionFailed) else ""
            log.warning("a recording was not written down%s", why, exc_info=not why)
            outcome = partial(transcripts.settle_failed, claimed)
        try:
            self.store(lambda: outcome and outcome(now=utc_now()))
            self.store(lambda: hand_over(conclude(claimed.id, now=utc_now())))
        except Exception:
            log.exception("what came of a recording was not stored")

    def sweep(self) -> None:
        """Renew our leases, release expired ones, and conclude recordings whose attempt ended."""
        now = utc_now()
        if time.monotonic() >= self._renews_at:
            self._renews_at = time.monotonic() + RENEW_SECONDS
            for claimed in self.running:
                transcripts.renew(claimed, now=now)
        transcripts.release_expired(now=now)
        for recording in transcripts.read_steps(now=now):
            hand_over(conclude(recording, now=now))  # deliveries that waited for it

    def stop(self) -> None:
        """Return running work, because this process ends; on failure, the lease expires."""
        self.refuse()
        for claimed in self.running:
            with suppress(SQLAlchemyError), self.app.app_context():
                transcripts.put_back(claimed, now=utc_now())

    def _get_ready(self) -> None:
        with self.app.app_context():
            transcription.get_ready(settings())


def _outcome(claimed: transcripts.Claimed, config: Settings) -> Callable[..., object] | None:
    """Return the function that stores the result. None if the lease is lost, or if the recording
    waits for an answer or another day. Raises any error of the store, the child and the engine.
    """
    with _copy(claimed, config.data_folder) as path:
        audio = sniff_file(path)
        if claimed.levels is None:
            seen = look(path, audio)
            claimed = claimed._replace(levels=seen.levels)
            if not seen.voiced:
                return partial(transcripts.settle, claimed, TranscriptState.SILENT)
            if seen.decoded_ms > claimed.duration_ms + UNDECLARED_MS:
                return partial(transcripts.settle, claimed, TranscriptState.NONE)
            transcripts.note_look(claimed, seen.levels)
            claimed = claimed._replace(duration_ms=max(claimed.duration_ms, seen.decoded_ms))
        if not claimed.transcriber or claimed.transcriber != config.transcriber_host:
            return partial(transcripts.settle, claimed, TranscriptState.NONE)
        if not transcripts.renew(claimed, now=utc_now()):  # the recording was withdrawn or replaced
            return None
        if not transcripts.spend_minutes(
            claimed,
            of_form=config.transcriber_minutes_per_day,
            of_server=config.transcriber_minutes_per_day_total,
            now=utc_now(),
        ):
            if claimed.claimed:  # anyone can create unclaimed recordings
                log.warning("the minutes of this day are used up that an answer may have")
            return None
        release_connections()  # while the engine runs
        return partial(
            transcripts.settle_written,
            claimed,
            transcription.write_down(
                path, audio, claimed.language, hint=claimed.hint, config=config
            ),
        )


@contextmanager
def _copy(claimed: transcripts.Claimed, data_folder: Path) -> Iterator[Path]:
    """Provide the recording as a file readable only by its owner; deleted after the block."""
    open_folder(data_folder)
    with tempfile.NamedTemporaryFile(dir=spool_folder(data_folder)) as file:
        path = Path(file.name)
        audio_store.audio_store().copy_to(claimed.object_key, path)
        release_connections()
        yield path


def transcribing(
    app: Flask, *, at_once: int, start_after: float = 0
) -> AbstractContextManager[Transcriber]:
    """Inspect and transcribe recordings, `at_once` at most, while the block runs."""
    empty_spool(app.config["SETTINGS"].data_folder)  # left by killed processes
    return at_work(Transcriber(app, at_once), start_after=start_after)

"""Recordings on their way through the store, the child and a service: what comes of them."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from jobs import transcribe, worker
from jobs.queue import BEGUN, TRANSCRIPTIONS, WakeUpQueue, hand_over_recordings
from jobs.transcribe import Transcriber
from tests.domain.voice.claims import answer_with, make_answered, make_waiting, stored
from tests.event_factories import make_subscription
from tests.factories import make_answer, make_form
from tests.pages.respondent_client import set_columns, texts
from tests.services import free_port, wait_until
from tests.voice.audio_files import recording as audio_file
from tests.voice.fake_whisper import fake_whisper
from tests.voice.hostile_audio import hurried
from tests.voice.speech_engine import Reply, SpeechEngine, speech_engine, words
from webapp.answers.answering import complete_response, withdraw_response
from webapp.base.config import OPENAI, WHISPER
from webapp.base.data_folder import spool_folder
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import DeliveryState, TranscriptState
from webapp.records.accounts.models import Account
from webapp.records.events import EventDelivery
from webapp.records.responses.counters import DaySpending
from webapp.records.responses.models import Answer
from webapp.records.responses.recordings import Recording
from webapp.voice import audio_inspection, transcription, transcripts
from webapp.voice.audio_inspection import AudioFormat, Look
from webapp.voice.audio_store import audio_store

KEY = "k" * 24
WORDS = "Ben swapped it."
DONE, FAILED, NONE, SILENT, WAITING = (
    TranscriptState[name] for name in ("DONE", "FAILED", "NONE", "SILENT", "WAITING")
)

Use = Callable[..., None]


@pytest.fixture
def use(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Use:
    """Let the application write recordings down by this service."""

    def used(engine: SpeechEngine, **changed: Any) -> None:
        given = {
            "transcriber": OPENAI,
            "transcriber_url": engine.url,
            "transcriber_model": "small-en",
        }
        config = app.config["SETTINGS"].model_copy(update=given | changed)
        monkeypatch.setitem(app.config, "SETTINGS", config)

    return used


@pytest.fixture
def engine(use: Use) -> Iterator[SpeechEngine]:
    """One that hears WORDS in everything."""
    with speech_engine(lambda _number: words(WORDS)) as found:
        use(found)
        yield found


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(account.id)


def recorded(
    app: Flask,
    form: Any,
    sound: str = "voice",
    content: bytes = b"",
    *,
    key: str = KEY,
    make: Callable[..., str] = make_waiting,
    **changed: Any,
) -> str:
    """The id of a recording that waits, with its object; for the transcriber that there is."""
    with app.app_context():
        told = {"transcriber": app.config["SETTINGS"].transcriber_host}
        made = make(form, key, **told | changed)
        path = spool_folder(app.config["SETTINGS"].data_folder) / made
        path.write_bytes(content or audio_file("webm", sound, 1.0))
        audio_store().put(stored(made).object_key, path)
        path.unlink()
        return made


def work(app: Flask) -> None:
    Transcriber(app, threads=1).work()


def outcome(app: Flask, recording_id: str) -> tuple[str, str | None]:
    with app.app_context():
        found = stored(recording_id)
        return found.transcript_state, found.transcript


def left_behind(app: Flask) -> list[Path]:
    return list(spool_folder(app.config["SETTINGS"].data_folder).iterdir())


def test_a_recording_is_looked_at_and_written_down(
    app: Flask, form: Any, engine: SpeechEngine
) -> None:
    recording = recorded(app, form)
    work(app)

    assert outcome(app, recording) == (DONE, WORDS)
    with app.app_context():
        assert re.fullmatch("[0-9]{64}", stored(recording).levels or "")
    assert [each.file for each in engine.heard] == [audio_file("webm", "voice", 1.0)]
    assert "language" not in engine.heard[0].fields  # it finds out by itself
    assert left_behind(app) == []


def test_an_engine_in_a_child_hears_the_language_of_the_questions(
    app: Flask, form: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = {"transcriber": WHISPER, "transcriber_model": "tiny"}
    config = app.config["SETTINGS"].model_copy(update=changed)
    monkeypatch.setitem(app.config, "SETTINGS", config)
    with fake_whisper(tmp_path / "libraries", monkeypatch):
        Transcriber(app, threads=1).take([BEGUN])
        wait_until(lambda: transcription.child.pid is not None, "loading the model")
        recording = recorded(app, form)
        work(app)

    assert outcome(app, recording) == (DONE, "tiny 1 en 1 and more.")
    assert left_behind(app) == []


@pytest.mark.parametrize(
    ("sound", "named", "state"),
    [("silence", None, SILENT), ("voice", "", NONE), ("voice", "speech.example.org", NONE)],
)
def test_neither_silence_nor_what_was_for_somebody_else_reaches_an_engine(
    app: Flask, form: Any, engine: SpeechEngine, sound: str, named: str | None, state: str
) -> None:
    recording = recorded(app, form, sound, **({} if named is None else {"transcriber": named}))
    work(app)

    assert outcome(app, recording) == (state, None)
    assert engine.heard == []


def test_what_fails_is_tried_three_times_and_looked_at_once(
    app: Flask, form: Any, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[AudioFormat] = []

    def look(path: Path, audio: AudioFormat) -> Look:
        looked.append(audio)
        return audio_inspection.look(path, audio)

    monkeypatch.setattr(transcribe, "look", look)
    with speech_engine(lambda _number: Reply(b"busy", 500)) as engine:
        use(engine)
        recording = recorded(app, form, make=make_answered)
        for left in (2, 1, 0):
            assert outcome(app, recording)[0] == WAITING
            work(app)
            work(app)  # not due yet
            assert len(engine.heard) == 3 - left
            set_columns(app, Recording, next_at=utc_now())

    assert outcome(app, recording) == (FAILED, None)
    assert len(looked) == 1


def test_beyond_the_minutes_of_all_forms_no_engine_is_asked(
    app: Flask, form: Any, engine: SpeechEngine, use: Use
) -> None:
    use(engine, transcriber_minutes_per_day_total=1)
    with app.app_context():
        other = make_form(form.account_id)
    for of, key in ((form, "a"), (other, "b")):
        last = recorded(app, of, key=key * 24, make=make_answered, duration_ms=40_000)
    work(app)

    assert (len(engine.heard), outcome(app, last)) == (1, (WAITING, None))


@pytest.mark.parametrize(("seconds", "claimed_ms", "heard"), [(20.0, 1256, 0), (4.0, 1, 1)])
def test_what_sounds_is_counted_not_what_its_container_claims(
    app: Flask, form: Any, engine: SpeechEngine, seconds: float, claimed_ms: int, heard: int
) -> None:
    """Far more sound than it claims reaches no engine, and spends no minutes."""
    recording = recorded(app, form, content=hurried(seconds), duration_ms=claimed_ms)
    work(app)

    assert len(engine.heard) == heard
    assert outcome(app, recording)[0] == (DONE if heard else NONE)
    with app.app_context():
        assert len(stored(recording).levels or "") == 64
        spent = [row.spent for row in db.session.query(DaySpending)]
        assert min(spent, default=3000) >= 3000
        assert bool(spent) == bool(heard)


@pytest.mark.parametrize("asked", [0, 1])
def test_one_that_is_withdrawn_meanwhile_leaves_nothing(
    app: Flask, form: Any, use: Use, monkeypatch: pytest.MonkeyPatch, asked: int
) -> None:
    """While it is looked at, or while the engine listens."""

    def withdraw(_number: int = 0) -> Reply:
        with app.app_context():
            withdraw_response(form.share_token, KEY, now=utc_now())
        return words(WORDS)

    def look(path: Path, audio: AudioFormat) -> Look:
        withdraw()
        return audio_inspection.look(path, audio)

    if not asked:
        monkeypatch.setattr(transcribe, "look", look)
    with speech_engine(withdraw) as engine:
        use(engine)
        with app.app_context():
            make_answer(form, KEY)
        recording = recorded(app, form)
        work(app)

    assert len(engine.heard) == asked
    with app.app_context():
        assert db.session.get(Recording, recording) is None
        assert db.session.query(Answer).count() == 0


def test_a_wake_up_is_enough_and_the_answer_gets_its_words(
    app: Flask, form: Any, engine: SpeechEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "SWEEP_SECONDS", 60)
    waiting = WakeUpQueue(None, TRANSCRIPTIONS)
    monkeypatch.setitem(app.extensions, TRANSCRIPTIONS, waiting)
    with app.app_context():
        make_subscription(form)
        make_answer(form, KEY)
    recording = recorded(app, form)
    with app.app_context():
        answer_with(recording, KEY)
        queued = complete_response(form.share_token, KEY, responder_name="", now=utc_now())
    with transcribe.transcribing(app, at_once=1):
        time.sleep(0.3)
        with app.app_context():
            hand_over_recordings([recording])
        wait_until(lambda: outcome(app, recording) == (DONE, WORDS), "being written down")
        wait_until(lambda: texts(app) == [WORDS], "filling the answer")

    with app.app_context():
        assert queued
        delivery = db.session.get_one(EventDelivery, queued[0])
        assert (delivery.state, delivery.next_at <= utc_now()) == (DeliveryState.PENDING, True)


def test_without_redis_the_sweeper_does_it_and_fills_what_a_killed_process_left(
    app: Flask, form: Any, engine: SpeechEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "SWEEP_SECONDS", 0.05)
    nowhere = WakeUpQueue(f"redis://127.0.0.1:{free_port()}/0", TRANSCRIPTIONS)
    monkeypatch.setitem(app.extensions, TRANSCRIPTIONS, nowhere)
    with app.app_context():
        make_answer(form, KEY)
    recording = recorded(app, form)
    with app.app_context():
        answer_with(recording, KEY)
        held = transcripts.claim(now=utc_now())
        assert held
        transcripts.settle_written(held, WORDS, now=utc_now())
        assert texts(app) == [""]
    other = recorded(app, form, key="o" * 24)
    with transcribe.transcribing(app, at_once=1):
        wait_until(lambda: texts(app) == [WORDS], "filling the answer")
        wait_until(lambda: outcome(app, other) == (DONE, WORDS), "being written down")


def test_the_lease_is_renewed_while_an_engine_takes_long(
    app: Flask, form: Any, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "SWEEP_SECONDS", 0.05)
    monkeypatch.setattr(transcribe, "RENEW_SECONDS", 0.1)
    leases: list[Any] = []

    def slow(_number: int) -> Reply:
        for _ in range(2):
            with app.app_context():
                leases.append(stored(recording).lease_until)
            time.sleep(0.4)
        return words(WORDS)

    with speech_engine(slow) as engine:
        use(engine)
        recording = recorded(app, form)
        with transcribe.transcribing(app, at_once=1):
            wait_until(lambda: outcome(app, recording) == (DONE, WORDS), "being written down")

    assert leases[0] < leases[1]


def test_a_process_that_stops_puts_back_what_it_has(app: Flask, form: Any, use: Use) -> None:
    with speech_engine(lambda _number: words(WORDS, after=1.0)) as engine:
        use(engine)
        recording = recorded(app, form)
        stopping = Transcriber(app, threads=1)
        thread = threading.Thread(target=stopping.work)
        thread.start()
        wait_until(lambda: bool(engine.heard), "being asked")
        stopping.stop()
        with app.app_context():
            found = stored(recording)
            assert (found.transcript_state, found.attempts, found.lease_until) == (WAITING, 0, None)
        thread.join()
        assert outcome(app, recording) == (WAITING, None)
        work(app)

    assert outcome(app, recording) == (DONE, WORDS)

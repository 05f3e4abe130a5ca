"""`askback run` and `askback worker` as processes that write recordings down and are killed."""

import secrets
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from tests.command import start
from tests.databases import empty_postgresql_first
from tests.domain.voice.claims import answer_with, make_waiting, stored
from tests.factories import make_account, make_answer, make_form
from tests.jobs.test_processes import beside, place, variables
from tests.services import free_port, wait_until
from tests.voice.audio_files import recording as audio_file
from tests.voice.speech_engine import SpeechEngine, speech_engine, words
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import TranscriptState
from webapp.records.responses.models import Answer
from webapp.records.responses.recordings import Recording
from webapp.voice.audio_store import audio_store

WORDS = "Ben swapped it."

__all__ = ["beside", "place", "variables"]


def spoken(app: Flask, engine: SpeechEngine, path: Path) -> str:
    """The id of a recording that has an answer and waits, with its object."""
    path.write_bytes(audio_file("webm", "voice", 1.0))
    with app.app_context():
        form: Any = make_form(make_account().id)
        key = secrets.token_urlsafe(24)
        make_answer(form, key)
        made = make_waiting(form, key, transcriber=engine.host)
        audio_store().put(stored(made).object_key, path)
        answer_with(made, key)
        return made


def written(app: Flask, recording_id: str) -> bool:
    """Whether the words are in the answer."""
    with app.app_context():
        found = stored(recording_id)
        answer = db.session.get_one(Answer, found.answer_id)
        return (found.transcript_state, answer.answer_text) == (TranscriptState.DONE, WORDS)


def by(engine: SpeechEngine) -> dict[str, str]:
    return {
        "TRANSCRIBER": "openai",
        "TRANSCRIBER_URL": engine.url,
        "TRANSCRIBER_MODEL": "small-en",
        "PORT": str(free_port()),
    }


@contextmanager
def killed_at_the_end(command: str, **changed: str) -> Iterator[subprocess.Popen[str]]:
    process = start(command, **changed)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


@empty_postgresql_first
@pytest.mark.parametrize("waits", [False, pytest.param(True, marks=pytest.mark.prove)])
def test_one_that_is_killed_in_the_middle_loses_no_words(
    beside: Flask,
    variables: dict[str, str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    *,
    waits: bool,
) -> None:
    """Killed while the engine listens; the long form waits for the end of the lease."""
    command = "run"
    if not variables["DATABASE_URL"].startswith("sqlite"):
        command, variables["REDIS_URL"] = "worker", request.getfixturevalue("redis_url")
    with speech_engine(lambda n: words(WORDS, after=0 if n else 30)) as engine:
        seen = variables | by(engine)
        recording = spoken(beside, engine, tmp_path / "recording")
        with killed_at_the_end(command, **seen):
            wait_until(lambda: len(engine.heard) == 1, "being asked")
        assert not written(beside, recording)
        if not waits:
            with beside.app_context():
                db.session.execute(update(Recording).values(lease_until=utc_now()))
                db.session.commit()
        with killed_at_the_end(command, **seen):
            wait_until(lambda: written(beside, recording), "being written down", seconds=90)

    assert [each.file for each in engine.heard] == [audio_file("webm", "voice", 1.0)] * 2

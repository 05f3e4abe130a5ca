"""Recordings that this server writes down itself, from the store to their words."""

from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from jobs import transcribe
from jobs.queue import BEGUN, hand_over_recordings
from tests.factories import make_form
from tests.jobs.test_transcribing import DONE, left_behind, outcome, recorded, work
from tests.services import wait_until
from tests.voice.fake_whisper import fake_whisper
from webapp.base.config import WHISPER
from webapp.base.database import db
from webapp.records.accounts.models import Account
from webapp.records.forms import Form
from webapp.voice import transcription


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(account.id)


def use(app: Flask, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    changed = {"transcriber": WHISPER, "transcriber_model": model}
    config = app.config["SETTINGS"].model_copy(update=changed)
    monkeypatch.setitem(app.config, "SETTINGS", config)


@pytest.mark.parametrize(("chosen", "expected"), [("", "en"), ("pt-BR", "pt")])
def test_a_recording_is_written_down_by_an_engine_in_a_child(
    app: Flask,
    form: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    chosen: str,
    expected: str,
) -> None:
    """In the language that was chosen for it, else in that of the questions."""
    use(app, monkeypatch, "tiny")
    with app.app_context():
        db.session.execute(update(Form).values(spoken_language=chosen))
        db.session.commit()
    spoken, silent = recorded(app, form), recorded(app, form, "silence")
    with fake_whisper(tmp_path / "libraries", monkeypatch):
        work(app)

        assert transcription.child.pid
    assert outcome(app, spoken) == (DONE, f"tiny 1 {expected} 1 and more.")
    assert outcome(app, silent)[1] is None
    assert left_behind(app) == []


def test_the_model_is_loaded_when_somebody_begins_to_record(
    app: Flask, form: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaded() -> bool:
        hand_over_recordings([BEGUN])  # dropped while the threads that take wake-ups begin
        return transcription.child.pid is not None

    use(app, monkeypatch, "tiny")
    with fake_whisper(tmp_path / "libraries", monkeypatch):
        with transcribe.transcribing(app, at_once=1), app.app_context():
            assert transcription.child.pid is None
            wait_until(loaded, "loading the model")
        spoken = recorded(app, form)
        work(app)

    assert outcome(app, spoken) == (DONE, "tiny 1 en 1 and more.")

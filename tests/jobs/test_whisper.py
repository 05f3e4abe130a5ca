"""Recordings that this server writes down itself, from the store to their words."""

from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from tests.domain.voice.claims import make_answered
from tests.factories import make_form
from tests.jobs.test_transcribing import DONE, FAILED, left_behind, outcome, recorded, work
from tests.voice.fake_whisper import fake_whisper
from webapp.domain.accounts.models import Account
from webapp.integrations import whisper
from webapp.setting_groups.voice import WHISPER


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(account.id)


def use(app: Flask, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    changed = {"transcriber": WHISPER, "transcriber_model": model}
    config = app.config["SETTINGS"].model_copy(update=changed)
    monkeypatch.setitem(app.config, "SETTINGS", config)


def test_a_recording_is_written_down_by_an_engine_in_a_child(
    app: Flask, form: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(app, monkeypatch, "tiny")
    spoken, silent = recorded(app, form), recorded(app, form, "silence")
    with fake_whisper(tmp_path / "libraries", monkeypatch):
        work(app)

        assert whisper.child.pid
    assert outcome(app, spoken) == (DONE, "tiny 1 None 1 and more.")
    assert outcome(app, silent)[1] is None
    assert left_behind(app) == []


def test_a_model_that_is_missing_uses_an_attempt_up_and_is_logged(
    app: Flask,
    form: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    use(app, monkeypatch, "missing")
    spoken = recorded(app, form, make=make_answered, attempts=2)
    with fake_whisper(tmp_path / "libraries", monkeypatch):
        work(app)

    assert outcome(app, spoken) == (FAILED, None)
    assert "not written down: ValueError: Invalid model size 'missing'" in caplog.text

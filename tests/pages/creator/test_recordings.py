"""What a creator hears and reads of spoken answers: players, states in words, files, the filter."""

import re
import secrets
from typing import Any

import pytest
from flask import Flask

from tests.pages.creator_client import Creator, plain
from tests.voice.factories import make_spoken_answer, make_stored_answer, make_voice_form
from webapp.base.database import db
from webapp.base.vocabulary import TranscriptState
from webapp.records.responses.models import Answer
from webapp.records.responses.recordings import Recording
from webapp.voice.audio_store import audio_store

FAILED = {"transcriber": "localhost", "transcript_state": TranscriptState.FAILED}


@pytest.fixture
def form(ann: Creator) -> Any:
    return ann.within(make_voice_form, ann.account.id)


def key() -> str:
    return secrets.token_urlsafe(24)


def words(ann: Creator, path: str) -> str:
    return plain(ann.page(path).text)


def test_a_player_gets_the_range_that_it_asks_for(
    app: Flask, ann: Creator, stranger: Creator, form: Any
) -> None:
    with app.app_context():
        made = make_stored_answer(form, key(), content=bytes(range(200)))
    path = f"/forms/{form.id}/attachments/{made.id}"

    answer = ann.page(path, Range="bytes=7-9")

    assert (answer.status_code, answer.data) == (206, bytes([7, 8, 9]))
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=recording-")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "sandbox" in answer.headers.getlist("Content-Security-Policy")
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert stranger.page(path).status_code == 404
    assert app.test_client().get(path).status_code == 303
    with app.app_context():
        db.session.execute(db.update(Answer).values(superseded=True))
        db.session.commit()
    assert ann.page(path).status_code == 404  # replaced


def test_a_store_that_is_away_is_a_page(ann: Creator, form: Any) -> None:
    with ann.context():
        made = make_stored_answer(form, key())
        audio_store().delete([made.object_key])

    answer = ann.page(f"/forms/{form.id}/attachments/{made.id}")

    assert answer.status_code == 503
    assert "We can’t reach the database right now." in answer.text


@pytest.mark.settings(transcriber="whisper")
def test_a_failed_recording_is_made_due(
    ann: Creator, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[str] = []
    monkeypatch.setattr("webapp.pages.creator.results.hand_over_recordings", woken.extend)
    made = ann.within(make_spoken_answer, form, key(), **FAILED, attempts=3)
    person = f"/forms/{form.id}/people/{made.session_id}"
    shown = ann.page(person).text

    answer = ann.post(action := again(shown))

    assert action == f"{person}/attachments/{made.id}/try-again"
    assert woken == [made.id]
    assert (answer.status_code, answer.location) == (303, person)
    assert again(ann.page(person).text) == ""
    with ann.context():
        stored = db.session.get_one(Recording, made.id)
        assert (stored.transcript_state, stored.attempts) == (TranscriptState.WAITING, 0)
        assert stored.next_at


def test_another_host_than_was_named_gets_none(ann: Creator, form: Any) -> None:
    made = ann.within(make_spoken_answer, form, key(), **FAILED)
    person = f"/forms/{form.id}/people/{made.session_id}"

    refused = ann.post(f"{person}/attachments/{made.id}/try-again")

    assert refused.status_code == 409
    assert again(ann.page(person).text) == ""
    with ann.context():
        assert db.session.get_one(Recording, made.id).transcript_state == "failed"


def again(page: str) -> str:
    """Where the page posts for another attempt, "" if it does not."""
    found = re.search(r'action="([^"]*/try-again)"', page)
    return found[1] if found else ""

"""What a creator hears and reads of spoken answers: players, states in words, files, the filter."""

import re
import secrets
from typing import Any

import pytest
from flask import Flask
from markupsafe import escape

from tests.databases import both_databases
from tests.factories import make_answer, make_form
from tests.pages.creator_client import Creator, plain
from tests.voice.factories import make_spoken_answer, make_stored_answer, make_voice_form
from webapp.answers import export, late_transcripts, search
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import TranscriptState
from webapp.records.responses.models import Answer
from webapp.records.responses.recordings import Recording
from webapp.voice.audio_store import audio_store

HOST = "engine.example"
LEVELS = "0123456789" * 6 + "0000"
DONE = {"transcriber": HOST, "transcript_state": TranscriptState.DONE}
FAILED = {"transcriber": "localhost", "transcript_state": TranscriptState.FAILED}
STATES = [
    ({"transcript_state": TranscriptState.SILENT}, "No voice was heard in it."),
    (FAILED | {"transcriber": HOST}, f"{HOST} could not write it down."),
    (DONE | {"transcript": "As heard"}, f"by {HOST}, and sent as heard."),
    (DONE | {"transcript": "Otherwise"}, "What was sent differs from what was heard."),
]


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


def test_every_view_has_a_player_with_our_length_and_curve(ann: Creator, form: Any) -> None:
    with ann.context():
        made = make_spoken_answer(form, key(), duration_ms=125_001, levels=LEVELS, size=250_000)
        session_id = made.session_id

    address = f"/forms/{form.id}/attachments/{made.id}"
    for view in ("", "/people", f"/people/{session_id}", "?q=heard", "/questions/1"):
        page = ann.page(f"/forms/{form.id}{view}").text
        assert f'controls preload="none" src="{address}"' in page
        assert "2:06" in plain(page)
        assert f'data-levels="{LEVELS}"' in page


@pytest.mark.parametrize(("columns", "said"), STATES)
def test_the_state_of_its_words_is_said(
    ann: Creator, form: Any, columns: dict[str, Any], said: str
) -> None:
    with ann.context():
        session_id = make_spoken_answer(form, key(), **columns).session_id

    assert said in words(ann, f"/forms/{form.id}/people/{session_id}")


@both_databases
def test_late_words_differ_from_those_that_somebody_has_read(ann: Creator, form: Any) -> None:
    with ann.context():
        make_spoken_answer(form, key(), **DONE, transcript="As heard")
        late = {"text": "", "transcript": "As heard", "next_at": utc_now()}
        late_transcripts.conclude(make_spoken_answer(form, key(), **DONE | late).id, now=utc_now())

    said = words(ann, f"/forms/{form.id}")

    assert said.count(f"by {HOST}, not checked by the person who spoke.") == 1
    assert said.count(f"by {HOST}, and sent as heard.") == 1


@pytest.mark.parametrize(
    ("columns", "heard", "text"),
    [
        (DONE | {"text": "Sent <b>", "transcript": "Heard <i>"}, "Heard &lt;i&gt;", True),
        (DONE | {"text": "", "transcript": "Heard"}, "Heard", False),
        ({"text": "Typed beside it"}, "", True),
    ],
)
def test_what_was_heard_is_shown_next_to_what_was_sent(
    ann: Creator, form: Any, columns: Any, heard: str, *, text: bool
) -> None:
    spoken = ann.within(make_spoken_answer, form, key(), **columns)

    page = ann.page(f"/forms/{form.id}/people/{spoken.session_id}").text
    listed = ann.page(f"/forms/{form.id}").text

    assert ("As heard" in page) == bool(heard)
    assert heard in page
    assert ("Only the recording, no words." in page) is not text
    assert str(escape(columns["text"])) in page
    assert "Heard" not in listed
    assert ("answer__text" in listed) is text
    with ann.context():
        answers = db.session.scalars(db.select(Answer)).all()
        assert [each.heard for each in export.recordings_of(answers).values()] == [""]


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


def test_the_filter_leaves_out_what_was_typed(
    ann: Creator, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ann.context():
        typed, both = make_form(ann.account.id), key()
        make_answer(typed, key())
        make_answer(form, key(), text="Written by hand")
        make_answer(form, both, 1, text="Written as well")
        make_spoken_answer(form, both, text="Said aloud")
        make_spoken_answer(form, key(), text="Said before")

    answers = words(ann, f"/forms/{form.id}?spoken=1")
    people = words(ann, f"/forms/{form.id}/people?spoken=1")

    assert ("Said aloud" in answers, "Written" in answers) == (True, False)
    assert "Said aloud" in people
    assert ("Written as well" in people, "Written by hand" in people) == (True, False)
    assert 'name="spoken"' not in ann.page(f"/forms/{typed.id}").text
    for most in ("ANSWERS_FOUND", "PEOPLE_FOUND"):
        monkeypatch.setattr(search, most, 1)
    for view in ("", "/people"):
        page = ann.page(f"/forms/{form.id}{view}?spoken=1").text
        assert re.search(r'name="spoken"\s+value="1" checked', page)
        further = re.search(rf'"(/forms/{form.id}{view}\?[^"]*before=[^"]*)"', page)
        assert further
        assert "spoken=1" in further[1]

"""What is no recording: refused beside the words, and nothing of it is kept."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from tests.pages.respondent.voice.conftest import Speaker, kept, objects
from tests.pages.respondent_client import box, stored
from tests.voice import audio_files
from tests.voice.audio_files import recording
from webapp.base.database import db
from webapp.pages.respondent import recordings
from webapp.records.forms import Form
from webapp.voice import audio_inspection
from webapp.voice.audio_store import AudioStore

WEBM = recording()
PAGE = b"<html><script>alert(1)</script></html>"
BAD = {
    "no file": b"",
    "text": b"Dear Sir or Madam, " * 100,
    "image": b"\x89PNG\r\n\x1a\n" + bytes(2000),
    "page": b"<!doctype html><script>alert(1)</script>" * 50,
    "film without sound": audio_files.video("mp4", tracks=0),
    "sound of another kind": b"\x30\x26\xb2\x75\x8e\x66\xcf\x11" + bytes(2000),
    "cut-off film": audio_files.video("mov")[:200],
    "page as samples": audio_files.caf_around(PAGE + audio_files.samples("voice", 1.0)),
    "cut-off header": WEBM[:100],
    "right magic, then junk": WEBM[:64] + b"\xa5" * 20_000,
    "playlist": b"#EXTM3U\n#EXTINF:10,\nhttp://127.0.0.1:9/x.mp3\n",
    "concat script": b"ffconcat version 1.0\nfile '/etc/passwd'\n",
    "too long": audio_files.stretched_webm(),
    "too long, of another kind": b"#!AMR\n" + (b"\x04" + bytes(12)) * 50 * 601,
    "no sound in it": audio_files.wav(b""),
}


@pytest.fixture(autouse=True)
def untouched(app: Flask) -> Any:
    before = objects(app)
    yield
    assert objects(app) == before
    assert kept(app) == []
    assert stored(app) == (0, 0)


@pytest.mark.parametrize("name", BAD)
def test_it_is_refused_and_the_words_stay(speaker: Speaker, name: str) -> None:
    page = speaker.upload(file=BAD[name], answer="My words")

    assert page.status_code == 422
    assert box(page) == "My words"
    assert 'role="alert"' in page.text
    assert 'type="file" id="audio"' in page.text
    assert 'aria-describedby="audio-error audio-hint" aria-invalid="true"' in page.text
    assert 'id="audio-error"' in page.text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("text", "Wählen Sie eine Aufnahme in einem dieser Formate (M4A"),
        ("film without sound", "Wählen Sie eine Aufnahme in einem dieser Formate (M4A"),
        ("sound of another kind", "Wählen Sie eine Aufnahme in einem dieser Formate (M4A"),
        ("too long", "Die Aufnahme ist länger als 10 Minuten."),
    ],
)
def test_it_says_what_would_be_taken(speaker: Speaker, name: str, said: str) -> None:
    assert said in speaker.upload(file=BAD[name], lang="de").text


def test_more_than_25_mib_are_refused_before_anybody_looks(
    speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audio_inspection, "child", None)
    monkeypatch.setattr(recordings, "RECORDING_MAX_BYTES", len(WEBM) - 1)

    page = speaker.upload(lang="es", answer="Ay")

    assert page.status_code == 422
    assert "La grabación ocupa más de 25 MiB." in page.text
    assert box(page) == "Ay"


def test_scripts_are_told_in_the_recorder(speaker: Speaker) -> None:
    part = speaker.upload(file=BAD["text"], headers={"HX-Request": "true"})

    assert part.status_code == 422
    assert part.text.lstrip().startswith('<div id="recorder">')
    assert 'role="alert"' in part.text


def test_without_room_people_are_told_to_type(
    speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AudioStore, "has_room", lambda *_: False)

    page = speaker.upload(answer="My words")

    assert page.status_code == 422
    assert "This server has no room for recordings just now." in page.text
    assert box(page) == "My words"


def test_a_form_that_records_nothing_takes_none(app: Flask, speaker: Speaker) -> None:
    with app.app_context():
        db.session.execute(update(Form).values(records_voice=False))
        db.session.commit()

    page = speaker.upload(answer="My words")

    assert page.status_code == 422
    assert box(page) == "My words"
    assert "This form takes no recordings." in page.text
    assert 'type="file"' not in page.text


@pytest.mark.parametrize("number", [0, 3])
def test_an_unknown_question_is_none(speaker: Speaker, number: int) -> None:
    assert speaker.upload(number).status_code == 404

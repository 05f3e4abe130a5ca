"""Pages that stayed open while something changed: whom they named counts, and what they showed."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from tests.pages.respondent.voice.conftest import Speaker, kept
from tests.pages.respondent_client import box, texts
from webapp.answers.late_transcripts import conclude
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import TranscriptState
from webapp.records.forms import Form
from webapp.records.responses.recordings import Recording

HOST = "speech.example.com"
HEARD = "Ben swapped it."
NAMED = {
    "transcriber": "openai",
    "transcriber_url": f"https://{HOST}/v1",
    "transcriber_model": "a-model",
}


def agree(app: Flask, form: Any, transcriber: str) -> None:
    with app.app_context():
        changed = update(Form).where(Form.id == form.id).values(transcriber=transcriber)
        db.session.execute(changed)
        db.session.commit()


def write_down(app: Flask) -> None:
    """Whoever writes down is done with every recording."""
    heard = {"transcript": HEARD, "transcript_state": TranscriptState.DONE, "next_at": utc_now()}
    with app.app_context():
        db.session.execute(update(Recording).values(heard))
        db.session.commit()
        for row in kept(app):
            conclude(row.id, now=utc_now())


@pytest.mark.settings(**NAMED)
def test_the_host_that_the_page_named_gets_the_recording(
    app: Flask, speaker: Speaker, form: Any
) -> None:
    agree(app, form, HOST)
    speaker.open()

    speaker.upload()

    assert kept(app)[0].transcriber == HOST


@pytest.mark.settings(**NAMED)
def test_a_page_that_named_nobody_gives_its_recording_to_nobody(
    app: Flask, speaker: Speaker, form: Any
) -> None:
    agree(app, form, HOST)

    speaker.upload()

    assert kept(app)[0].transcriber == ""


def test_words_that_came_while_the_page_was_open_stay(app: Flask, speaker: Speaker) -> None:
    speaker.upload()
    speaker.go_on(1)
    speaker.open("/q/1")
    write_down(app)

    speaker.go_on(1)

    assert texts(app) == [HEARD]


def test_words_that_the_page_showed_can_be_taken_out(app: Flask, speaker: Speaker) -> None:
    speaker.upload()
    speaker.go_on(1)
    write_down(app)
    assert box(speaker.open("/q/1")) == HEARD

    speaker.go_on(1)

    assert texts(app) == [""]

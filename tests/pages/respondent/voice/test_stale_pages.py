"""Pages that stayed open while something changed: whom they named counts, and what they showed."""

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


def write_down(app: Flask) -> None:
    """Whoever writes down is done with every recording."""
    heard = {"transcript": HEARD, "transcript_state": TranscriptState.DONE, "next_at": utc_now()}
    with app.app_context():
        db.session.execute(update(Recording).values(heard))
        db.session.commit()
        for row in kept(app):
            conclude(row.id, now=utc_now())


@pytest.mark.settings(**NAMED)
@pytest.mark.parametrize("reloaded", [True, False])
def test_only_the_host_that_the_page_named_gets_the_recording(
    app: Flask, speaker: Speaker, *, reloaded: bool
) -> None:
    with app.app_context():
        db.session.execute(update(Form).values(transcriber=HOST))
        db.session.commit()
    if reloaded:
        speaker.open()

    speaker.upload()

    assert kept(app)[0].transcriber == (HOST if reloaded else "")


@pytest.mark.parametrize("shown", [True, False])
def test_only_words_that_the_page_showed_can_be_taken_out(
    app: Flask, speaker: Speaker, *, shown: bool
) -> None:
    speaker.upload()
    speaker.go_on(1)
    before = speaker.open("/q/1")
    write_down(app)
    if shown:
        assert box(speaker.open("/q/1")) == HEARD
    else:
        speaker.page = before

    speaker.go_on(1)

    assert texts(app) == ["" if shown else HEARD]

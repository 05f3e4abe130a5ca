"""What became of the words: asked for by the page, shown once, and taken out if seen."""

import re
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update
from werkzeug.test import TestResponse

from tests.pages.creator_client import plain
from tests.pages.respondent.voice.conftest import CHECKED, Speaker, kept
from tests.pages.respondent_client import box, texts
from tests.voice.factories import make_voice_form
from webapp.answers.late_transcripts import conclude
from webapp.base.database import db, new_id, utc_now
from webapp.base.vocabulary import TranscriptState
from webapp.pages.respondent.form_data import KEY
from webapp.records.forms import Form
from webapp.records.responses.recordings import Recording, late_answer_key

SCRIPTS = {"HX-Request": "true"}


def become(app: Flask, state: TranscriptState, words: str | None = None) -> None:
    with app.app_context():
        db.session.execute(update(Recording).values(transcript_state=state, transcript=words))
        db.session.commit()


def look(speaker: Speaker, **changed: Any) -> TestResponse:
    """As the script of the page does."""
    page = speaker.page.text
    found = CHECKED.search(page)
    session = re.search(r'name="session" value="([^"]+)"', page)
    assert found
    assert session
    sent = {"session": session[1], "lang": "en", "recording": found[1]} | changed
    return speaker.client.post(
        f"/r/{speaker.share_token}/q/1/transcript", data=sent, headers=SCRIPTS
    )


def test_scripts_ask_again_while_it_is_awaited(speaker: Speaker) -> None:
    page = speaker.upload()

    assert f'data-transcript="/r/{speaker.share_token}/q/1/transcript"' in page.text
    assert look(speaker).status_code == 204
    speaker.go_on(1)
    assert "data-transcript" not in speaker.open("/q/1").text


@pytest.mark.parametrize(
    ("state", "words", "said"),
    [
        (TranscriptState.DONE, "That was <me>", "That was &lt;me&gt;"),
        (TranscriptState.SILENT, None, "We heard nothing"),
        (TranscriptState.FAILED, None, "Your recording could not be written down."),
        (TranscriptState.NONE, None, ""),
    ],
)
def test_they_are_told_what_became_of_it(
    app: Flask, speaker: Speaker, state: TranscriptState, words: str | None, said: str
) -> None:
    speaker.upload()
    become(app, state, words)

    part = look(speaker)

    assert part.status_code == 200
    assert said in part.text
    assert ("data-words" in part.text) == (state is TranscriptState.DONE)


@pytest.mark.parametrize("typed", ["", "Typed"])
def test_the_words_fill_an_empty_sheet_without_scripts(
    app: Flask, speaker: Speaker, typed: str
) -> None:
    assert "being written down" not in speaker.upload().text  # nobody does
    become(app, TranscriptState.DONE, "That was me")

    page = speaker.post("/q/1/transcript", answer=typed, recording="")

    assert box(page) == (typed or "That was me")
    assert "That was me</blockquote>" in page.text


def test_without_a_recording_there_is_nothing_to_look_for(speaker: Speaker) -> None:
    speaker.upload()

    assert look(speaker, recording="att_0").status_code == 404


@pytest.mark.constants("webapp.pages.respondent.recordings", TRANSCRIPT_RATE="2/minute")
def test_looks_have_a_limit_of_their_own(speaker: Speaker) -> None:
    speaker.upload()

    assert [look(speaker).status_code for _ in range(3)] == [204, 204, 429]
    assert speaker.go_on(1, "Typed").status_code == 200


@pytest.mark.settings(
    transcriber="openai", transcriber_url="http://127.0.0.1:9/v1", transcriber_model="m"
)
@pytest.mark.parametrize("told", ["127.0.0.1:9", "elsewhere.example", ""])
def test_the_page_names_the_host_that_gets_it(app: Flask, told: str) -> None:
    """The one that the creator was told of, if it is still the one of the settings."""
    with app.app_context():
        form = make_voice_form(transcriber=told)
    page = app.test_client().get(f"/r/{form.share_token}")
    privacy = app.test_client().get("/privacy")

    named = "You can listen first. 127.0.0.1:9 writes it down." in plain(page.text)
    assert named == (told == "127.0.0.1:9")
    assert ("recordings go to 127.0.0.1:9, which writes them down." in page.text) == named
    assert ("nobody writes recordings down." in page.text) == (not named)
    assert "elsewhere.example" not in page.text
    assert "Recordings are sent to 127.0.0.1:9" in privacy.text
    assert "127.0.0.1:9 gets recordings, to write them down." in privacy.text
    assert "Nobody else. An assistant may ask" in privacy.text


@pytest.mark.parametrize(
    ("page", "note"),
    [
        pytest.param(
            "this server writes recordings down.",
            "This server itself writes down recordings, where the page says so.",
            marks=pytest.mark.settings(transcriber="whisper", transcriber_model="small"),
        ),
        ("nobody writes recordings down.", "Nobody writes recordings down automatically."),
    ],
)
def test_who_writes_down_on_this_server_is_said_too(app: Flask, page: str, note: str) -> None:
    with app.app_context():
        form = make_voice_form(transcriber=app.config["SETTINGS"].transcriber_host)
    client = app.test_client()
    shown, privacy = client.get(f"/r/{form.share_token}").text, client.get("/privacy").text

    assert page in shown
    assert note in privacy
    assert "gets recordings" not in privacy
    assert "Nobody else. An assistant may ask" in privacy
    assert "localhost" not in privacy


def test_long_words_fit_beside_a_recording(app: Flask, speaker: Speaker) -> None:
    speaker.upload()
    words = "x" * 100_000
    become(app, TranscriptState.DONE, words)
    page = speaker.post("/q/1/transcript", answer="", recording="")

    assert 'data-max-length="100000"' in page.text
    assert speaker.go_on(1, box(page)).status_code == 200


def test_nobody_can_post_the_key_of_a_late_transcript() -> None:
    """Its answer would be marked as unchecked, and stand in the way of late words."""
    assert not KEY.fullmatch(late_answer_key(new_id("ans")))


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

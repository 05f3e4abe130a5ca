"""What became of the words: asked for by the page, shown once, and taken out if seen."""

from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.pages.creator_client import plain
from tests.pages.respondent.voice.conftest import Speaker, held_in, kept
from tests.pages.respondent_client import box, set_columns, texts
from tests.voice.factories import make_voice_form
from webapp.answers.late_transcripts import conclude
from webapp.base.config import OPENAI
from webapp.base.database import new_id, utc_now
from webapp.base.vocabulary import TranscriptState
from webapp.pages.respondent.form_data import KEY
from webapp.records.forms import Form
from webapp.records.responses.recordings import Recording, late_answer_key


def become(app: Flask, state: TranscriptState, words: str | None = None) -> None:
    set_columns(app, Recording, transcript_state=state, transcript=words)


def look(speaker: Speaker, **changed: Any) -> TestResponse:
    """As the script of the page does."""
    return speaker.swap("/q/1/transcript", **{"recording": held_in(speaker.page)} | changed)


@pytest.mark.parametrize(
    ("state", "words", "said"),
    [
        (TranscriptState.DONE, "That was <me>", "That was &lt;me&gt;"),
        (TranscriptState.SILENT, None, "We heard nothing"),
        (TranscriptState.FAILED, None, "Your recording could not be written down."),
    ],
)
def test_they_see_what_became_of_it(
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


@pytest.mark.constants("webapp.pages.respondent.recordings", TRANSCRIPT_RATE="3/minute")
def test_scripts_ask_again_while_it_is_awaited_under_a_limit_of_their_own(speaker: Speaker) -> None:
    page = speaker.upload()

    assert f'data-transcript="/r/{speaker.share_token}/q/1/transcript"' in page.text
    looks = [look(speaker), look(speaker, recording="att_0"), look(speaker), look(speaker)]
    assert [each.status_code for each in looks] == [204, 404, 204, 429]
    assert speaker.go_on(1, "Typed").status_code == 200
    assert "data-transcript" not in speaker.open("/q/1").text


def test_nobody_can_post_the_key_of_a_late_transcript() -> None:
    """Its answer would be marked as unchecked, and stand in the way of late words."""
    assert not KEY.fullmatch(late_answer_key(new_id("ans")))


HOST, WORDS = "127.0.0.1:9", "Ben swapped it."
OPENAI_HERE = pytest.mark.settings(
    transcriber=OPENAI, transcriber_url=f"http://{HOST}/v1", transcriber_model="m"
)


@OPENAI_HERE
@pytest.mark.parametrize("told", [HOST, "elsewhere.example"])
def test_the_page_names_the_host_that_gets_it(app: Flask, told: str) -> None:
    with app.app_context():
        form = make_voice_form(transcriber=told)
    page = app.test_client().get(f"/r/{form.share_token}")
    privacy = app.test_client().get("/privacy").text

    named = "You can listen first. 127.0.0.1:9 writes it down." in plain(page.text)
    assert named == (told == "127.0.0.1:9")
    assert "elsewhere.example" not in page.text
    assert "Recordings are sent to 127.0.0.1:9" in privacy


@OPENAI_HERE
@pytest.mark.parametrize("reloaded", [True, False])
def test_only_the_host_that_the_page_named_gets_the_recording(
    app: Flask, speaker: Speaker, *, reloaded: bool
) -> None:
    set_columns(app, Form, transcriber=HOST)
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
    become(app, TranscriptState.DONE, WORDS)
    set_columns(app, Recording, next_at=utc_now())
    with app.app_context():
        conclude(kept(app)[0].id, now=utc_now())
    if shown:
        assert box(speaker.open("/q/1")) == WORDS
    else:
        speaker.page = before

    speaker.go_on(1)

    assert texts(app) == ["" if shown else WORDS]

"""Spoken answers to follow-up questions, and follow-up questions to spoken answers."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from tests.pages.respondent.voice.conftest import CHECKED, Speaker, arrive_to_speak, held_in, kept
from tests.pages.respondent_client import box, heading, hidden, set_columns, texts
from tests.voice.factories import make_voice_form
from webapp.answers.late_transcripts import conclude
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import QuestionKind, ResponseType, TranscriptState
from webapp.records.follow_ups import FollowUp
from webapp.records.responses.models import Answer
from webapp.records.responses.recordings import Recording

FIRST, SECOND = "What made you switch?", "What would you tell a friend?"
SHORT = "It was slow"
WORDS = "my manager redid the report"
DONE = {"transcript_state": TranscriptState.DONE, "transcript": WORDS}


@pytest.fixture
def form(app: Flask) -> Any:
    asks = {"questions": [FIRST, SECOND], "followUpMode": "smart", "context": "They may leave."}
    with app.app_context():
        prepared = {0: [("What happened then?", "if_short")]}
        return make_voice_form(prepared=prepared, **asks)


@pytest.fixture
def speaker(client: FlaskClient, form: Any) -> Speaker:
    return arrive_to_speak(client, form)


@pytest.fixture
def followed(speaker: Speaker) -> Speaker:
    """At a follow-up to the first question."""
    speaker.answer(1, SHORT)
    return speaker


def asked(app: Flask) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count()).select_from(FollowUp)) or 0


def test_a_recording_is_part_of_the_answer_to_a_follow_up(app: Flask, followed: Speaker) -> None:
    words = heading(followed.page)
    page = followed.upload("1/f/1", answer="Typed along")
    assert heading(page) == words
    [row] = kept(app)
    assert CHECKED.findall(page.text) == [row.id]
    assert "Typed along" in page.text

    page = followed.go_on("1/f/1")

    assert heading(page) == SECOND
    with app.app_context():
        answer = db.session.scalars(select(Answer).order_by(Answer.stamp.desc())).first()
    [row] = kept(app)
    assert answer
    assert (row.answer_id, row.question_id) == (answer.id, answer.question_id)
    assert answer.question_kind is QuestionKind.FOLLOW_UP
    assert (answer.question_text, answer.response_type) == (words, ResponseType.VOICE)


def test_its_words_are_asked_for_at_its_address(app: Flask, followed: Speaker) -> None:
    page = followed.upload("1/f/1")
    where = f"/r/{followed.share_token}/q/1/f/1/transcript"
    assert f'data-transcript="{where}"' in page.text
    held = {"recording": held_in(page)}

    assert followed.swap("/q/1/f/1/transcript", **held).status_code == 204
    assert followed.swap("/q/1/transcript", **held).status_code == 404
    set_columns(app, Recording, **DONE)
    assert WORDS in followed.swap("/q/1/f/1/transcript", **held).text


@pytest.mark.parametrize("way", ["sent again", "sent with the words"])
def test_words_that_come_late_are_not_followed(app: Flask, speaker: Speaker, way: str) -> None:
    speaker.upload()
    sent = hidden(speaker.page) | {"answer": "", "recording": held_in(speaker.page)}
    speaker.go_on(1)
    set_columns(app, Recording, **DONE)
    with app.app_context():
        conclude(kept(app)[0].id, now=utc_now())
    assert texts(app) == [WORDS]
    if way == "sent again":
        page = speaker.post("/q/1", **sent)
    else:
        assert box(speaker.post("/q/1/open")) == WORDS
        page = speaker.go_on(1, WORDS)

    assert heading(page) == SECOND
    assert asked(app) == 0

"""Follow-up questions to what somebody said, whose words come after Continue."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.pages.respondent.follow_ups.conftest import (
    FIRST,
    PREPARED,
    SECOND,
    SHORT,
    checked_out,
    meanwhile,
)
from tests.pages.respondent.voice.conftest import Speaker, arrive_to_speak, kept, work
from tests.pages.respondent_client import form_action, heading, texts
from tests.voice.factories import make_voice_form
from tests.voice.speech_engine import SpeechEngine, speech_engine, words
from webapp.answers import follow_up_decisions
from webapp.base.config import OPENAI, Settings
from webapp.base.database import db
from webapp.base.vocabulary import FollowUpState, QuestionKind
from webapp.follow_ups.model_exchange import CALLS_AT_ONCE, MODEL_SECONDS
from webapp.pages.respondent import follow_ups
from webapp.pages.respondent.follow_ups import SPEAKERS
from webapp.records.follow_ups import FollowUp
from webapp.records.responses.models import Answer

WAITING = "Writing down what you said…"


@pytest.fixture
def engine() -> Iterator[SpeechEngine]:
    with speech_engine(lambda _number: words(SHORT)) as found:
        yield found


@pytest.fixture
def settings(settings: Settings, engine: SpeechEngine) -> Settings:
    given = {"transcriber": OPENAI, "transcriber_url": engine.url, "transcriber_model": "m"}
    return settings.model_copy(update=given)


@pytest.fixture
def form(app: Flask, engine: SpeechEngine) -> Any:
    asks = {"questions": [FIRST, SECOND], "followUpMode": "smart", "context": "They may leave."}
    with app.app_context():
        return make_voice_form(transcriber=engine.host, prepared={0: PREPARED}, **asks)


@pytest.fixture
def speaker(app: Flask, form: Any) -> Speaker:
    """Has recorded an answer to the first question."""
    person = arrive_to_speak(app.test_client(), form)
    person.upload()
    return person


@pytest.fixture
def waiting(speaker: Speaker) -> Speaker:
    """Has pressed Continue before the words were there."""
    assert heading(speaker.go_on(1)) == WAITING
    return speaker


def states(app: Flask) -> list[FollowUpState]:
    """Of what was decided; a claim for words stays with the answer that had none."""
    with app.app_context():
        found = db.session.scalars(select(FollowUp.state).order_by(FollowUp.created_at))
        return [state for state in found if state is not FollowUpState.CLAIMED]


def next_page(app: Flask, person: Speaker, *, write: bool = True) -> Any:
    """Press the button of the page that waits, while its words are written down."""
    with meanwhile(lambda: held(app), person.post, "/q/1/next") as pressed:
        if write:
            work(app)
        return pressed.result()


def held(app: Flask) -> int:
    return int(app.extensions["wakeups"]._held[SPEAKERS])


@both_databases
def test_the_question_follows_when_the_words_are_there(app: Flask, waiting: Speaker) -> None:
    assert texts(app) == [""]  # saved before anybody waits
    assert "Next question" in waiting.page.text
    page = next_page(app, waiting)

    assert heading(page) not in {FIRST, SECOND, WAITING}
    assert f"“{SHORT}”" in page.text
    assert form_action(page).endswith("/q/1/f/1")
    assert (texts(app), states(app)) == ([SHORT], [FollowUpState.ASKED])
    assert heading(waiting.answer("1/f/1", "Ten minutes for a page")) == SECOND


def test_words_that_do_not_come_in_time_are_a_correction(
    app: Flask, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_up_decisions, "WORDS_LEASE", timedelta(seconds=0.3))
    speaker.go_on(1)
    assert heading(next_page(app, speaker, write=False)) == SECOND
    work(app)

    assert texts(app) == [SHORT]
    assert heading(speaker.post("/q/1/next")) == SECOND
    assert states(app) == [FollowUpState.NOTHING]


def test_next_question_goes_on_for_good(app: Flask, waiting: Speaker) -> None:
    assert heading(waiting.post("/q/1/next", pass_on="1")) == SECOND
    work(app)

    assert texts(app) == [SHORT]
    assert heading(waiting.post("/q/1/next")) == SECOND
    assert heading(waiting.go_on(1, SHORT, recording=kept(app)[0].id)) == SECOND
    assert states(app) == [FollowUpState.NOTHING]


def test_where_too_many_wait_the_next_question_comes(app: Flask, waiting: Speaker) -> None:
    with ExitStack() as slots:
        for _ in range(CALLS_AT_ONCE):
            slots.enter_context(app.extensions["wakeups"].slot(SPEAKERS, CALLS_AT_ONCE))
        assert heading(waiting.post("/q/1/next")) == SECOND

    assert states(app) == [FollowUpState.NOTHING]


def test_words_and_question_take_eight_seconds_together(
    app: Flask, engine: SpeechEngine, waiting: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[float] = []

    def no_reply(*_: Any, seconds: float, **__: Any) -> tuple[None, str]:
        left.append(seconds)
        return None, "late"

    monkeypatch.setattr(follow_ups, "_has_model", lambda _about: True)
    monkeypatch.setattr(follow_ups.model_exchange, "decision_of_model", no_reply)
    monkeypatch.setattr(follow_ups, "WORDS_SECONDS", MODEL_SECONDS)
    monkeypatch.setattr(follow_ups, "LATE_SECONDS", 600)
    engine.answer = lambda _number: words(SHORT, after=0.4)

    assert form_action(next_page(app, waiting)).endswith("/q/1/f/1")
    assert len(left) == 1
    assert left[0] <= MODEL_SECONDS - 0.4


def test_who_waits_holds_no_connection(app: Flask, waiting: Speaker) -> None:
    before = checked_out(app)
    with meanwhile(lambda: held(app), waiting.post, "/q/1/next") as pressed:
        time.sleep(0.2)
        assert checked_out(app) == before
        work(app)
        assert form_action(pressed.result()).endswith("/q/1/f/1")


def test_a_recording_is_part_of_the_answer_to_a_follow_up(app: Flask, form: Any) -> None:
    speaker = arrive_to_speak(app.test_client(), form)
    words = heading(speaker.answer(1, SHORT))
    assert heading(speaker.upload("1/f/1", answer="Typed along")) == words

    assert heading(speaker.go_on("1/f/1")) == SECOND

    [row] = kept(app)
    with app.app_context():
        answer = db.session.scalars(select(Answer).order_by(Answer.stamp.desc())).first()
    assert answer
    assert (row.answer_id, row.question_id) == (answer.id, answer.question_id)
    assert (answer.question_kind, answer.question_text) == (QuestionKind.FOLLOW_UP, words)

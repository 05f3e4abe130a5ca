"""From the upload to the words: looked at, written down, shown, sent."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select, update

from jobs.queue import TRANSCRIPTIONS
from jobs.transcribe import Transcriber
from tests.pages.respondent.voice.conftest import Speaker, kept
from tests.pages.respondent.voice.test_transcripts import look
from tests.pages.respondent_client import box, hidden
from tests.voice.speech_engine import SpeechEngine, speech_engine, words
from webapp.base.config import OPENAI
from webapp.base.database import db, utc_now
from webapp.records.forms import Form
from webapp.records.responses.models import Answer
from webapp.records.responses.recordings import Recording

WORDS = "Ben swapped it."


@pytest.fixture
def engine(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[SpeechEngine]:
    """One that hears WORDS, and that the pages name."""
    with speech_engine(lambda _number: words(WORDS)) as found:
        given = {
            "transcriber": OPENAI,
            "transcriber_url": found.url,
            "transcriber_model": "small-en",
        }
        config = app.config["SETTINGS"].model_copy(update=given)
        monkeypatch.setitem(app.config, "SETTINGS", config)
        yield found


@pytest.fixture
def speaking(app: Flask, engine: SpeechEngine, speaker: Speaker) -> Speaker:
    """Somebody whose form names the engine."""
    with app.app_context():
        db.session.execute(update(Form).values(transcriber=engine.host))
        db.session.commit()
    speaker.page = speaker.client.get(f"/r/{speaker.share_token}")
    return speaker


def work(app: Flask) -> None:
    """Everything that is due, as the threads of a process do it."""
    transcriber = Transcriber(app, threads=1)
    transcriber.work()
    with app.app_context():
        transcriber.sweep()


def current(app: Flask) -> list[str]:
    with app.app_context():
        kept_ones = select(Answer.answer_text).where(Answer.superseded.is_(False))
        return list(db.session.scalars(kept_ones.order_by(Answer.stamp)))


def test_the_words_are_shown_and_sent(app: Flask, engine: SpeechEngine, speaking: Speaker) -> None:
    speaking.upload()
    assert look(speaking).status_code == 204
    work(app)

    assert WORDS in look(speaking).text
    speaking.go_on(1, WORDS)
    assert current(app) == [WORDS]
    assert len(engine.heard) == 1


@pytest.mark.usefixtures("engine")
def test_nobody_waits_for_them_and_they_come_later(app: Flask, speaking: Speaker) -> None:
    speaking.upload()
    speaking.go_on(1)
    assert current(app) == [""]
    work(app)

    assert current(app) == [WORDS]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("arrived", "sent"), [(True, ""), (False, WORDS)])
def test_words_that_the_person_saw_and_left_out_stay_out(
    app: Flask, speaking: Speaker, *, arrived: bool, sent: str
) -> None:
    """Seen are those that arrived on the page."""
    speaking.upload()
    look(speaking)
    work(app)
    part = look(speaking)

    speaking.go_on(1, **hidden(part) if arrived else {})
    work(app)

    assert current(app) == [sent]
    assert box(speaking.open("/q/1")) == sent
    assert [each.transcript for each in kept(app)] == [WORDS]


def test_the_first_look_wakes_whoever_writes_down(
    app: Flask, speaking: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[str] = []
    queue = app.extensions[TRANSCRIPTIONS.extension]
    monkeypatch.setattr(queue, "hand_over", woken.extend)
    speaking.upload()
    assert woken == []
    for _ in range(2):
        look(speaking)

    assert woken == [each.id for each in kept(app)]


@pytest.mark.settings(transcriber_minutes_per_day=1)
def test_beyond_the_share_of_an_address_words_come_after_the_answer(
    app: Flask, engine: SpeechEngine, speaking: Speaker
) -> None:
    """Three seconds are that of unclaimed ones, however many keys there are."""
    people = [speaking, *(arrive_to_speak(app, speaking.share_token) for _ in range(3))]
    for person in people:
        person.upload()
        assert look(person).status_code == 204
        work(app)
    assert len(engine.heard) in {2, 3}

    assert look(people[-1]).status_code == 204
    work(app)
    assert people[-1].go_on(1).status_code == 200
    work(app)
    assert current(app) == [WORDS]


def arrive_to_speak(app: Flask, share_token: str) -> Speaker:
    client = app.test_client()
    return Speaker(client, share_token, client.get(f"/r/{share_token}"))


def test_nobody_gets_what_no_page_asks_for(
    app: Flask, engine: SpeechEngine, speaking: Speaker
) -> None:
    speaking.upload()
    work(app)
    look(speaking)
    with app.app_context():  # the page is closed before its turn comes
        db.session.execute(update(Recording).values(next_at=utc_now() - timedelta(seconds=11)))
        db.session.commit()
    work(app)
    assert engine.heard == []

    look(speaking)
    work(app)
    assert len(engine.heard) == 1


@pytest.mark.usefixtures("engine")
def test_words_that_were_seen_and_taken_out_do_not_come_back(app: Flask, speaking: Speaker) -> None:
    """A page shows them whenever it is opened: no GET notes that."""
    speaking.answer(2, "It")
    speaking.open("/q/1")
    speaking.upload()
    look(speaking)
    work(app)
    assert box(speaking.open("/q/1")) == WORDS

    speaking.go_on(1, "")
    work(app)

    assert sorted(current(app)) == ["", "It"]

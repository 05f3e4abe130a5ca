"""Words from a slow engine: people wait for a question about them, or stay on the sheet."""

import re
from collections.abc import Iterator

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import update

from jobs.queue import BEGUN, TRANSCRIPTIONS
from jobs.transcribe import transcribing
from tests.browser.conftest import served_app
from tests.browser.respondent.test_follow_ups import ASKS, QUESTIONS, SHORT, asked
from tests.browser.respondent.voice.steps import SpokenLink, record, says, speak
from tests.browser.respondent_steps import press
from tests.browsing import window
from tests.conftest import delete_rows
from tests.services import wait_until
from tests.voice.factories import make_voice_form
from tests.voice.speech_engine import SpeechEngine, speech_engine, words
from webapp.base.config import ON_THIS_SERVER, OPENAI, WHISPER
from webapp.base.database import db
from webapp.records.forms import Form

WAITING = "Writing down what you said…"
SLOW = pytest.mark.slow
SECONDS = [1, pytest.param(12, marks=SLOW)]


@pytest.fixture(scope="module")
def engine() -> Iterator[SpeechEngine]:
    with speech_engine(lambda _number: words(SHORT)) as running:
        yield running


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, engine: SpeechEngine) -> Iterator[Flask]:
    by = {"transcriber": OPENAI, "transcriber_url": engine.url, "transcriber_model": "small"}
    folder = tmp_path_factory.mktemp("words")
    with served_app(folder, **by) as app, transcribing(app, at_once=2):
        yield app


@pytest.fixture
def link(served: Flask, engine: SpeechEngine) -> Iterator[SpokenLink]:
    engine.answer = lambda _number: words(SHORT)
    with served.app_context():
        form = make_voice_form(questions=QUESTIONS, transcriber=engine.host, **ASKS)
    yield SpokenLink(served, served.config["SETTINGS"].public_url, f"/r/{form.share_token}", form)
    delete_rows(served)


def takes(engine: SpeechEngine, seconds: float) -> None:
    engine.answer = lambda _number: words(SHORT, after=seconds)


def waits(page: Page) -> None:
    expect(page).to_have_title(re.compile(f"^{WAITING}"), timeout=10_000)
    expect(page.get_by_role("heading", level=1)).to_have_text(WAITING)
    expect(page.get_by_role("status").first).to_contain_text("Your answer is saved.")


def in_time(page: Page, seconds: int, link: SpokenLink) -> None:
    """The follow-up comes with the words, or after eight seconds the next question."""
    if seconds < 8:
        expect(page).to_have_title(re.compile("^Follow-up to question 1"), timeout=9000)
        expect(page.locator(".question__before")).to_contain_text(f"“{SHORT}”")
        assert link.texts() == [SHORT]
    else:
        expect(page).to_have_title(re.compile("^Question 2"), timeout=11_000)
        assert link.texts() == [""]


@pytest.mark.parametrize("seconds", SECONDS)
def test_who_speaks_and_goes_on_is_asked_about_it(
    page: Page, link: SpokenLink, engine: SpeechEngine, seconds: int
) -> None:
    takes(engine, seconds)
    record(page)
    press(page, "Continue")
    waits(page)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    assert link.texts() == [""]
    in_time(page, seconds, link)
    expect(page.locator("#answer")).to_be_focused()
    if seconds < 8:
        expect(page).to_have_url(f"{link.address}{link.path}/q/1/f/1")
        return
    press(page, "Back")  # to the sheet, which is open and untouched
    asked(page, 1)
    expect(page.locator("#answer")).to_have_value(SHORT, timeout=10_000)
    press(page, "Continue")
    asked(page, 2)
    assert link.texts() == [SHORT]


def test_record_is_announced_to_an_engine_of_this_server_once(
    browser: Browser, link: SpokenLink, served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"transcriber": WHISPER, "transcriber_model": "tiny"}
    monkeypatch.setitem(
        served.config, "SETTINGS", served.config["SETTINGS"].model_copy(update=given)
    )
    told: list[str] = []
    monkeypatch.setattr(served.extensions[TRANSCRIPTIONS.extension], "hand_over", told.extend)
    with served.app_context():
        db.session.execute(update(Form).values(transcriber=ON_THIS_SERVER))
        db.session.commit()
    with window(browser, link.address) as page:
        page.goto(link.path)
        assert told == []
        record(page)
        wait_until(lambda: told == [BEGUN], "announcing the recording")
        press(page, "Stop")
        says(page, "Your recording is here.")
        press(page, "Start over")
        press(page, "Yes, delete it")
        record(page)
        assert told.count(BEGUN) == 1


def test_words_never_come_over_what_somebody_typed_and_took_out(
    page: Page, link: SpokenLink, engine: SpeechEngine
) -> None:
    takes(engine, 2)
    speak(page)
    page.locator("#answer").fill("Typed")
    page.locator("#answer").fill("")
    expect(page.get_by_role("button", name="Use these words")).to_be_visible(timeout=8000)
    expect(page.locator("#answer")).to_have_value("")

"""Words from a slow engine: people wait for a question about them, or stay on the sheet."""

import re
from collections.abc import Iterator

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from jobs.transcribe import transcribing
from tests.browser.conftest import served_app
from tests.browser.respondent.test_follow_ups import ASKS, QUESTIONS, SHORT
from tests.browser.respondent.voice.steps import SpokenLink, record
from tests.browser.respondent_steps import press
from tests.browsing import violations
from tests.conftest import delete_rows
from tests.voice.factories import make_voice_form
from tests.voice.speech_engine import SpeechEngine, speech_engine, words
from webapp.base.config import OPENAI

WAITING = "Writing down what you said…"


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


def test_who_speaks_and_goes_on_is_asked_about_it(
    page: Page, link: SpokenLink, engine: SpeechEngine
) -> None:
    engine.answer = lambda _number: words(SHORT, after=4)
    record(page)
    press(page, "Continue")
    expect(page).to_have_title(re.compile(f"^{WAITING}"), timeout=10_000)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_role("status").first).to_contain_text("Your answer is saved.")
    assert violations(page) == []
    assert link.texts() == [""]

    expect(page).to_have_title(re.compile("^Follow-up to question 1"), timeout=9000)
    expect(page.locator(".question__before")).to_contain_text(f"“{SHORT}”")
    expect(page.locator("#answer")).to_be_focused()
    assert link.texts() == [SHORT]

"""Answering a follow-up question by voice: all that belongs to it has its address."""

import re
from collections.abc import Iterator

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from tests.browser.respondent.test_follow_ups import ASKS, QUESTIONS, SHORT, asked, followed
from tests.browser.respondent.voice.steps import (
    SpokenLink,
    kept_in_browser,
    speak,
)
from tests.browser.respondent_steps import give, press
from tests.browsing import look, sideways, violations
from tests.conftest import delete_rows
from tests.voice.factories import make_voice_form


@pytest.fixture
def link(served: Flask) -> Iterator[SpokenLink]:
    with served.app_context():
        form = make_voice_form(questions=QUESTIONS, **ASKS)
    yield SpokenLink(served, served.config["SETTINGS"].public_url, f"/r/{form.share_token}", form)
    delete_rows(served)


@pytest.fixture
def spoken_to(page: Page) -> Page:
    """At a follow-up to the first question."""
    give(page, SHORT)
    followed(page)
    return page


def test_a_follow_up_is_answered_by_voice(spoken_to: Page, link: SpokenLink) -> None:
    speak(spoken_to)
    press(spoken_to, "Play the recording")
    expect(spoken_to.locator("[data-time]")).to_have_text(re.compile(r"0:0\d / 0:0\d"))
    look(spoken_to, width=320)
    assert violations(spoken_to) + sideways(spoken_to) == []
    press(spoken_to, "Continue")
    asked(spoken_to, 2)

    (stored,) = link.recordings()
    assert stored.answer_id
    assert stored.question_id != link.form.questions[0]["id"]
    assert link.texts() == [SHORT, ""]
    assert kept_in_browser(spoken_to) == 0

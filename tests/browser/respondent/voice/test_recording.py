"""Answering by voice in a real browser, with a microphone that plays a known sound."""

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Browser, Error as PlaywrightError, Page, expect
from sqlalchemy import select

from tests.browser.respondent.voice.steps import (
    UPLOADS,
    SpokenLink,
    kept_in_browser,
    record,
    says,
    speak,
)
from tests.browser.respondent_steps import asked, press
from tests.browsing import window
from webapp.base.database import db
from webapp.base.vocabulary import TranscriptState
from webapp.records.responses.recordings import Recording
from webapp.voice.audio_store import AudioStoreUnavailable, FolderStore


def test_an_answer_is_recorded_with_a_pause_heard_and_sent(page: Page, link: SpokenLink) -> None:
    record(page)
    expect(page.locator("[data-level]")).to_have_text(re.compile("We hear you|It is quiet"))
    press(page, "Pause")
    says(page, "Paused at 0:0")
    expect(page.locator("[data-level]")).to_be_hidden()  # it hears nobody now
    press(page, "Go on")
    page.wait_for_timeout(1000)
    press(page, "Stop")
    says(page, "Your recording is here.")
    press(page, "Play the recording")
    expect(page.locator("[data-time]")).to_have_text(re.compile(r"0:01 / 0:0\d"))
    press(page, "Continue")
    asked(page, 2)

    (stored,) = link.recordings()
    assert stored.answer_id
    assert 1500 <= stored.duration_ms <= 6000
    assert link.texts() == [""]
    assert kept_in_browser(page) == 0


def test_a_recording_may_replace_another_one_and_one_that_is_sent(
    page: Page, link: SpokenLink
) -> None:
    page.route(UPLOADS, lambda _route: None)
    record(page)
    press(page, "Stop")
    says(page, "Sending your recording.")
    press(page, "Start over")
    press(page, "Yes, delete it")
    says(page, "Up to 10 minutes.")
    page.unroute(UPLOADS)
    speak(page)
    press(page, "Start over")
    says(page, "Delete this recording?")
    press(page, "Keep it")
    says(page, "Your recording is here.")
    press(page, "Start over")
    press(page, "Yes, delete it")
    says(page, "Up to 10 minutes.")
    assert kept_in_browser(page) == 0
    speak(page)
    press(page, "Continue")
    asked(page, 2)

    assert [bool(row.answer_id) for row in link.recordings()] == [True]


def test_continue_waits_for_the_bytes_and_goes_on_by_itself(page: Page, link: SpokenLink) -> None:
    record(page)
    page.locator("#answer").fill("typed beside")
    page.locator("#answer").press("Control+Enter")

    asked(page, 2)
    assert link.texts() == ["typed beside"]
    assert [bool(row.answer_id) for row in link.recordings()] == [True]


def test_after_an_offline_minute_the_recording_is_sent_once(
    troubled: Page, link: SpokenLink
) -> None:
    troubled.clock.install()
    record(troubled)
    troubled.context.set_offline(True)
    press(troubled, "Stop")
    says(troubled, "Your recording is not sent yet.")
    for _ in range(60):
        troubled.clock.run_for(1000)
    says(troubled, "Your recording cannot be sent just now. It is still here.")
    troubled.context.set_offline(False)

    says(troubled, "Your recording is here.")
    assert len(link.recordings()) == 1


# what the recorder says, also for less than a second
LISTEN = """() => {
  window.said = [];
  const line = document.querySelector("[data-status]");
  new MutationObserver(() => said.push(line.textContent)).observe(line, { childList: true });
}"""


def test_a_recording_ends_at_the_limit_and_says_so_before(
    short_limit: int, page: Page, link: SpokenLink
) -> None:
    page.evaluate(LISTEN)
    record(page)
    says(page, "Your recording is here.")
    said = page.evaluate("said")
    (stored,) = link.recordings()

    assert "Recording. Time left: 0:01." in said
    assert "That is all that fits. Sending your recording." in said
    assert 0.7 * short_limit * 1000 <= stored.duration_ms <= short_limit * 1000


def is_away(*_arguments: object) -> None:
    raise AudioStoreUnavailable


def test_words_go_on_alone_while_the_store_of_recordings_is_away(
    browser: Browser, link: SpokenLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as away, window(browser, link.address, refused=[503]) as page:
        away.setattr(FolderStore, "put", is_away)
        page.goto(link.path)
        record(page, 2.5)
        press(page, "Stop")
        says(page, "Your recording is not sent yet.")
        alone = page.get_by_role("button", name="Go on without the recording")
        expect(alone).to_be_hidden()
        says(page, "it stays in this browser until you send your answers")
        alone.click()
        expect(page.locator("#answer")).to_be_focused()  # nothing is written yet
        page.locator("#answer").fill("Typed")
        page.route(UPLOADS, lambda _route: None)  # also while it tries once more
        press(page, "Add it to my answer")
        says(page, "Sending your recording.")
        alone.click()
        asked(page, 2)
        page.unroute(UPLOADS)
        assert (link.texts(), link.recordings()) == (["Typed"], [])
        assert kept_in_browser(page) > 0

        away.undo()
        press(page, "Back")
        says(page, "We kept a recording that you had not sent")
        press(page, "Continue")
        asked(page, 2)

        assert link.texts() == ["Typed"]
        assert [bool(row.answer_id) for row in link.recordings()] == [True]
        assert kept_in_browser(page) == 0


def test_a_recording_survives_its_tab(browser: Browser, link: SpokenLink) -> None:
    context = browser.new_context(base_url=link.address)
    tab = context.new_page()
    tab.goto(link.path)
    record(tab, 4.5)
    with tab.expect_event("crash"), suppress(PlaywrightError):
        tab.goto("chrome://crash")
    page = context.new_page()
    page.goto(link.path)
    says(page, "We kept a recording that you had not sent: 0:0")
    press(page, "Continue")
    asked(page, 2)

    (stored,) = link.recordings()
    assert (bool(stored.answer_id), stored.duration_ms >= 1800) == (True, True)
    context.close()


def test_words_that_are_deleted_again_do_not_come_back(page: Page, link: SpokenLink) -> None:
    speak(page)
    link.set_recordings(transcript_state=TranscriptState.DONE, transcript="Mira did")
    expect(page.locator("#answer")).to_have_value("Mira did", timeout=8000)
    page.locator("#answer").fill("")
    press(page, "Continue")
    asked(page, 2)

    assert link.texts() == [""]
    with link.app.app_context():
        assert db.session.scalars(select(Recording.next_at)).all() == [None]

"""Answering by voice in a real browser, with a microphone that plays a known sound."""

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Browser, Error as PlaywrightError, Page, Route, expect

from tests.browser.respondent.voice.steps import (
    UPLOADS,
    SpokenLink,
    kept_in_browser,
    record,
    says,
    speak,
)
from tests.browser.respondent_steps import asked, give, press
from tests.browsing import look, press_until, sideways, violations, window
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
    expect(page.locator("[data-time]")).to_have_text(re.compile(r"0:0\d / 0:0\d"))
    expect(page.locator("[data-time]")).to_have_text(re.compile(r"^0:0\d$"), timeout=20_000)
    press(page, "Continue")
    asked(page, 2)

    (stored,) = link.recordings()
    assert stored.answer_id
    assert 1500 <= stored.duration_ms <= 6000
    assert link.texts() == [""]
    assert kept_in_browser(page) == 0


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


def test_a_recording_that_waited_too_long_is_made_again(troubled: Page, link: SpokenLink) -> None:
    speak(troubled)
    troubled.locator("#answer").fill("My words")
    link.erase_recordings()
    press(troubled, "Continue")

    missing = "your recording is not on the server any more"
    expect(troubled.get_by_role("alert")).to_contain_text(missing)
    expect(troubled.locator("#answer")).to_have_value("My words")
    look(troubled, width=390)
    assert violations(troubled) + sideways(troubled) == []
    press(troubled, "Add it to my answer")
    says(troubled, "Your recording is here.")
    press(troubled, "Continue")
    asked(troubled, 2)
    assert len(link.recordings()) == 1


HIDDEN = """Object.defineProperty(document, "hidden", { configurable: true, value: true });
document.dispatchEvent(new Event("visibilitychange"))"""


def test_a_recording_in_a_tab_that_is_hidden_can_go_on(page: Page) -> None:
    record(page)
    page.evaluate(HIDDEN)
    says(page, "Interrupted at 0:0")
    press(page, "Go on")
    says(page, "Recording.")
    press(page, "Stop")
    says(page, "Your recording is here.")


SCRIPT = re.compile(r"/js/recorder\.js")
WAITS = "One moment, the page gets ready to record."
FAILED = "The page could not load what recording needs."


@pytest.fixture
def held(page: Page) -> list[Route]:
    """The requests for the script of the recorder, which get no answer."""
    routes: list[Route] = []
    page.route(SCRIPT, lambda route: routes.append(route))
    return routes


def let_through(page: Page, held: list[Route]) -> None:
    while not held:  # the request may be heard of after what the page says
        page.wait_for_timeout(10)
    held.pop().continue_()


def test_the_keyboard_alone_records_at_the_first_press(page: Page, held: list[Route]) -> None:
    button = page.get_by_role("button", name="Record your answer")
    press_until(page, "Tab", lambda: button.evaluate("(it) => it === document.activeElement"))
    page.keyboard.press("Enter")
    says(page, WAITS)
    expect(button).to_be_focused()
    let_through(page, held)
    says(page, "Recording.")

    expect(page.get_by_role("button", name="Stop")).to_be_focused()
    page.wait_for_timeout(1500)
    page.keyboard.press("Enter")
    says(page, "Your recording is here.")


def test_nobody_is_recorded_long_after_the_press(page: Page, held: list[Route]) -> None:
    page.clock.install()
    press(page, "Record your answer")
    says(page, WAITS)
    page.clock.fast_forward(8000)
    says(page, FAILED)
    let_through(page, held)

    says(page, "Up to 10 minutes.")
    expect(page.locator("voice-recorder")).to_have_attribute("data-state", "idle")
    record(page)


def test_without_the_script_people_type_and_a_later_press_records(
    troubled: Page, link: SpokenLink
) -> None:
    troubled.route(SCRIPT, lambda route: route.abort())
    press(troubled, "Record your answer")
    says(troubled, FAILED)
    look(troubled, width=320)
    assert violations(troubled) + sideways(troubled) == []
    give(troubled, "Typed")
    asked(troubled, 2)
    troubled.unroute(SCRIPT)
    record(troubled)
    press(troubled, "Continue")
    asked(troubled, 3)

    assert link.texts() == ["Typed", ""]

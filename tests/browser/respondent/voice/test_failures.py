"""What a person sees whose browser cannot record, and what is kept of a recording cut off."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.respondent.voice.steps import (
    SpokenLink,
    choose,
    kept_in_browser,
    record,
    says,
    speak,
)
from tests.browser.respondent.voice.walks import SILENT
from tests.browser.respondent_steps import asked, give, press
from tests.browsing import look, sideways, violations, window
from tests.programs import CHROMIUM_ARGS

REFUSES = """navigator.mediaDevices.getUserMedia = async () => {
  throw new DOMException("", "%s");
}"""
# stands for the microphone that the page has, to end or to fail on demand
WATCHED = """{
  const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (wanted) => (window.stream = await ask(wanted));
  const Recorder = MediaRecorder;
  window.MediaRecorder = class extends Recorder {
    constructor(...given) { super(...given); window.recorder = this; }
  };
}"""


def opened(browser: Browser, link: SpokenLink, script: str) -> Page:
    context = browser.new_context(base_url=link.address, viewport={"width": 390, "height": 664})
    context.add_init_script(script)
    page = context.new_page()
    page.goto(link.path)
    return page


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("NotAllowedError", "This page may not use the microphone."),
        ("UnknownError", "Recording did not work."),
    ],
)
def test_a_refused_microphone_is_explained_and_typing_goes_on(
    browser: Browser, link: SpokenLink, error: str, told: str
) -> None:
    page = opened(browser, link, REFUSES % error)
    press(page, "Record your answer")
    says(page, told)
    expect(page.get_by_role("button", name="Record your answer")).to_be_focused()
    give(page, "Typed")
    asked(page, 2)

    assert (link.texts(), link.recordings()) == (["Typed"], [])
    page.context.close()


def test_a_recording_that_waited_too_long_is_made_again(browser: Browser, link: SpokenLink) -> None:
    page = opened(browser, link, "")
    speak(page)
    page.locator("#answer").fill("My words")
    link.erase_recordings()

    page.get_by_role("button", name="Continue").click()

    expect(page.get_by_role("alert")).to_contain_text(
        "your recording is not on the server any more"
    )
    expect(page.locator("#answer")).to_have_value("My words")
    look(page, width=390)
    assert violations(page) + sideways(page) == []
    press(page, "Add it to my answer")
    says(page, "Your recording is here.")
    page.get_by_role("button", name="Continue").click()
    asked(page, 2)
    assert len(link.recordings()) == 1
    page.context.close()


def test_a_browser_that_cannot_record_offers_typing_and_a_file(
    browser: Browser, link: SpokenLink
) -> None:
    page = opened(browser, link, "delete window.MediaRecorder")
    says(page, "This browser cannot record.")
    expect(page.get_by_role("button", name="Record your answer")).to_be_hidden()
    expect(page.locator("input[type=file]")).to_be_visible()
    look(page, width=320)
    assert violations(page) + sideways(page) == []
    page.context.close()


def test_a_browser_without_a_microphone_says_why(
    browser: Browser, chromium_path: str, link: SpokenLink
) -> None:
    usual = browser.browser_type.launch(executable_path=chromium_path, args=CHROMIUM_ARGS)
    with window(usual, link.address) as page:
        page.goto(link.path)
        press(page, "Record your answer")
        says(page, "No microphone was found.")
        press(page, "Use a file")
        expect(page.locator("input[type=file]")).to_be_visible()
        give(page, "Typed")
        asked(page, 2)
    usual.close()

    assert link.texts() == ["Typed"]


def end_track(page: Page) -> None:
    page.evaluate("""() => {
      const [track] = stream.getTracks();
      track.stop();
      track.dispatchEvent(new Event("ended"));
    }""")


def fail_recorder(page: Page) -> None:
    page.evaluate("recorder.dispatchEvent(new Event('error'))")


@pytest.mark.parametrize("happens", [end_track, fail_recorder])
def test_a_recording_that_is_cut_off_is_kept(
    browser: Browser, link: SpokenLink, happens: Callable[[Page], None]
) -> None:
    page = opened(browser, link, WATCHED)
    record(page)
    happens(page)
    says(page, "Interrupted at 0:0")
    expect(page.locator("[data-status]")).to_have_text(re.compile(r"Interrupted at 0:0\d. Kept."))
    press(page, "Add it to my answer")
    says(page, "Your recording is here.")

    assert len(link.recordings()) == 1
    page.context.close()


MUTED = "stream.getTracks()[0].dispatchEvent(new Event('mute'))"
HIDDEN = """Object.defineProperty(document, "hidden", { configurable: true, value: true });
document.dispatchEvent(new Event("visibilitychange"))"""


@pytest.mark.parametrize("script", [MUTED, HIDDEN], ids=["muted", "hidden tab"])
def test_a_recording_that_is_held_up_can_go_on(
    browser: Browser, link: SpokenLink, script: str
) -> None:
    page = opened(browser, link, WATCHED)
    record(page)
    page.evaluate(script)
    says(page, "Interrupted at 0:0")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    assert page.evaluate("recorder.state") == "paused"
    press(page, "Go on")
    says(page, "Recording.")
    press(page, "Stop")
    says(page, "Your recording is here.")
    page.context.close()


def test_pieces_without_sound_are_no_failure(browser: Browser, link: SpokenLink) -> None:
    page = opened(browser, link, WATCHED)
    record(page)
    page.evaluate("recorder.dispatchEvent(new BlobEvent('dataavailable', { data: new Blob([]) }))")
    press(page, "Stop")
    says(page, "Your recording is here.")

    assert len(link.recordings()) == 1
    page.context.close()


def test_silence_is_said_at_once_and_not_sent_by_itself(browser: Browser, link: SpokenLink) -> None:
    page = opened(browser, link, SILENT)
    record(page)
    says(page, "We cannot hear you.")
    press(page, "Stop")
    says(page, "We heard nothing.")

    assert link.recordings() == []
    page.context.close()


def test_a_browser_that_stores_nothing_says_so_before_recording(
    browser: Browser, link: SpokenLink
) -> None:
    page = opened(browser, link, "Object.defineProperty(window, 'indexedDB', { value: undefined })")
    expect(page.get_by_text("This browser stores nothing")).to_be_visible()
    record(page)
    press(page, "Stop")
    says(page, "Your recording is here.")
    press(page, "Continue")
    asked(page, 2)

    assert [bool(row.answer_id) for row in link.recordings()] == [True]
    page.context.close()


def test_a_file_that_is_too_large_is_not_sent(page: Page, link: SpokenLink) -> None:
    page.locator("voice-recorder").evaluate("(recorder) => { recorder.dataset.maxBytes = 10 }")
    choose(page, b"RIFF" * 10)
    says(page, "This file is too large.")

    assert link.recordings() == []


def test_what_the_server_refuses_does_not_hold_back_words(
    browser: Browser, link: SpokenLink
) -> None:
    with window(browser, link.address, refused=[422]) as page:
        page.goto(link.path)
        choose(page, b"not a sound" * 10)
        expect(page.get_by_role("alert").first).to_be_visible()
        says(page, "This file was not added.")
        expect(page.locator("[data-player]")).to_be_hidden()
        expect(page.locator("input[type=file]")).to_be_visible()
        give(page, "Typed")
        asked(page, 2)

        assert (link.texts(), kept_in_browser(page)) == (["Typed"], 0)

"""What a person sees whose browser cannot record, and what is kept of a recording cut off."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.respondent.voice.steps import (
    SpokenLink,
    record,
    says,
    speak,
)
from tests.browser.respondent_steps import asked, press
from tests.browsing import look, sideways, violations

# stands for the microphone that the page has, to end or to fail on demand
WATCHED = """{
  const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (wanted) => (window.stream = await ask(wanted));
  const Recorder = MediaRecorder;
  window.MediaRecorder = class extends Recorder {
    constructor(...given) { super(...given); window.recorder = this; }
  };
}"""


@pytest.fixture
def page(browser: Browser, link: SpokenLink) -> Iterator[Page]:
    """Not a quiet window."""
    context = browser.new_context(base_url=link.address, viewport={"width": 390, "height": 664})
    context.add_init_script(WATCHED)
    page = context.new_page()
    page.goto(link.path)
    yield page
    context.close()


def test_a_recording_that_waited_too_long_is_made_again(page: Page, link: SpokenLink) -> None:
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


HIDDEN = """Object.defineProperty(document, "hidden", { configurable: true, value: true });
document.dispatchEvent(new Event("visibilitychange"))"""


def test_a_recording_in_a_tab_that_is_hidden_can_go_on(page: Page) -> None:
    record(page)
    page.evaluate(HIDDEN)
    says(page, "Interrupted at 0:0")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    assert page.evaluate("recorder.state") == "paused"
    press(page, "Go on")
    says(page, "Recording.")
    press(page, "Stop")
    says(page, "Your recording is here.")

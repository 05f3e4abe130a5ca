"""Answering by voice where scripts are off: a file is chosen, added, heard, corrected and sent."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, expect

from tests.browser.respondent.voice.steps import SpokenLink
from tests.browser.respondent_steps import asked, press
from tests.browsing import AXE_OPTIONS, look, sideways, window
from tests.voice.audio_files import recording
from webapp.voice.audio_store import AudioStoreUnavailable, FolderStore

CHOSEN = {"name": "memo.ogg", "mimeType": "audio/ogg", "buffer": recording("ogg", "voice", 2.0)}
TEXT = {"name": "memo.ogg", "mimeType": "audio/ogg", "buffer": b"Dear Sir or Madam, " * 50}


@pytest.fixture
def plain(browser: Browser, link: SpokenLink) -> Iterator[Page]:
    options = {"java_script_enabled": False, "width": 390, "height": 664}
    with window(browser, link.address, refused=[413, 422, 429, 503], **options) as page:
        page.goto(link.path)
        yield page


def choose(page: Page, file: dict[str, object] = CHOSEN) -> None:
    page.get_by_label(re.compile("recording of your answer|Another recording")).set_input_files(
        [file]  # type: ignore[list-item]
    )
    press(page, "Add this recording")


LOOKS: list[Any] = [(320, "light"), (1280, "dark")]
# no timer runs where scripts are off, so each step of axe is one of the devtools
PREPARED = """() => {
  window.timers = [];
  window.setTimeout = (step, _ms, ...given) => timers.push(() => step(...given));
  window.clearTimeout = () => {};
  document.body.querySelectorAll("noscript").forEach((it) => it.replaceWith(...it.childNodes));
}"""
START = """(options) => {
  window.found = undefined;
  const fail = (error) => { window.found = [String(error)]; };
  axe.run(options).then(({ violations }) => { window.found = violations; }, fail);
}"""
STEP = "() => { timers.splice(0).forEach((step) => step()); return window.found; }"


def violations(page: Page) -> list[Any]:
    """Those that axe finds in a page whose scripts are off."""
    page.evaluate(START, AXE_OPTIONS)
    for _ in range(100):
        if (found := page.evaluate(STEP)) is not None:
            return list(found)
    raise AssertionError("axe did not end")


def passed(page: Page) -> None:
    assert page.evaluate("matchMedia('(scripting: none)').matches")
    page.evaluate(PREPARED)
    devtools = page.context.new_cdp_session(page)
    devtools.send("Runtime.evaluate", {"expression": AXE_SCRIPT})
    devtools.detach()
    for width, scheme in LOOKS:
        look(page, width=width, scheme=scheme)
        assert violations(page) + sideways(page) == []


def test_a_file_becomes_the_answer_and_is_heard_on_pages_that_pass_axe(
    plain: Page, link: SpokenLink
) -> None:
    passed(plain)
    expect(plain.get_by_role("button", name="Record your answer")).to_be_hidden()
    plain.locator("#answer").fill("Words beside it")
    choose(plain)
    expect(plain.locator("#answer")).to_have_value("Words beside it")
    expect(plain.get_by_text("Your recording, 0:0")).to_be_visible()
    expect(plain.get_by_role("checkbox", name="Send this recording")).to_be_checked()
    passed(plain)
    press(plain, "Continue")
    asked(plain, 2)
    for _ in range(2):
        press(plain, "Skip this question")
    with plain.expect_response(re.compile("/recordings/att_")) as heard:
        plain.locator("audio").click(position={"x": 20, "y": 20})
    assert heard.value.status in {200, 206}
    assert heard.value.headers["content-type"] == "audio/ogg"
    passed(plain)
    press(plain, "Send to Robin Example")
    passed(plain)
    press(plain, "See what I sent")
    expect(plain.locator("audio")).to_be_visible()
    passed(plain)

    assert link.texts() == ["Words beside it"]
    assert link.sound() == CHOSEN["buffer"]


def test_refusals_of_a_file_leave_the_words_on_pages_that_pass_axe(
    plain: Page, link: SpokenLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.locator("#answer").fill("My words")
    choose(plain, TEXT)
    expect(plain.get_by_role("alert")).to_contain_text("This file is no recording")
    passed(plain)
    plain.locator("#audio").set_input_files([CHOSEN])  # type: ignore[list-item]
    press(plain, "Continue")
    expect(plain.get_by_role("alert")).to_contain_text("is not added yet")
    passed(plain)
    with monkeypatch.context() as away:
        away.setattr(FolderStore, "put", is_away)
        choose(plain)
        expect(plain.get_by_role("alert")).to_contain_text("could not be kept here")
        passed(plain)
    expect(plain.locator("#answer")).to_have_value("My words")
    assert (link.texts(), link.recordings()) == ([], [])


def is_away(*_arguments: object) -> None:
    raise AudioStoreUnavailable

"""Answering by voice where scripts are off: a file is chosen, added, heard, corrected and sent."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.respondent.voice.steps import SpokenLink
from tests.browser.respondent_steps import asked, press
from tests.browsing import sideways, window
from tests.voice.audio_files import recording

CHOSEN = {"name": "memo.ogg", "mimeType": "audio/ogg", "buffer": recording("ogg", "voice", 2.0)}
TEXT = {"name": "memo.ogg", "mimeType": "audio/ogg", "buffer": b"Dear Sir or Madam, " * 50}
PHONE = (390, 664)
SIZES = ((1280, 800), PHONE, (320, 640))
every_size = pytest.mark.parametrize("plain", SIZES, ids="{0[0]}×{0[1]}".format, indirect=True)


@pytest.fixture
def plain(request: pytest.FixtureRequest, browser: Browser, link: SpokenLink) -> Iterator[Page]:
    width, height = getattr(request, "param", PHONE)
    sizes = {"width": width, "height": height}
    with window(
        browser, link.address, refused=[422, 429], java_script_enabled=False, **sizes
    ) as page:
        page.goto(link.path)
        yield page


def choose(page: Page, file: dict[str, object] = CHOSEN) -> None:
    page.get_by_label(re.compile("recording of your answer|Another recording")).set_input_files(
        [file]  # type: ignore[list-item]
    )
    press(page, "Add this recording")


@every_size
def test_a_file_becomes_the_answer_and_is_heard_before_it_is_sent(
    plain: Page, link: SpokenLink
) -> None:
    expect(plain.get_by_role("button", name="Record your answer")).to_be_hidden()
    plain.locator("#answer").fill("Words beside it")
    choose(plain)
    expect(plain.locator("#answer")).to_have_value("Words beside it")
    expect(plain.get_by_text("Your recording, 0:0")).to_be_visible()
    expect(plain.get_by_role("checkbox", name="Send this recording")).to_be_checked()
    assert sideways(plain) == []
    press(plain, "Continue")
    asked(plain, 2)

    for _ in range(2):
        press(plain, "Skip this question")
    with plain.expect_response(re.compile("/recordings/att_")) as heard:
        plain.locator("audio").click(position={"x": 20, "y": 20})

    assert heard.value.status in {200, 206}
    assert heard.value.headers["content-type"] == "audio/ogg"
    assert sideways(plain) == []
    press(plain, "Send")
    expect(plain.get_by_role("heading", level=1)).to_contain_text("Thank you")
    assert link.texts() == ["Words beside it"]
    assert link.sound() == CHOSEN["buffer"]


def test_a_file_that_is_no_recording_leaves_the_words(plain: Page, link: SpokenLink) -> None:
    plain.locator("#answer").fill("My words")
    choose(plain, TEXT)

    expect(plain.get_by_role("alert")).to_contain_text("This file is no recording")
    expect(plain.locator("#answer")).to_have_value("My words")
    assert sideways(plain) == []
    assert link.recordings() == []


def test_a_chosen_file_is_not_forgotten_at_continue(plain: Page, link: SpokenLink) -> None:
    plain.locator("#answer").fill("My words")
    plain.locator("#audio").set_input_files([CHOSEN])  # type: ignore[list-item]
    press(plain, "Continue")

    expect(plain.get_by_role("alert")).to_contain_text("is not added yet")
    expect(plain.locator("#answer")).to_have_value("My words")
    assert link.texts() == []

"""Recording in an iframe of another website, which says whether a page may use the microphone."""

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Frame, FrameLocator, Page, expect

from tests.browser.respondent.test_embedding import Sites, asked, port, sites, usual
from tests.browser.respondent.voice.steps import SpokenLink, microphone, runs
from tests.browsing import AXE_OPTIONS, AXE_RUN, look
from tests.programs import launched

__all__ = ["port", "sites"]  # fixtures

ALLOWED = """() => {
  const frame = document.querySelector("iframe");
  frame.allow = "microphone";
  frame.src = frame.src;
}"""


@pytest.fixture(scope="module")
def browser(chromium_path: str, spoken: Path) -> Iterator[Browser]:
    """The browser that people have: without its windows it stores for every website."""
    with launched(chromium_path, *microphone(spoken)) as running:
        yield running


def framed(page: Page, sites: Sites) -> FrameLocator:
    """The form in a frame that may use the microphone."""
    page.goto(sites.frame())
    page.evaluate(ALLOWED)
    return page.frame_locator("iframe")


def violations_in(frame: Frame) -> list[Any]:
    frame.evaluate(AXE_SCRIPT)
    found: list[Any] = frame.evaluate(AXE_RUN, AXE_OPTIONS)
    return found


def test_an_allowed_frame_records_without_cookies_or_storage(
    browser: Browser, sites: Sites, link: SpokenLink
) -> None:
    with usual(browser) as context:
        page = context.new_page()
        frame = framed(page, sites)
        expect(frame.get_by_text("This browser stores nothing")).to_be_visible()
        frame.locator("[data-do=record]").click()
        runs(frame, 2)
        frame.locator("[data-do=stop]").click()
        shown = frame.locator("voice-recorder")
        expect(shown).to_have_attribute("data-state", "sent", timeout=10_000)
        frame.get_by_role("button", name="Continue").click()
        asked(frame, 2)

        assert context.cookies() == []
    assert [bool(row.answer_id) for row in link.recordings()] == [True]


def test_a_frame_that_may_not_record_offers_typing_and_a_window(
    browser: Browser, sites: Sites, link: SpokenLink
) -> None:
    with usual(browser) as context:
        page = context.new_page()
        page.goto(sites.frame())
        frame = page.frame_locator("iframe")
        told = frame.locator("[data-status]")
        expect(told).to_contain_text("The website around this page does not let it use")
        expect(frame.locator("[data-do=record]")).to_be_hidden()
        for width, scheme in product((320, 1280), ("light", "dark")):
            look(page, width=width, scheme=scheme)
            assert violations_in(page.frames[1]) == []
        with context.expect_page() as opened:
            # by a key: a pointer may miss what moved in a frame of another process
            told.get_by_role("link", name="open the form").press("Enter")

        expect(opened.value).to_have_url(re.compile(f"{link.path}(/q/1)?$"))
        opened.value.get_by_role("button", name="Record your answer").click()
        expect(opened.value.locator("voice-recorder")).to_have_attribute("data-state", "recording")

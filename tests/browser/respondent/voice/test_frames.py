"""Recording in an iframe of another website, which says whether a page may use the microphone."""

import re

from playwright.sync_api import Browser, expect

from tests.browser.respondent.test_embedding import Sites, asked, port, sites, usual
from tests.browser.respondent.voice.steps import SpokenLink

__all__ = ["port", "sites"]  # fixtures

ALLOWED = """() => {
  const frame = document.querySelector("iframe");
  frame.allow = "microphone";
  frame.src = frame.src;
}"""


def test_an_allowed_frame_records_without_cookies_or_storage(
    browser: Browser, sites: Sites, link: SpokenLink
) -> None:
    with usual(browser) as context:
        page = context.new_page()
        page.goto(sites.frame())
        page.evaluate(ALLOWED)
        frame = page.frame_locator("iframe")
        expect(frame.get_by_text("This browser stores nothing")).to_be_visible()
        frame.locator("[data-do=record]").click()
        expect(frame.locator("[data-clock]")).to_have_text("0:02")
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
        with context.expect_page() as opened:
            told.get_by_role("link", name="open the form").click()

        expect(opened.value).to_have_url(re.compile(f"{link.path}(/q/1)?$"))
        opened.value.get_by_role("button", name="Record your answer").click()
        expect(opened.value.locator("voice-recorder")).to_have_attribute("data-state", "recording")

"""Every state of the recorder, by keyboard, in two directions, wide and narrow."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.respondent.voice.steps import UPLOADS, SpokenLink, says
from tests.browser.respondent_steps import asked
from tests.browsing import look, sideways, violations, window

PICTURES = Path(__file__).parents[4] / "pictures"


def by_keyboard(page: Page, action: str) -> None:
    """Press Enter on the button, which has the focus or gets it by Tab."""
    button = page.locator(f"[data-do={action}]")
    if not button.evaluate("(it) => it === document.activeElement"):
        button.focus()
    page.keyboard.press("Enter")


def states(page: Page) -> Iterator[str]:
    """Walks through them; every one after the first was reached by the keyboard alone."""
    yield "idle"
    by_keyboard(page, "record")
    says(page, "Recording.")
    expect(page.locator("[data-do=stop]")).to_be_focused()
    yield "recording"
    expect(page.locator("[data-clock]")).to_have_text("0:02")  # something was heard
    by_keyboard(page, "pause")
    says(page, "Paused")
    yield "paused"
    by_keyboard(page, "discard")
    says(page, "Delete this recording?")
    yield "discarding"
    by_keyboard(page, "keep")
    says(page, "Paused")
    page.route(UPLOADS, lambda _route: None)
    by_keyboard(page, "stop")
    says(page, "Sending")
    yield "sending"
    page.unroute(UPLOADS)
    page.reload()
    says(page, "We kept a recording")
    yield "kept"
    by_keyboard(page, "send")
    says(page, "Your recording is here.")
    expect(page.locator("[data-do=play]")).to_be_focused()
    yield "sent"


def test_every_state_is_reached_by_keyboard_and_readable(
    browser: Browser, link: SpokenLink
) -> None:
    with window(browser, link.address) as page:
        page.goto(link.path)
        for state in states(page):
            assert page.locator("voice-recorder").get_attribute("data-state") == state
            look(page, width=320)
            assert (state, violations(page) + sideways(page)) == (state, [])
        page.locator("#answer").press("Control+Enter")
        asked(page, 2)


def test_a_recorder_in_arabic_is_mirrored_and_translated(
    browser: Browser, link: SpokenLink
) -> None:
    with window(browser, link.address) as page:
        page.goto(f"{link.path}?lang=ar")
        page.locator("[data-do=record]").click()
        expect(page.locator("[data-clock]")).to_have_text("0:01")
        look(page, width=320)
        assert violations(page) + sideways(page) == []
        page.locator("[data-do=stop]").click()
        expect(page.locator("voice-recorder")).to_have_attribute("data-state", "sent")
        page.get_by_role("button", name="متابعة", exact=True).click()
        expect(page.locator("voice-recorder")).to_have_attribute("data-state", "idle")

    assert [bool(row.answer_id) for row in link.recordings()] == [True]


def test_a_recorder_that_came_by_a_swap_works_too(page: Page, link: SpokenLink) -> None:
    page.locator("#answer").fill("Typed")
    page.locator("#answer").press("Control+Enter")
    asked(page, 2)
    page.locator("[data-do=record]").click()
    expect(page.locator("[data-clock]")).to_have_text("0:01")
    page.locator("[data-do=stop]").click()
    says(page, "Your recording is here.")
    page.get_by_role("button", name="Continue").click()
    asked(page, 3)

    assert link.texts() == ["Typed", ""]


@pytest.mark.pictures
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 664)])
def test_pictures_of_every_state(
    browser: Browser, link: SpokenLink, scheme: str, width: int, height: int
) -> None:
    PICTURES.mkdir(exist_ok=True)
    with window(
        browser,
        link.address,
        color_scheme=scheme,
        width=width,
        height=height,
        reduced_motion="no-preference",
    ) as page:
        page.goto(link.path)
        for state in states(page):
            page.wait_for_timeout(500)
            file = PICTURES / f"recorder-{state}-{width}-{scheme}.png"
            page.screenshot(path=file, caret="initial")

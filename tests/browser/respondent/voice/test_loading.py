"""When the script of the recorder is loaded, and what happens to a press that was earlier."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.respondent.voice.steps import (
    SpokenLink,
    record,
    says,
)
from tests.browser.respondent_steps import asked, finish, give, press
from tests.browsing import look, sideways, violations

SCRIPT = re.compile(r"/js/recorder\.js")
WAITS = "One moment, the page gets ready to record."
SPOKEN_MS = 1500
FAILED = "The page could not load what recording needs."


class HeldScript:
    """The script of the recorder, on its way until it is let through."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._routes: list[Route] = []
        page.route(SCRIPT, lambda route: self._routes.append(route))

    def arrive(self) -> None:
        while not self._routes:  # the request may be heard of after what the page says
            self._page.wait_for_timeout(10)
        (route,) = self._routes
        route.continue_()


@pytest.fixture
def fetched(page: Page) -> list[str]:
    """The addresses that the page asks for from now on."""
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    return addresses


@pytest.fixture
def opened(browser: Browser, link: SpokenLink) -> Iterator[Page]:
    """A window with the form to come; a script that fails is a line of the console."""
    context = browser.new_context(base_url=link.address, viewport={"width": 390, "height": 664})
    yield context.new_page()
    context.close()


def test_who_types_loads_no_recorder(page: Page, link: SpokenLink, fetched: list[str]) -> None:
    page.reload()
    for number in (1, 2, 3):
        asked(page, number)
        page.locator("#answer").fill(f"Typed {number}")
        page.locator("#answer").press("Control+Enter")
    finish(page)

    assert link.texts() == ["Typed 1", "Typed 2", "Typed 3"]
    assert [url for url in fetched if url.endswith("/js/voice.js")]
    assert [url for url in fetched if SCRIPT.search(url)] == []


def test_the_keyboard_alone_records_at_the_first_press(page: Page) -> None:
    script = HeldScript(page)
    button = page.get_by_role("button", name="Record your answer")
    while not button.evaluate("(it) => it === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    says(page, WAITS)
    expect(button).to_be_focused()
    script.arrive()
    says(page, "Recording.")

    expect(page.get_by_role("button", name="Stop")).to_be_focused()
    page.wait_for_timeout(SPOKEN_MS)
    page.keyboard.press("Enter")
    says(page, "Your recording is here.")


def test_without_the_script_the_page_says_so_and_a_later_press_records(
    opened: Page, link: SpokenLink
) -> None:
    opened.route(SCRIPT, lambda route: route.abort())
    opened.goto(link.path)
    press(opened, "Record your answer")
    says(opened, FAILED)
    look(opened, width=320)
    assert violations(opened) + sideways(opened) == []
    give(opened, "Typed")
    asked(opened, 2)
    press(opened, "Record your answer")
    says(opened, FAILED)
    opened.unroute(SCRIPT)
    record(opened)
    press(opened, "Continue")
    asked(opened, 3)

    assert link.texts() == ["Typed", ""]


def test_nobody_is_recorded_long_after_the_press(page: Page) -> None:
    script = HeldScript(page)
    page.clock.install()
    press(page, "Record your answer")
    says(page, WAITS)
    page.clock.fast_forward(8000)
    says(page, FAILED)
    script.arrive()

    says(page, "Up to 10 minutes.")
    expect(page.locator("voice-recorder")).to_have_attribute("data-state", "idle")
    record(page)

"""The two things that matter most are done without ever touching a mouse."""

import re

from playwright.sync_api import Page, expect

from tests.browser.cafe import write
from tests.browser.conftest import Place
from tests.browser.words import ANSWERS, GOODBYE
from tests.browsing import press_until, window
from webapp.database import utc_now

FOCUSED = "() => (document.activeElement.innerText || document.activeElement.name || '').trim()"


def reach(page: Page, name: str) -> None:
    """Tab until the control of this name, or of this field name, has the focus."""
    press_until(page, "Tab", lambda: page.evaluate(FOCUSED).startswith(name))


def test_a_draft_is_confirmed_by_keyboard_alone(place: Place) -> None:
    with place.app.app_context():
        draft_id = write(place.cafe.account_id, GOODBYE, None, utc_now()).id
    with window(place.browser, place.address, storage_state=place.signed_in) as page:
        page.goto(f"/drafts/{draft_id}")
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUSED) == "Skip to the page"
        reach(page, "Check and confirm")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Send this out in your name?")
        reach(page, "Publish now")
        page.keyboard.press("Enter")

        expect(page.locator("h1")).to_have_text("It is out. Send it to someone.")


def test_a_form_is_answered_by_keyboard_alone(place: Place) -> None:
    with window(place.browser, place.address) as page:
        page.goto(place.cafe.asks)
        for number, text in enumerate(["First.", "Second.", "Third."], start=1):
            expect(page.locator(".count")).to_contain_text(f"Question {number} of 3")
            reach(page, "answer")
            page.keyboard.type(text)
            page.keyboard.press("Control+Enter")
        expect(page.locator("h1")).to_have_text("Read it over, then send.")
        reach(page, "name")
        page.keyboard.type(ANSWERS[0][0])
        reach(page, "Send to Ann")
        page.keyboard.press("Space")

        expect(page.locator("h1")).to_have_text(re.compile("^Thank you."))


def test_the_focus_can_always_be_seen(place: Place) -> None:
    """Each stop of the Tab key draws a line around what it is at."""
    with window(place.browser, place.address, storage_state=place.signed_in) as page:
        page.goto(f"{place.cafe.rota}/confirm")
        unseen = []
        for _ in range(12):
            page.keyboard.press("Tab")
            if (
                page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
                == "none"
            ):
                unseen.append(page.evaluate(FOCUSED))

        assert unseen == []

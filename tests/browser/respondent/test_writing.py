"""Focus of the textarea with and without a keyboard, and hints of shortcuts."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.respondent_steps import Link, asked, give, press
from tests.browsing import window

CARET = "box => [box.selectionStart, box.selectionEnd]"


@pytest.fixture
def page(browser: Browser, link: Link) -> Iterator[Page]:
    with window(browser, link.address, refused=[422]) as page:
        page.goto(link.path)
        yield page


@pytest.fixture
def phone(browser: Browser, link: Link) -> Iterator[Page]:
    """A touch screen, whose keyboard covers half of it."""
    with window(browser, link.address, width=390, has_touch=True, is_mobile=True) as page:
        page.goto(link.path)
        yield page


def test_text_typed_after_continue_is_kept(page: Page, link: Link) -> None:
    page.locator("#answer").click()
    page.keyboard.type("Me")
    page.keyboard.press("Control+Enter")
    asked(page, 2)
    expect(page.locator("#answer")).to_be_focused()
    page.keyboard.type("typed blindly")
    press(page, "Skip this question")
    asked(page, 3)
    page.keyboard.type("and this")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Check your answers, then send.")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    assert link.texts() == ["Me", "and this"]


def test_the_caret_is_at_the_end_of_a_stored_answer(page: Page) -> None:
    give(page, "Me\nand Mira")
    asked(page, 2)
    press(page, "Back")
    asked(page, 1)

    assert page.locator("#answer").evaluate(CARET) == [11, 11]
    page.keyboard.type(", of course")
    expect(page.locator("#answer")).to_have_value("Me\nand Mira, of course")


def test_the_caret_is_at_the_end_of_restored_text(page: Page) -> None:
    give(page, "Me")
    asked(page, 2)
    page.keyboard.type("half a sent")
    press(page, "Back")
    asked(page, 1)
    press(page, "Continue")
    asked(page, 2)
    page.keyboard.type("ence")

    expect(page.locator("#answer")).to_have_value("half a sentence")


def test_the_caret_is_at_the_end_of_a_refused_answer(page: Page) -> None:
    page.locator("#answer").fill("x" * 20_001)
    press(page, "Continue")
    page.locator("#answer-error").wait_for()
    page.keyboard.press("Backspace")
    press(page, "Continue")

    asked(page, 2)


def test_the_question_stays_in_the_viewport_with_a_long_answer(page: Page) -> None:
    give(page, "A long story.\n" * 200)
    asked(page, 2)
    press(page, "Back")
    asked(page, 1)

    expect(page.locator("#answer")).to_be_focused()
    assert page.evaluate("scrollY") == 0


def test_the_first_question_has_the_focus_as_later_ones(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#answer")).to_be_focused()


def test_a_touch_screen_shows_the_question_and_no_keyboard(phone: Page) -> None:
    give(phone, "Me")
    asked(phone, 2)

    expect(phone.get_by_role("heading", level=1)).to_be_focused()


def test_without_scripts_a_second_back_discards_unsent_text(browser: Browser, link: Link) -> None:
    with window(browser, link.address, refused=[422], java_script_enabled=False) as page:
        page.goto(link.path)
        give(page, "Me")
        asked(page, 2)
        page.locator("#answer").fill("half a sent")
        press(page, "Back")
        expect(page.locator("#answer")).to_have_value("half a sent")
        press(page, "Go back without them")

        asked(page, 1)
        expect(page.locator("#answer")).to_have_value("Me")
    assert link.texts() == ["Me"]

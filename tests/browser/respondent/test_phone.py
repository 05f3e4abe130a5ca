"""Respondent pages on a phone: the keyboard, long questions, rows of buttons, menus."""

from collections.abc import Iterator

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect

from tests.browser.respondent_steps import QUESTIONS, Link, asked, give
from tests.browsing import window
from tests.conftest import delete_rows
from tests.factories import make_account, make_form

WITHOUT_KEYBOARD, ABOVE_KEYBOARD = {"width": 390, "height": 664}, {"width": 390, "height": 384}
LONG = "How would you explain to a new colleague on her first morning how the rota comes about? "


@pytest.fixture
def link(served: Flask) -> Iterator[Link]:
    with served.app_context():
        form = make_form(make_account().id, questions=[QUESTIONS[0], QUESTIONS[1], LONG * 3])
    yield Link(served, served.config["SETTINGS"].public_url, f"/r/{form.share_token}", form)
    delete_rows(served)


@pytest.fixture
def phone(browser: Browser, link: Link) -> Iterator[Page]:
    with window(browser, link.address, **WITHOUT_KEYBOARD, has_touch=True, is_mobile=True) as page:
        page.goto(link.path)
        yield page


def top(page: Page, name: str) -> float:
    box = page.get_by_role("button", name=name).bounding_box()
    assert box
    return box["y"]


def test_continue_stays_above_the_keyboard_while_somebody_types(phone: Page) -> None:
    content = phone.locator("meta[name=viewport]").get_attribute("content") or ""
    assert "interactive-widget=resizes-content" in content
    give(phone, "Me")
    asked(phone, 2)
    box = phone.locator("#answer")
    before = phone.locator(".respondent__foot").bounding_box()
    box.tap()
    assert phone.locator(".respondent__foot").bounding_box() == before
    phone.set_viewport_size(ABOVE_KEYBOARD)
    box.fill("A long story.\n" * 30)
    for place in (0, 400):
        phone.evaluate("y => scrollTo(0, y)", place)
        expect(phone.get_by_role("button", name="Continue")).to_be_in_viewport(ratio=1)
        expect(phone.get_by_role("button", name="Back")).to_be_in_viewport(ratio=1)
    phone.get_by_role("button", name="Continue").tap()

    expect(phone.locator("h1")).to_contain_text(LONG.strip())


def test_an_open_menu_moves_no_other_and_is_inside_the_window(phone: Page) -> None:
    appearance = phone.locator("summary", has_text="Appearance")
    language = phone.locator(".languages summary").first
    for menu, other, choice in (
        (language, appearance, "العربية"),
        (appearance, language, "Dark"),
    ):
        beside = "part => part.getBoundingClientRect().left"
        row = "part => part.getBoundingClientRect().top + scrollY"
        before = other.evaluate(beside), other.evaluate(row)
        menu.tap()
        expect(phone.get_by_role("button", name=choice)).to_be_in_viewport(ratio=1)
        assert (other.evaluate(beside), other.evaluate(row)) == before
        menu.tap()

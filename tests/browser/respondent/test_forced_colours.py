"""Pages in the colours of people who have chosen their own."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import ExampleSite
from tests.browser.example_respondents import sent
from tests.browsing import window

WHITE = "rgb(255, 255, 255)"


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, site: ExampleSite) -> Iterator[Page]:
    options = {"forced_colors": "active", "color_scheme": request.param}
    with window(site.browser, site.address, storage_state=site.signed_in, **options) as page:
        yield page


def style(page: Page, selector: str, name: str) -> str:
    """A style of the first such element, as it is drawn."""
    found: str = page.locator(selector).first.evaluate(
        "(part, name) => getComputedStyle(part)[name]", name
    )
    return found


def test_the_pen_writes_in_the_colour_of_words(page: Page, site: ExampleSite) -> None:
    sent(page, site.data)

    assert style(page, ".flourish path", "stroke") == style(page, "h1", "color")


def test_a_code_is_still_dark_on_white(page: Page, site: ExampleSite) -> None:
    page.goto(site.data.share)

    assert style(page, ".qr", "backgroundColor") == WHITE
    assert style(page, ".qr path", "fill") != WHITE


def test_the_main_button_is_filled(page: Page, site: ExampleSite) -> None:
    page.goto(site.data.consent)

    allow, others = ".btn--main", ".btn:visible:not(.btn--main)"
    assert style(page, allow, "backgroundColor") == style(page, others, "color")
    assert style(page, allow, "color") == style(page, others, "backgroundColor")


def test_an_underlined_button_has_no_frame(page: Page, site: ExampleSite) -> None:
    page.goto(site.data.share)

    assert style(page, ".btn--plain", "borderTopColor") == style(page, "body", "backgroundColor")


def test_only_the_chosen_page_has_a_line_of_its_own(page: Page) -> None:
    page.goto("/drafts")

    assert style(page, "nav [aria-current]", "borderBottomWidth") == "3px"
    assert style(page, "nav a:not([aria-current])", "borderBottomWidth") == "0px"

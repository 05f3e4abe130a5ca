"""A form in the window of a respondent."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.respondent_steps import Link
from tests.browsing import window


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Browser, link: Link) -> Iterator[Page]:
    """The form, which may refuse what is sent; options of its window as of `page_with`."""
    options = {"refused": [410, 422, 503]} | getattr(request, "param", {})
    query = options.pop("query", "")
    with window(browser, link.address, **options) as page:
        page.goto(link.path + query)
        yield page


@pytest.fixture
def troubled(browser: Browser, link: Link) -> Iterator[Page]:
    """The form in a window whose requests fail on purpose; console errors are allowed."""
    context = browser.new_context(base_url=link.address)
    page = context.new_page()
    page.goto(link.path)
    yield page
    context.close()

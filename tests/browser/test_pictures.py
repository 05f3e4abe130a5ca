"""`make pictures`: every page and state, to look at.

Whole, in two widths and two colour schemes; and as much as windows of real height show.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import ExampleSite
from tests.browser.example_steps import ALL, ExamplePage
from tests.browser.long.example_long import LONG
from tests.browser.tab_order import WINDOWS, open_in
from tests.browsing import PICTURES, photograph

ROOT = Path(__file__).parents[2]


@pytest.mark.pictures
def test_the_picture_of_a_shared_link_is_drawn(browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 630})
    page.goto((ROOT / "static" / "card.svg").as_uri())
    page.screenshot(path=PICTURES / "card.png")
    page.close()


@pytest.mark.pictures
def test_the_icon_for_hosts_of_agents_is_drawn(browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 128, "height": 128})
    page.goto((ROOT / "static" / "icon.svg").as_uri())
    page.screenshot(path=PICTURES / "icon.png", omit_background=True)
    page.close()


@pytest.mark.pictures
@pytest.mark.parametrize("example", ALL, ids=str)
def test_every_page_is_photographed(site: ExampleSite, example: ExamplePage) -> None:
    with site.open(example) as page:
        photograph(page, example.name, schemes=("light", "dark"))


@pytest.mark.pictures
@pytest.mark.parametrize("example", LONG, ids=str)
def test_every_page_of_long_texts_is_photographed(
    long_site: ExampleSite, example: ExamplePage
) -> None:
    with long_site.open(example) as page:
        photograph(page, example.name)


@pytest.mark.pictures
@pytest.mark.parametrize("size", WINDOWS, ids=str)
@pytest.mark.parametrize("example", [*ALL, *LONG], ids=str)
def test_every_window_size_is_photographed(
    site: ExampleSite, long_site: ExampleSite, example: ExamplePage, size: tuple[int, int]
) -> None:
    width, height = size
    with open_in(long_site if example in LONG else site, example, size) as page:
        page.screenshot(
            path=PICTURES / f"{example.name}-{width}x{height}.png",
            animations="disabled",
            caret="initial",
        )

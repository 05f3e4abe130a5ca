"""`make pictures`: every page and state, to look at.

Whole, in two widths and two colour schemes.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import ExampleSite
from tests.browser.example_steps import ALL, ExamplePage
from tests.browser.long.example_long import LONG
from tests.browsing import PICTURES, photograph

ROOT = Path(__file__).parents[2]


@pytest.mark.pictures
@pytest.mark.parametrize(("name", "width", "height"), [("card", 1200, 630), ("icon", 128, 128)])
def test_pictures_for_shared_links_and_hosts_of_agents_are_drawn(
    browser: Browser, name: str, width: int, height: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto((ROOT / f"static/{name}.svg").as_uri())
    page.screenshot(path=PICTURES / f"{name}.png", omit_background=name == "icon")
    page.close()


@pytest.mark.pictures
@pytest.mark.parametrize("example", [*ALL, *LONG], ids=str)
def test_every_page_is_photographed(
    site: ExampleSite, long_site: ExampleSite, example: ExamplePage
) -> None:
    with (long_site if example in LONG else site).open(example) as page:
        photograph(page, example.name, schemes=("light",) if example in LONG else ("light", "dark"))

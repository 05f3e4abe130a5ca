"""`make pictures`: every page and state, in two widths and two colour schemes, to look at."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Place
from tests.browser.scenes import ALL, Scene
from tests.browsing import PICTURES, photograph

ROOT = Path(__file__).parents[2]


@pytest.mark.pictures
def test_the_picture_of_a_shared_link_is_drawn(browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 630})
    page.goto((ROOT / "static" / "card.svg").as_uri())
    page.screenshot(path=PICTURES / "card.png")
    page.close()


@pytest.mark.pictures
@pytest.mark.parametrize("scene", ALL, ids=str)
def test_a_page_has_its_picture_taken(place: Place, scene: Scene) -> None:
    with place.open(scene) as page:
        photograph(page, scene.name, schemes=("light", "dark"))

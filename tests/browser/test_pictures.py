"""`make pictures`: every page and state, in two widths and two colour schemes, to look at."""

import pytest

from tests.browser.conftest import Place
from tests.browser.scenes import ALL, Scene
from tests.browsing import photograph


@pytest.mark.pictures
@pytest.mark.parametrize("scene", ALL, ids=str)
def test_a_page_has_its_picture_taken(place: Place, scene: Scene) -> None:
    with place.open(scene) as page:
        photograph(page, scene.name, schemes=("light", "dark"))

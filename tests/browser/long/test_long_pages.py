"""Every page that shows people's words, at the lengths and in the numbers that they may have."""

import pytest

from tests.browser.conftest import ExampleSite
from tests.browser.example_pages import ExamplePage
from tests.browser.long.example_long import LONG
from tests.browser.tab_order import WINDOWS, hidden_stops, message_is_seen, open_in
from tests.browser.test_accessibility import problems

LOOKS = [(320, "dark", "rtl"), (390, "light", "ltr"), (1280, "light", "ltr")]


@pytest.mark.prove
@pytest.mark.parametrize("size", WINDOWS, ids=str)
@pytest.mark.parametrize("example", LONG, ids=str)
def test_focused_controls_and_refusals_are_visible_among_long_texts(
    long_site: ExampleSite, example: ExamplePage, size: tuple[int, int]
) -> None:
    with open_in(long_site, example, size) as page:
        assert not example.refused or message_is_seen(page)
        assert hidden_stops(page) == []


@pytest.mark.prove
@pytest.mark.parametrize("example", LONG, ids=str)
def test_long_texts_widen_and_squeeze_no_page(long_site: ExampleSite, example: ExamplePage) -> None:
    with long_site.open(example) as page:
        assert problems(page, LOOKS) == {}

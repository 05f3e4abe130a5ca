"""In windows of real height focused controls and refusals are visible.

test_accessibility.py has one window of each page.
"""

import pytest

from tests.browser.conftest import ExampleSite
from tests.browser.example_steps import ALL, ExamplePage
from tests.browser.long.example_long import LONG
from tests.browser.tab_order import (
    FILLED_IN,
    REFUSING,
    WINDOWS,
    hidden_stops,
    main_button_is_seen,
    message_is_seen,
    open_in,
)
from tests.browser.test_accessibility import problems

PHONE = (390, 664)
LOOKS = [(320, "dark", "rtl"), (390, "light", "ltr"), (1280, "light", "ltr")]


@pytest.mark.prove
@pytest.mark.parametrize("size", WINDOWS, ids=str)
@pytest.mark.parametrize("example", [*ALL, *LONG], ids=str)
def test_refusals_main_buttons_and_focused_controls_are_visible_in_every_window(
    site: ExampleSite, long_site: ExampleSite, example: ExamplePage, size: tuple[int, int]
) -> None:
    with open_in(long_site if example in LONG else site, example, size) as page:
        assert example not in REFUSING or message_is_seen(page)
        assert example not in FILLED_IN or main_button_is_seen(page)
        assert hidden_stops(page) == []


@pytest.mark.prove
@pytest.mark.parametrize("example", LONG, ids=str)
def test_long_texts_widen_and_squeeze_no_page(long_site: ExampleSite, example: ExamplePage) -> None:
    with long_site.open(example) as page:
        assert problems(page, LOOKS) == {}


@pytest.mark.parametrize("name", ["review-undo", "review-settings-refused"])
def test_the_bar_of_a_draft_covers_no_focused_control_on_a_phone(
    site: ExampleSite, name: str
) -> None:
    example = next(example for example in ALL if example.name == name)
    with open_in(site, example, PHONE) as page:
        assert hidden_stops(page) == []

"""In windows of real height focused controls and refusals are visible."""

import pytest

from tests.browser.conftest import ExampleSite
from tests.browser.example_steps import ALL, ExamplePage
from tests.browser.tab_order import WINDOWS, hidden_stops, message_is_seen, open_in

REFUSING = [example for example in ALL if example.refused in {409, 422, 429}]


def size_of(example: ExamplePage) -> tuple[int, int]:
    """Neighbouring pages have different windows, so that each is seen with many."""
    return WINDOWS[ALL.index(example) % len(WINDOWS)]


@pytest.mark.parametrize("example", ALL, ids=str)
def test_focused_controls_are_visible(site: ExampleSite, example: ExamplePage) -> None:
    with open_in(site, example, size_of(example)) as page:
        assert hidden_stops(page) == []


@pytest.mark.prove
@pytest.mark.parametrize("size", WINDOWS, ids=str)
@pytest.mark.parametrize("example", ALL, ids=str)
def test_focused_controls_are_visible_in_every_window(
    site: ExampleSite, example: ExamplePage, size: tuple[int, int]
) -> None:
    with open_in(site, example, size) as page:
        assert hidden_stops(page) == []


@pytest.mark.parametrize("size", WINDOWS, ids=str)
@pytest.mark.parametrize("example", REFUSING, ids=str)
def test_a_refusal_is_inside_the_viewport(
    site: ExampleSite, example: ExamplePage, size: tuple[int, int]
) -> None:
    with open_in(site, example, size) as page:
        assert message_is_seen(page)

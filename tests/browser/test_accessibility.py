"""Every page passes axe-core, without overflow, squeezed text or console errors, and its focused
controls and refusals are visible in windows of real height.
"""

from collections.abc import Collection
from itertools import product

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import ExampleSite
from tests.browser.example_steps import ALL, ExamplePage
from tests.browser.tab_order import (
    FILLED_IN,
    REFUSING,
    hidden_stops,
    main_button_is_seen,
    message_is_seen,
    open_in,
    size_of,
)
from tests.browsing import look, sideways, squeezed, violations

WIDTHS = (320, 390, 768, 1280)
SCHEMES = ("light", "dark")
DIRECTIONS = ("ltr", "rtl")
# Every page is seen where most changes, at the narrowest and the widest, in each scheme and in each
# direction; over two neighbouring pages every pair of these occurs. axe runs at one of the two.
LOOKS = [
    [(320, "dark", "rtl"), (1280, "light", "ltr")],
    [(320, "light", "ltr"), (1280, "dark", "rtl")],
]
AXE_WIDTHS = ((320,), (1280,))


@pytest.mark.parametrize("example", ALL, ids=str)
def test_every_page_passes_axe_and_shows_what_has_the_focus(
    site: ExampleSite, example: ExamplePage
) -> None:
    """Opened once for both: a refusal shows where it scrolled to in the window it was opened in."""
    place = ALL.index(example)
    looks = LOOKS[place % 2]
    with open_in(site, example, size_of(example)) as page:
        if example in REFUSING:
            assert message_is_seen(page)
        if example in FILLED_IN:
            assert main_button_is_seen(page)
        assert hidden_stops(page) == []
        page.evaluate("document.activeElement?.blur()")  # a skip link that is shown covers others
        assert problems(page, looks, axe_at=AXE_WIDTHS[place // 2 % 2]) == {}


@pytest.mark.prove
@pytest.mark.parametrize("example", ALL, ids=str)
def test_every_page_passes_axe_in_every_look(site: ExampleSite, example: ExamplePage) -> None:
    with site.open(example) as page:
        assert problems(page, list(product(WIDTHS, SCHEMES, DIRECTIONS))) == {}


def problems(
    page: Page, looks: list[tuple[int, str, str]], axe_at: Collection[int] = WIDTHS
) -> dict[str, list[str]]:
    """The problems of the open page in each look."""
    found = {}
    for width, scheme, direction in looks:
        look(page, width=width, scheme=scheme, direction=direction)
        found[f"{width} {scheme} {direction}"] = (
            (violations(page) if width in axe_at else []) + sideways(page) + squeezed(page)
        )
    return {name: wrong for name, wrong in found.items() if wrong}

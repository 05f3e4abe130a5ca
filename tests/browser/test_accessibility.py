"""Every page passes axe-core, without overflow, squeezed text or console errors."""

from collections.abc import Collection
from itertools import product

import pytest

from tests.browser.conftest import ExampleSite
from tests.browser.example_steps import ALL, ExamplePage
from tests.browsing import look, sideways, squeezed, violations

WIDTHS = (320, 390, 768, 1280)
SCHEMES = ("light", "dark")
DIRECTIONS = ("ltr", "rtl")
# Every page is seen at each width, in each scheme and in each direction; over two neighbouring
# pages every pair of these occurs. axe runs where most changes, at the narrowest and the widest.
LOOKS = [
    [(320, "dark", "rtl"), (390, "light", "rtl"), (768, "dark", "ltr"), (1280, "light", "ltr")],
    [(320, "light", "ltr"), (390, "dark", "ltr"), (768, "light", "rtl"), (1280, "dark", "rtl")],
]
AXE_WIDTHS = (320, 1280)


@pytest.mark.parametrize("example", ALL, ids=str)
def test_every_page_passes_axe(site: ExampleSite, example: ExamplePage) -> None:
    assert problems(site, example, LOOKS[ALL.index(example) % 2], axe_at=AXE_WIDTHS) == {}


@pytest.mark.prove
@pytest.mark.parametrize("example", ALL, ids=str)
def test_every_page_passes_axe_in_every_look(site: ExampleSite, example: ExamplePage) -> None:
    assert problems(site, example, list(product(WIDTHS, SCHEMES, DIRECTIONS))) == {}


def problems(
    site: ExampleSite,
    example: ExamplePage,
    looks: list[tuple[int, str, str]],
    axe_at: Collection[int] = WIDTHS,
) -> dict[str, list[str]]:
    """The problems in each look; the page is opened once and shown in all of them."""
    found = {}
    with site.open(example) as page:
        for width, scheme, direction in looks:
            look(page, width=width, scheme=scheme, direction=direction)
            found[f"{width} {scheme} {direction}"] = (
                (violations(page) if width in axe_at else []) + sideways(page) + squeezed(page)
            )
    return {name: wrong for name, wrong in found.items() if wrong}

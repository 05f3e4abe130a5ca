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
# Over two neighbouring pages every pair of width, scheme and direction occurs; every page is
# seen at each width, in each scheme and in each direction. Its colours are the same at all widths
# but for what only the narrowest or the widest shows.
PAIRS = [
    [(320, "dark", "rtl"), (390, "light", "ltr"), (768, "dark", "ltr"), (1280, "light", "rtl")],
    [(320, "light", "ltr"), (390, "dark", "rtl"), (768, "light", "rtl"), (1280, "dark", "ltr")],
]


@pytest.mark.parametrize("example", ALL, ids=str)
def test_every_page_passes_axe(site: ExampleSite, example: ExamplePage) -> None:
    assert problems(site, example, PAIRS[ALL.index(example) % 2], contrast_at=(320, 1280)) == {}


@pytest.mark.prove
@pytest.mark.parametrize("example", ALL, ids=str)
def test_every_page_passes_axe_in_every_look(site: ExampleSite, example: ExamplePage) -> None:
    assert problems(site, example, list(product(WIDTHS, SCHEMES, DIRECTIONS))) == {}


def problems(
    site: ExampleSite,
    example: ExamplePage,
    looks: list[tuple[int, str, str]],
    contrast_at: Collection[int] = WIDTHS,
) -> dict[str, list[str]]:
    """The problems in each look; the page is opened once and shown in all of them."""
    found = {}
    with site.open(example) as page:
        for width, scheme, direction in looks:
            look(page, width=width, scheme=scheme, direction=direction)
            found[f"{width} {scheme} {direction}"] = (
                violations(page, contrast=width in contrast_at) + sideways(page) + squeezed(page)
            )
    return {name: wrong for name, wrong in found.items() if wrong}

"""Strokes are drawn as an answer is saved, and the thank-you page is signed; not for everybody."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.respondent_steps import Link, asked, finish, give, press
from tests.browsing import window

LISTEN = """() => {
  window.drawn = [];
  document.addEventListener("animationstart", ({ animationName, target }) => window.drawn.push({
    name: animationName,
    stroke: [...target.parentElement.children].indexOf(target) + 1,
    ms: Math.round(parseFloat(getComputedStyle(target).animationDuration) * 1000),
  }));
}"""


def opened(browser: Browser, link: Link, motion: str) -> Iterator[Page]:
    with window(browser, link.address, reduced_motion=motion) as page:
        page.goto(link.path)
        page.evaluate(LISTEN)
        yield page


@pytest.fixture
def moving(browser: Browser, link: Link) -> Iterator[Page]:
    yield from opened(browser, link, "no-preference")


@pytest.fixture
def still(browser: Browser, link: Link) -> Iterator[Page]:
    yield from opened(browser, link, "reduce")


def drawn(page: Page, count: int) -> Any:
    """What was drawn since the first page, when it is that much."""
    page.wait_for_function("count => window.drawn.length >= count", arg=count)
    return page.evaluate("window.drawn")


def test_each_answer_draws_its_stroke_and_the_end_is_signed(moving: Page) -> None:
    stroke = {"name": "ink-on", "ms": 240}
    give(moving, "Me")
    asked(moving, 2)
    expect(moving.locator("#answer")).to_be_focused()
    moving.keyboard.type("typed at once")
    assert drawn(moving, 1) == [stroke | {"stroke": 1}]
    press(moving, "Skip this question")
    asked(moving, 3)
    give(moving, "Habit")
    assert drawn(moving, 2) == [stroke | {"stroke": 1}, stroke | {"stroke": 3}]
    finish(moving)

    assert drawn(moving, 3)[-1]["name"] == "ink"


def test_nothing_moves_where_motion_is_not_wanted(still: Page) -> None:
    for number in (1, 2, 3):
        asked(still, number)
        give(still, "Me")
        assert still.evaluate("document.getAnimations().length") == 0
    finish(still)
    assert still.evaluate("document.getAnimations().length") == 0

    assert still.evaluate("window.drawn") == []
    assert (
        still.locator(".flourish path").evaluate("path => getComputedStyle(path).strokeDasharray")
        == "none"
    )

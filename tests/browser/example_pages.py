"""A page of the example installation, and how a browser gets there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

from tests.browser.example_data import ExampleData

Steps = Callable[[Page, ExampleData], Any]


@dataclass(frozen=True)
class ExamplePage:
    """`refused` is the status of a page that is an expected refusal."""

    name: str
    show: Steps
    signed_in: bool = False
    refused: int = 0

    def __str__(self) -> str:
        return self.name


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def each(*steps: Steps) -> Steps:
    """One step after the other."""

    def show(page: Page, data: ExampleData) -> None:
        for step in steps:
            step(page, data)

    return show


def at(path: str) -> Steps:
    """A page of a fixed address, or of one named by an attribute of the example data in braces."""
    return lambda page, data: page.goto(path.format(data=data))


def pressed(name: str, *, exact: bool = True) -> Steps:
    return lambda page, _data: page.get_by_role("button", name=name, exact=exact).click()


def followed(name: str) -> Steps:
    """The first link of this name."""
    return lambda page, _data: page.get_by_role("link", name=name).first.click()


def clicked(selector: str) -> Steps:
    """The first part that a selector finds."""
    return lambda page, _data: page.locator(selector).first.click()


def filled(label: str, text: str) -> Steps:
    return lambda page, _data: page.get_by_label(label).fill(text)


def seen(selector: str) -> Steps:
    """Waited for: what a selector finds, such as `text=…`."""
    return lambda page, _data: page.locator(selector).first.wait_for()


def outdated(selector: str = "input[name=revision]") -> Steps:
    """The page is one of an older revision."""
    return lambda page, _data: page.locator(selector).first.evaluate("it => { it.value = 1 }")

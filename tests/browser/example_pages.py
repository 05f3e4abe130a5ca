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


def at(path: str) -> Steps:
    """A page of a fixed address, or of one named by an attribute of the example data in braces."""
    return lambda page, data: page.goto(path.format(data=data))


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()

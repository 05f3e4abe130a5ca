"""The pages of agent tokens."""

from playwright.sync_api import Page

from tests.browser.example_data import ExampleData
from tests.browser.example_pages import ExamplePage, at, press

NEW = "/connections/tokens/new"


def refused(page: Page, _data: ExampleData) -> None:
    page.goto(NEW)
    page.get_by_label("Days until it ends").fill("ninety")
    press(page, "Make the token")
    page.locator(".field__error").wait_for()


def made(page: Page, _data: ExampleData) -> None:
    page.goto(NEW)
    page.get_by_label("What it is for").fill("A script on my laptop")
    press(page, "Make the token")
    page.get_by_label("Agent token").wait_for()


def revoked(page: Page, data: ExampleData) -> None:
    made(page, data)
    page.goto("/connections")
    page.get_by_role("button", name="Revoke A script on my laptop").first.click()
    page.get_by_text("Revoked:").wait_for()


TOKENS = [
    ExamplePage("token-new", at(NEW), signed_in=True),
    ExamplePage("token-refused", refused, signed_in=True, refused=422),
    ExamplePage("token-made", made, signed_in=True),
    ExamplePage("token-revoked", revoked, signed_in=True),
]

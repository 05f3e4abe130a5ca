"""Handing work to an agent, in a real browser: tabs, copying, and the line that follows it."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite
from tests.browser.example_data import connect, write
from tests.browser.example_texts import ROTA
from tests.browsing import violations, window
from tests.factories import make_account
from tests.pages.creator_client import creator
from webapp.base.database import new_id, utc_now
from webapp.base.vocabulary import Scope

PANELS = ".host-tabs__panel:visible"


class Newcomer:
    """Somebody who has nothing yet, and the first agent of theirs."""

    def __init__(self, site: ExampleSite) -> None:
        self.site = site
        with site.app.app_context():
            account = make_account()
        self.account_id = account.id
        client = creator(site.app, account).client
        cookie = client.get_cookie("askback_session", domain="127.0.0.1")
        assert cookie is not None
        self.cookies: list[Any] = [
            {"name": cookie.key, "value": cookie.value, "url": site.address, "httpOnly": True}
        ]

    def connect(self) -> str:
        with self.site.app.app_context():
            return connect(self.account_id, new_id("cli"), "Claude", [*Scope], utc_now())

    def draft(self, grant_id: str) -> str:
        with self.site.app.app_context():
            return write(self.account_id, ROTA, grant_id, utc_now()).id


@pytest.fixture
def newcomer(site: ExampleSite) -> Newcomer:
    return Newcomer(site)


def tick(page: Page) -> None:
    page.evaluate("document.body.dispatchEvent(new Event('app:poll'))")


@pytest.fixture
def page(site: ExampleSite, newcomer: Newcomer) -> Iterator[Page]:
    options = {
        "permissions": ["clipboard-read", "clipboard-write"],
        "reduced_motion": "no-preference",
        "height": 800,
    }
    with window(site.browser, site.address, **options) as page:
        page.context.add_cookies(newcomer.cookies)
        page.goto("/drafts")
        yield page


def test_an_open_inbox_follows_the_first_agent_to_its_draft(page: Page, newcomer: Newcomer) -> None:
    copy = page.get_by_role("button", name="Copy what to say")
    expect(copy).to_be_in_viewport()
    expect(page.get_by_text("Waiting for your agent …")).to_be_in_viewport()
    page.get_by_role("textbox", name="Hand this").fill("Find out what they eat.")
    copy.click()
    assert page.evaluate("navigator.clipboard.readText()") == "Find out what they eat."

    page.get_by_label("Claude", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Cursor", exact=True)).to_be_checked()
    expect(page.locator(PANELS)).to_have_count(1)
    page.locator(PANELS).get_by_role("button").click()
    assert page.evaluate("navigator.clipboard.readText()").startswith('{"mcpServers"')

    grant_id = newcomer.connect()
    tick(page)
    expect(page.get_by_text("Claude is connected")).to_be_visible()
    assert violations(page) == []
    expect(page.get_by_label("Cursor", exact=True)).to_be_checked()
    expect(page.get_by_role("textbox", name="Hand this")).to_have_value("Find out what they eat.")

    draft_id = newcomer.draft(grant_id)
    tick(page)
    expect(page.get_by_text("The first draft is here")).to_be_visible()
    row = page.locator("li.list-row", has=page.locator(f"#{draft_id}"))
    moves = row.evaluate("(row) => getComputedStyle(row).animationName")
    page.emulate_media(reduced_motion="reduce")
    stands = row.evaluate("(row) => getComputedStyle(row).animationName")
    assert (moves, stands) == ("arrive", "none")


def test_an_agent_that_connects_is_listed_on_the_open_page_of_agents(
    page: Page, newcomer: Newcomer
) -> None:
    page.goto("/connections")
    newcomer.connect()
    tick(page)

    expect(page.get_by_role("heading", name="Claude", exact=True)).to_be_visible()
    expect(page.get_by_text("Claude is connected")).to_be_visible()
    assert page.locator("li.agent.arrived").count() == 1


def test_without_scripts_every_tab_is_reached_and_a_reload_tells_the_step(
    site: ExampleSite, newcomer: Newcomer
) -> None:
    with window(site.browser, site.address, java_script_enabled=False, width=390) as page:
        page.context.add_cookies(newcomer.cookies)
        page.goto("/drafts")
        shown = []
        for tab in page.locator(".host-tabs__tab").all():
            tab.click()
            expect(page.locator(PANELS)).to_have_count(1)
            shown.append(page.locator(PANELS).inner_text())
        assert len(set(shown)) == 7
        assert page.get_by_role("button", name="Copy").count() == 0

        newcomer.connect()
        page.get_by_role("link", name="Reload this page").click()
        expect(page.get_by_text("Claude is connected")).to_be_visible()

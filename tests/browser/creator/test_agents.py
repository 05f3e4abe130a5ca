"""Connected agents in a real browser: the guide, consent, switches, tokens."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite
from tests.browser.example_data import connect, write
from tests.browser.example_texts import ASKING, ROTA
from tests.browsing import violations, window
from tests.factories import make_account
from tests.oauth.flow import register
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


def tick(guide: Page) -> None:
    guide.evaluate("document.body.dispatchEvent(new Event('app:poll'))")


@pytest.fixture
def guide(site: ExampleSite, newcomer: Newcomer) -> Iterator[Page]:
    options = {
        "permissions": ["clipboard-read", "clipboard-write"],
        "reduced_motion": "no-preference",
        "height": 800,
    }
    with window(site.browser, site.address, **options) as guide:
        guide.context.add_cookies(newcomer.cookies)
        guide.goto("/drafts")
        yield guide


def test_an_open_inbox_follows_the_first_agent_to_its_draft(
    guide: Page, newcomer: Newcomer
) -> None:
    copy = guide.get_by_role("button", name="Copy what to say")
    expect(copy).to_be_in_viewport()
    expect(guide.get_by_text("Waiting for your agent …")).to_be_in_viewport()
    guide.get_by_role("textbox", name="Hand this").fill("Find out what they eat.")
    copy.click()
    assert guide.evaluate("navigator.clipboard.readText()") == "Find out what they eat."

    guide.get_by_label("Claude", exact=True).focus()
    guide.keyboard.press("ArrowRight")
    guide.keyboard.press("ArrowRight")
    expect(guide.get_by_label("Cursor", exact=True)).to_be_checked()
    expect(guide.locator(PANELS)).to_have_count(1)
    guide.locator(PANELS).get_by_role("button").click()
    assert guide.evaluate("navigator.clipboard.readText()").startswith('{"mcpServers"')

    grant_id = newcomer.connect()
    tick(guide)
    expect(guide.get_by_text("Claude is connected")).to_be_visible()
    assert violations(guide) == []
    expect(guide.get_by_label("Cursor", exact=True)).to_be_checked()
    expect(guide.get_by_role("textbox", name="Hand this")).to_have_value("Find out what they eat.")

    draft_id = newcomer.draft(grant_id)
    tick(guide)
    expect(guide.get_by_text("The first draft is here")).to_be_visible()
    row = guide.locator("li.list-row", has=guide.locator(f"#{draft_id}"))
    moves = row.evaluate("(row) => getComputedStyle(row).animationName")
    guide.emulate_media(reduced_motion="reduce")
    stands = row.evaluate("(row) => getComputedStyle(row).animationName")
    assert (moves, stands) == ("arrive", "none")


def test_without_scripts_every_tab_is_reached_and_a_reload_tells_the_step(
    site: ExampleSite, newcomer: Newcomer
) -> None:
    with window(site.browser, site.address, java_script_enabled=False, width=390) as guide:
        guide.context.add_cookies(newcomer.cookies)
        guide.goto("/drafts")
        shown = []
        for tab in guide.locator(".host-tabs__tab").all():
            tab.click()
            expect(guide.locator(PANELS)).to_have_count(1)
            shown.append(guide.locator(PANELS).inner_text())
        assert len(set(shown)) == 7
        assert guide.get_by_role("button", name="Copy").count() == 0

        newcomer.connect()
        guide.get_by_role("link", name="Reload this page").click()
        expect(guide.get_by_text("Claude is connected")).to_be_visible()


@pytest.fixture
def consent(site: ExampleSite, callback: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The consent page of a loopback client of each test alone, which needs no scripts."""
    client = register(
        site.app.test_client(),
        client_name=request.node.name,
        redirect_uris=[callback],
        token_endpoint_auth_method="none",
    )
    asking = ASKING | {"client_id": client["client_id"], "redirect_uri": callback}
    context = site.browser.new_context(
        base_url=site.address, storage_state=site.signed_in, java_script_enabled=False
    )
    consent = context.new_page()
    consent.goto(f"/oauth/authorize?{urlencode(asking)}")
    yield consent
    context.close()


def test_allowing_comes_first_but_enter_in_a_tick_box_never_allows(
    consent: Page, callback: str
) -> None:
    names = consent.locator(".actions button").all_inner_texts()
    consent.get_by_role("checkbox").first.press("Enter")
    consent.wait_for_url(f"{callback}?*")

    assert names == ["Allow", "Do not allow"]
    assert parse_qs(urlsplit(consent.url).query)["error"] == ["access_denied"]

"""The page of connected agents in a real browser, with and without scripts."""

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from tests.browser.conftest import ExampleSite
from tests.browsing import window
from webapp.database import db
from webapp.oauth.models import OAuthGrant

SWITCH = "May publish after I say yes in our chat"


def trusted(site: ExampleSite) -> bool:
    """Whether any agent of the café may publish by itself."""
    with site.app.app_context():
        return any(db.session.scalars(select(OAuthGrant.attests_publish)))


def test_the_trust_switch_saves_at_once_and_keeps_the_focus(site: ExampleSite) -> None:
    with window(site.browser, site.address, storage_state=site.signed_in) as page:
        page.goto("/connections")
        switch = page.get_by_label(SWITCH).first
        with page.expect_response("**/trust"):
            switch.check()
        expect(page.get_by_label(SWITCH).first).to_be_checked()
        expect(page.get_by_label(SWITCH).first).to_be_focused()
        saved = trusted(site)
        with page.expect_response("**/trust"):
            page.get_by_label(SWITCH).first.uncheck()

    assert saved
    assert not trusted(site)


@pytest.mark.parametrize("scripts", [True, False])
def test_disconnecting_removes_the_agent_from_the_page_with_a_note(
    site: ExampleSite, *, scripts: bool
) -> None:
    options = {"storage_state": site.signed_in, "java_script_enabled": scripts}
    with window(site.browser, site.address, **options) as page:
        page.goto("/connections")
        before = agents(page)
        name = page.locator(".agent__name bdi").first.inner_text()
        page.get_by_role("button", name="Disconnect", exact=False).first.click()
        page.wait_for_load_state()
        expect(page.locator("p:focus")).to_have_text(f"Disconnected: {name}.")
        after = agents(page)

    assert after == before - 1


def agents(page: Page) -> int:
    return page.locator(".agent").count()

"""The page of connected agents in a real browser, with and without scripts."""

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from tests.browser.conftest import ExampleSite
from tests.browser.example_tokens import made
from tests.browsing import window
from webapp.base.database import db
from webapp.oauth.models import OAuthGrant

SWITCH = "Can publish after I approve in chat"


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
    return page.locator(".agent[id^=connection]").count()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_token_is_made_copied_and_revoked(site: ExampleSite, *, scripts: bool) -> None:
    name = f"Script {scripts}"
    options = {"storage_state": site.signed_in, "java_script_enabled": scripts}
    with window(site.browser, site.address, **options) as page:
        page.goto("/connections")
        page.get_by_role("link", name="Make a token").click()
        page.get_by_label("What it reads").select_option(form_id(site))
        page.get_by_label("What it is for").fill(name)
        page.get_by_label("Days until it ends").fill("7")
        page.get_by_role("button", name="Make the token").click()
        field = page.get_by_label("Agent token")
        token = field.input_value()
        expect(page.locator("h1")).to_have_text("Here is the token. Copy it now.")
        expect(page.get_by_role("button", name="Copy")).to_have_count(2 if scripts else 0)
        field.select_text()  # so that it can be copied by hand
        read = answers(site, token)
        page.reload()
        expect(page).to_have_url(f"{site.address}/connections")
        expect(page.get_by_role("button", name=f"Revoke {name}")).to_have_count(1)
        page.get_by_role("button", name=f"Revoke {name}").click()
        expect(page.locator("p:focus")).to_contain_text(f"Revoked: {name}")

    assert (read, answers(site, token)) == (200, 401)


def answers(site: ExampleSite, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    client = site.app.test_client()
    return client.get(f"/api/agent/asks/{form_id(site)}/answers", headers=headers).status_code


def form_id(site: ExampleSite) -> str:
    return site.data.results.rpartition("/")[2]


def test_the_token_is_copied_by_its_button(site: ExampleSite) -> None:
    options = {
        "storage_state": site.signed_in,
        "permissions": ["clipboard-read", "clipboard-write"],
    }
    with window(site.browser, site.address, **options) as page:
        made(page, site.data)
        token = page.get_by_label("Agent token").input_value()
        page.get_by_role("button", name="Copy").first.click()
        expect(page.locator("#token-copy-status")).to_have_text("Copied")

        assert page.evaluate("navigator.clipboard.readText()") == token

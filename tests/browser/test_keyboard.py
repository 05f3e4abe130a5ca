"""The main tasks by keyboard alone."""

import re
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite
from tests.browser.example_texts import ANSWERS, ASKING, EMAIL, PASSWORD
from tests.browsing import press_until, window
from tests.oauth.flow import register
from webapp.base.database import utc_now
from webapp.records.accounts import invites

FOCUSED = "() => (document.activeElement.innerText || document.activeElement.name || '').trim()"


def reach(page: Page, name: str) -> None:
    """Tab until the control of this name, or of this field name, has the focus."""
    press_until(page, "Tab", lambda: page.evaluate(FOCUSED).startswith(name))


def test_a_form_is_answered_by_keyboard_alone(site: ExampleSite) -> None:
    with window(site.browser, site.address) as page:
        page.goto(site.data.asks)
        for number, text in enumerate(["First.", "Second.", "Third."], start=1):
            expect(page.locator(".count")).to_contain_text(f"Question {number} of 3")
            reach(page, "answer")
            page.keyboard.type(text)
            page.keyboard.press("Control+Enter")
        expect(page.locator("h1")).to_have_text("Check your answers, then send.")
        reach(page, "name")
        page.keyboard.type(ANSWERS[0][0])
        reach(page, "Send to Ann")
        page.keyboard.press("Space")

        expect(page.locator("h1")).to_have_text(re.compile("^Thank you."))


def test_the_focus_can_always_be_seen(site: ExampleSite) -> None:
    """Each focused control has an outline."""
    with window(site.browser, site.address, storage_state=site.signed_in) as page:
        page.goto(f"{site.data.rota}/confirm")
        unseen = []
        for _ in range(12):
            page.keyboard.press("Tab")
            if (
                page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
                == "none"
            ):
                unseen.append(page.evaluate(FOCUSED))

        assert unseen == []


def test_a_creator_signs_in_and_lets_an_agent_in_by_keyboard_alone(
    site: ExampleSite, callback: str
) -> None:
    client = register(site.app.test_client(), redirect_uris=[callback])
    asking = ASKING | {"client_id": client["client_id"], "redirect_uri": callback}
    with window(site.browser, site.address, others=[callback]) as page:
        page.goto(f"/oauth/authorize?{urlencode(asking)}")
        reach(page, "email")
        page.keyboard.type(EMAIL)
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Let Example agent work with your forms?")
        reach(page, "may")
        page.keyboard.press("Space")
        reach(page, "Allow")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{callback}?*")

        assert "code" in parse_qs(urlsplit(page.url).query)


def test_an_account_is_changed_and_deleted_by_keyboard_alone(site: ExampleSite) -> None:
    email, new_password = "leaver@fernhill.example", "another four plain words"
    with site.app.app_context():
        invites.create_account(email, "Lea", PASSWORD, now=utc_now())
    with window(site.browser, site.address) as page:
        page.goto("/login")
        reach(page, "email")
        page.keyboard.type(email)
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/drafts")
        reach(page, "Lea")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Your account")
        reach(page, "current")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Tab")
        page.keyboard.type(new_password)
        page.keyboard.press("Enter")
        expect(page.locator(".note[role=status]")).to_contain_text("Your password is changed.")
        reach(page, "Delete account")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Delete your account?")
        reach(page, "Delete my account")
        page.keyboard.press("Enter")

        expect(page.locator("h1")).to_have_text("Your account is deleted.")

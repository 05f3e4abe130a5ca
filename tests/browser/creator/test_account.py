"""The account page in a real browser: late deletion, ending sessions, activity."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ExampleSite
from tests.browser.example_texts import EMAIL, PASSWORD
from tests.browsing import look, sideways, violations, window
from webapp.pages.creator.account import sign_in


def test_a_wrong_password_deletes_nothing_and_is_asked_for_again(
    site: ExampleSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "RECENT_SECONDS", 0)
    signed_in = site.signed_in
    with window(site.browser, site.address, storage_state=signed_in, refused=[422]) as page:
        page.goto("/account/delete")
        password = page.get_by_label("Your password")
        password.fill("not my password")
        page.get_by_role("button", name="Delete my account").click()
        expect(page.locator(".field__error")).to_contain_text("That is not your password.")
        expect(password).to_be_focused()
        problems = []
        for width, scheme in [(320, "dark"), (1280, "light")]:
            look(page, width=width, scheme=scheme)
            problems += violations(page) + sideways(page)

        assert problems == []
        page.goto("/account")
        expect(page.locator("h1")).to_have_text("Your account")


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0"


@pytest.mark.parametrize("scripts", [True, False])
def test_another_browser_is_signed_out_by_keyboard(site: ExampleSite, scripts: bool) -> None:  # noqa: FBT001
    here = {"storage_state": site.signed_in, "java_script_enabled": scripts}
    with (
        window(site.browser, site.address, user_agent=FIREFOX) as other,
        window(site.browser, site.address, **here) as page,
    ):
        other.goto("/login")
        other.get_by_label("E-mail").fill(EMAIL)
        other.get_by_label("Password").fill(PASSWORD)
        other.get_by_role("button", name="Sign in").click()
        other.wait_for_url("**/drafts")
        page.goto("/account")
        expect(page.locator("#browsers-label")).to_contain_text("signed in")
        page.get_by_role("button", name="Sign out Firefox on Linux").press("Enter")
        expect(page.locator(".note")).to_contain_text("That browser is signed out.")
        expect(page.get_by_text("Firefox on Linux")).to_have_count(0)
        other.goto("/account")
        expect(other.locator("h2")).to_have_text("Sign in")


@pytest.mark.parametrize("scripts", [True, False])
def test_the_activity_page_works_without_scripts(site: ExampleSite, scripts: bool) -> None:  # noqa: FBT001
    here = {"storage_state": site.signed_in, "java_script_enabled": scripts}
    with window(site.browser, site.address, **here) as page:
        page.goto("/account")
        page.get_by_role("link", name="See what happened").press("Enter")
        expect(page.locator("h1")).to_have_text("What happened with your account")
        expect(page.locator(".event__text").first).to_contain_text("You ")
        expect(page.locator("time").first).to_contain_text(":" if scripts else "UTC")

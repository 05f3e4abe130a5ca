"""The log of deliveries in a real browser, with and without scripts."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ExampleSite
from tests.browsing import window


@pytest.mark.parametrize("scripts", [True, False])
def test_filters_are_chosen_and_taken_back(site: ExampleSite, *, scripts: bool) -> None:
    options = {"storage_state": site.signed_in, "java_script_enabled": scripts}
    with window(site.browser, site.address, **options) as page:
        page.goto("/deliveries")
        everything = page.locator("tbody tr").count()
        page.locator("summary", has_text="Filters").click()
        page.get_by_label("Outcome").select_option("Not arrived")
        page.get_by_label("Sent to").select_option("hooks.codex-runner.example:8443")
        page.get_by_role("button", name="Apply").click()
        page.wait_for_url("**/deliveries?state=failed&form=&host=hooks.codex-runner.example*")
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.get_by_label("Outcome")).to_have_value("failed")
        page.get_by_label("Sent to").select_option("hooks.claude.example")
        page.get_by_role("button", name="Apply").click()
        page.get_by_role("link", name="Clear filters").click()
        expect(page.locator("tbody tr")).to_have_count(everything)


def test_a_test_is_sent_without_scripts(site: ExampleSite) -> None:
    """The secrets of the example installation are sealed with no key of it."""
    options = {"storage_state": site.signed_in, "java_script_enabled": False}
    with window(site.browser, site.address, **options) as page:
        page.goto("/deliveries")
        page.get_by_role("button", name="Send a test to hooks.claude.example").click()
        expect(page.locator(".note[role=status]")).to_contain_text("The test was not sent.")


def test_a_delivery_is_sent_again_without_scripts(site: ExampleSite) -> None:
    options = {"storage_state": site.signed_in, "java_script_enabled": False}
    with window(site.browser, site.address, **options) as page:
        page.goto("/deliveries?state=failed")
        page.get_by_role("button", name="Send again").first.click()
        expect(page.locator(".note[role=status]")).to_contain_text("It goes out again.")

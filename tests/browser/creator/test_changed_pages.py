"""What people's browsers make of a creator's pages: a draft is still written and published."""

from playwright.sync_api import expect

from tests.browser.conftest import ExampleSite
from tests.browser.creator.test_slow_server import new_draft
from tests.browser.respondent.voice.test_changed_pages import TABLE
from tests.browser.respondent_steps import press
from tests.browsing import window


def test_a_draft_is_written_and_published_on_changed_pages(site: ExampleSite) -> None:
    path = new_draft(site)
    with window(site.browser, site.address, storage_state=site.signed_in) as page:
        for script in TABLE["all of them"]:
            page.add_init_script(script)
        page.goto(path)
        page.locator("a[href$='/goal/edit']").click()
        page.locator("#goal textarea").first.fill("What made people leave")
        press(page, "Save")
        expect(page.locator("#goal .editor")).to_have_count(0)
        expect(page.locator("#goal")).to_contain_text("What made people leave")
        page.locator("a[href$='/questions/1/edit']").click()
        page.locator("#questions textarea").first.fill("What made you leave?")
        press(page, "Save")
        expect(page.locator("#questions .editor")).to_have_count(0)
        expect(page.locator("#questions")).to_contain_text("What made you leave?")
        page.goto(f"{path}/confirm")
        page.get_by_role("button", name="Publish now").click()
        page.wait_for_url("**/share")

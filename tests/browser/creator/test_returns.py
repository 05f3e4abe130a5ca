"""Sending back on the review page: by keyboard, guarded, and without scripts."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite, OpenWindow
from tests.browser.example_data import write
from tests.browser.example_texts import ROTA
from webapp.base.database import db, utc_now
from webapp.records.drafts import Draft

NOTE = "Shorter, please"


@pytest.fixture
def drafted(site: ExampleSite) -> Draft:
    """A draft of this test's own, by an agent."""
    with site.app.app_context():
        return write(site.data.account_id, ROTA, "grn_agent", utc_now())


def opened(page: Page, draft: Draft) -> None:
    """The form, by keyboard."""
    page.goto(f"/drafts/{draft.id}")
    page.get_by_role("link", name="Send back").press("Enter")
    expect(page.get_by_label("Why? (optional)")).to_be_focused()


def note_of(site: ExampleSite, draft: Draft) -> str | None:
    with site.app.app_context():
        return db.session.get_one(Draft, draft.id).return_note


def test_a_note_is_written_and_sent_by_keyboard(
    site: ExampleSite, open_window: OpenWindow, drafted: Draft
) -> None:
    asked: list[str] = []
    with open_window() as page:
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
        opened(page, drafted)
        expect(page.locator("#confirm-button")).to_be_hidden()
        page.keyboard.type(NOTE)
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/drafts?returned=*")

        expect(page.locator(":focus")).to_contain_text("Sent back:")
        page.get_by_role("button", name="Keep it after all", exact=True).first.press("Enter")
        page.wait_for_url("**/drafts?kept=*")
    assert asked == []
    assert note_of(site, drafted) is None


def test_escape_asks_before_it_drops_the_note(
    site: ExampleSite, open_window: OpenWindow, drafted: Draft
) -> None:
    with open_window() as page:
        opened(page, drafted)
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="Send back")).to_be_focused()
        opened(page, drafted)
        page.keyboard.type(NOTE)
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Keep writing")).to_be_focused()
        page.get_by_role("button", name="Discard changes").press("Enter")

        expect(page.get_by_role("link", name="Send back")).to_be_focused()
        expect(page.locator("#confirm-button")).to_be_visible()
    assert note_of(site, drafted) is None


@pytest.mark.parametrize("path", ["", "/return/edit"])
def test_leaving_with_a_note_asks_first(open_window: OpenWindow, drafted: Draft, path: str) -> None:
    asked: list[str] = []
    with open_window() as page:
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
        page.goto(f"/drafts/{drafted.id}{path}")
        if not path:
            page.get_by_role("link", name="Send back").click()
        page.get_by_label("Why? (optional)").press_sequentially(NOTE)
        page.get_by_role("link", name="Forms", exact=True).click()
        page.wait_for_timeout(300)
        expect(page.get_by_label("Why? (optional)")).to_have_value(NOTE)
        with page.expect_navigation():
            page.get_by_role("button", name="Send back").click()

    assert asked == ["beforeunload"]


def test_an_open_page_of_the_decision_hears_of_it(open_window: OpenWindow, drafted: Draft) -> None:
    with open_window() as page:
        page.goto(f"/drafts/{drafted.id}/confirm")
        other = page.context.new_page()
        other.goto(f"/drafts/{drafted.id}/return/edit")
        other.get_by_role("button", name="Send back").click()
        other.wait_for_url("**/drafts?returned=*")
        page.evaluate("htmx.trigger(document.body, 'app:poll')")

        expect(page.locator("#new-revision")).to_contain_text("You sent this draft back just now")
        page.get_by_role("link", name="Show what it is now").click()
        expect(page.get_by_text("You sent revision 1 back")).to_be_visible()


def test_an_open_review_swaps_it_in_around_what_is_written(
    open_window: OpenWindow, drafted: Draft
) -> None:
    with open_window() as page:
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(f"/drafts/{drafted.id}")
        page.get_by_role("link", name="Edit goal").click()
        page.get_by_role("textbox", name="Goal").fill("Half a goal")
        other = page.context.new_page()
        other.goto(f"/drafts/{drafted.id}/return/edit")
        other.get_by_role("button", name="Send back").click()
        other.wait_for_url("**/drafts?returned=*")
        page.evaluate("htmx.trigger(document.body, 'app:poll')")
        page.get_by_role("link", name="Show the changes").click()

        expect(page.get_by_text("You sent revision 1 back")).to_be_visible()
        expect(page.get_by_role("link", name="Send back")).to_have_count(0)
        expect(page.get_by_role("textbox", name="Goal")).to_have_value("Half a goal")
        page.evaluate("htmx.trigger(document.body, 'app:poll')")
        page.wait_for_timeout(300)
        expect(page.locator("#new-revision")).to_be_empty()


def test_without_scripts_it_is_a_page_of_its_own(
    site: ExampleSite, open_window: OpenWindow, drafted: Draft
) -> None:
    with open_window(java_script_enabled=False) as page:
        page.goto(f"/drafts/{drafted.id}")
        page.get_by_role("link", name="Send back").click()
        page.get_by_label("Why? (optional)").fill(NOTE)
        page.get_by_role("button", name="Send back").click()

        assert note_of(site, drafted) == NOTE
        page.get_by_role("button", name="Keep it after all", exact=True).first.click()
        expect(page.get_by_text("Kept:")).to_be_visible()
    assert note_of(site, drafted) is None

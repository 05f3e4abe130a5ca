"""Trying, publishing and sending back a draft in a real browser, also while the server is slow."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite, fill_in
from tests.browser.creator_steps import edit, saved, stored
from tests.browser.example_data import write
from tests.browser.example_texts import ROTA
from tests.browser.respondent_steps import lose_the_answer, press
from webapp.base.database import utc_now
from webapp.records.drafts import Draft

HOLD_BACK = """() => { window.sent = []; addEventListener("submit", (event) => {
  if (!event.defaultPrevented) sent.push(event.submitter.value); event.preventDefault(); }) }"""
TICK = "document.body.dispatchEvent(new Event('app:poll'))"
NOTE = "Shorter, please"
WHY = "Why? (optional)"


@pytest.fixture
def draft(site: ExampleSite) -> Draft:
    """A draft of this test's own, by an agent."""
    with site.app.app_context():
        return write(site.data.account_id, ROTA, "grn_agent", utc_now())


def save_goal(page: Page) -> None:
    page.locator("#goal").get_by_role("button", name="Save").click()


def dialogs(page: Page, *, leave: bool) -> list[str]:
    """The kinds of those that the browser opens from now on; each is answered."""
    asked: list[str] = []
    answer = "accept" if leave else "dismiss"
    page.on("dialog", lambda dialog: (asked.append(dialog.type), getattr(dialog, answer)()))
    return asked


def test_typed_text_survives_the_end_of_the_session(
    site: ExampleSite, page: Page, draft: Draft
) -> None:
    edit(page, "goal", "Written overnight")
    page.context.clear_cookies()
    page.evaluate(TICK)
    expect(page.get_by_role("alert")).to_contain_text("You are signed out.")
    expect(page.get_by_role("textbox", name="Goal")).to_have_value("Written overnight")
    page.get_by_role("textbox", name="Goal").press("Control+Enter")
    with page.context.expect_page() as sign_in:
        page.get_by_role("link", name="Sign in").click()
    fill_in(sign_in.value)
    sign_in.value.wait_for_url("**/drafts")
    save_goal(page)
    saved(page, 2)

    expect(page.locator("#error-note")).to_be_hidden()
    assert stored(site, draft).goal == "Written overnight"


def test_publishing_shows_progress_and_happens_once(page: Page, draft: Draft) -> None:
    page.goto(f"/drafts/{draft.id}/confirm")
    page.evaluate(HOLD_BACK)
    page.get_by_role("button", name="Publish now").dblclick()
    busy = page.get_by_role("button", name="Publishing…")
    expect(busy).to_have_attribute("aria-disabled", "true")
    busy.click(force=True)

    assert page.evaluate("sent") == ["publish"]


def test_a_save_without_a_response_keeps_the_text_and_claims_nothing(
    site: ExampleSite, troubled: Page, draft: Draft
) -> None:
    edit(troubled, "goal", "Written on a train")
    troubled.route("**/goal", lose_the_answer)
    with troubled.expect_event("requestfailed"):
        troubled.get_by_role("textbox", name="Goal").press("Control+Enter")
    expect(troubled.get_by_role("alert")).to_contain_text("It is not certain that this was saved.")
    troubled.unroute("**/goal")
    troubled.keyboard.press("Control+Enter")
    saved(troubled, 2)

    expect(troubled.locator("#error-note")).to_be_hidden()
    assert stored(site, draft).goal == "Written on a train"


def test_leaving_with_unsaved_text_asks_first(site: ExampleSite, page: Page, draft: Draft) -> None:
    asked = dialogs(page, leave=False)
    edit(page, "goal", "A new goal")
    press(page, "Publish now")
    save_goal(page)
    saved(page, 2)
    press(page, "Publish now")
    page.wait_for_url("**/share")

    assert asked == ["beforeunload"]
    assert stored(site, draft).goal == "A new goal"


def begin_note(page: Page) -> None:
    """The form of sending back, by keyboard."""
    page.get_by_role("link", name="Send back").press("Enter")
    expect(page.get_by_label(WHY)).to_be_focused()


def test_a_note_is_written_and_sent_by_keyboard(
    site: ExampleSite, page: Page, draft: Draft
) -> None:
    asked = dialogs(page, leave=True)
    begin_note(page)
    expect(page.locator("#confirm-button")).to_be_hidden()
    page.keyboard.type(NOTE)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/drafts?returned=*")

    expect(page.locator(":focus")).to_contain_text("Sent back:")
    page.get_by_role("button", name="Keep it after all", exact=True).first.press("Enter")
    page.wait_for_url("**/drafts?kept=*")
    assert asked == []
    assert stored(site, draft).return_note is None

"""Trying, publishing and sending back a draft in a real browser, also while the server is slow."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import ExampleSite, fill_in
from tests.browser.creator_steps import edit, saved, stored
from tests.browser.example_data import write
from tests.browser.example_texts import GOODBYE, ROTA
from tests.browser.respondent.voice.test_changed_pages import TABLE
from tests.browser.respondent_steps import press
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


def test_a_page_whose_session_ended_is_shown_after_sign_in(page: Page) -> None:
    page.goto("/forms?from=elsewhere")
    page.context.clear_cookies()
    page.evaluate(TICK)
    page.wait_for_url("**/login?next=*")
    fill_in(page)

    page.wait_for_url("**/forms?from=elsewhere")


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


def test_saving_shows_progress_and_happens_once(page: Page) -> None:
    sent: list[Route] = []
    page.route("**/goal", lambda route: sent.append(route))  # a page that is open may escape it
    page.reload()
    edit(page, "goal", "Slowly")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Saving…")).to_be_visible()
    page.keyboard.press("Control+Enter")
    sent[0].continue_()

    saved(page, 2)
    assert len(sent) == 1


@pytest.mark.parametrize("arrives", [False, True])
def test_a_save_without_a_response_keeps_the_text_and_claims_nothing(
    site: ExampleSite, troubled: Page, draft: Draft, *, arrives: bool
) -> None:
    def lose_the_answer(route: Route) -> None:
        if arrives:
            route.fetch()
        route.abort("internetdisconnected")

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


def test_a_page_out_of_the_memory_of_the_browser_is_fetched_anew_unless_it_is_written_on(
    page: Page,
) -> None:
    shown_again = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
    dialogs(page, leave=True)
    with page.expect_navigation():
        page.evaluate(shown_again)
    edit(page, "goal", "A new goal")
    page.evaluate(shown_again)
    page.wait_for_timeout(500)

    expect(page.locator("#goal textarea")).to_have_value("A new goal")


def test_smart_is_saved_with_the_private_context_that_it_asks_for(
    site: ExampleSite, page: Page
) -> None:
    with site.app.app_context():
        without = write(site.data.account_id, GOODBYE, "grt_1", utc_now())
    page.goto(f"/drafts/{without.id}")
    page.locator("#settings summary").click()
    page.get_by_role("radio", name="Smart").check()
    page.get_by_role("textbox", name="Private context").fill("We lost two cafés.")
    expect(page.locator("#settings .field__error")).to_have_count(0)
    press(page, "Save both")
    saved(page, 2)

    expect(page.get_by_role("textbox", name="Private context")).to_have_count(0)
    expect(page.locator("#context")).to_contain_text("We lost two cafés.")
    assert stored(site, without).follow_up_mode == "smart"


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


def test_an_open_page_of_the_decision_hears_of_it(page: Page, draft: Draft) -> None:
    page.goto(f"/drafts/{draft.id}/confirm")
    other = page.context.new_page()
    other.goto(f"/drafts/{draft.id}/return/edit")
    press(other, "Send back")
    other.wait_for_url("**/drafts?returned=*")
    page.evaluate("htmx.trigger(document.body, 'app:poll')")

    expect(page.locator("#new-revision")).to_contain_text("You sent this draft back just now")
    page.get_by_role("link", name="Show what it is now").click()
    expect(page.get_by_text("You sent revision 1 back")).to_be_visible()


def test_a_draft_is_written_and_published_on_changed_pages(page: Page, draft: Draft) -> None:
    for script in TABLE["all of them"]:
        page.add_init_script(script)
    page.reload()
    for part, path, text in (
        ("#goal", "goal", "What made people leave"),
        ("#questions", "questions/1", "What made you leave?"),
    ):
        page.locator(f"a[href$='/{path}/edit']").click()
        page.locator(f"{part} textarea").first.fill(text)
        press(page, "Save")
        expect(page.locator(f"{part} .editor")).to_have_count(0)
        expect(page.locator(part)).to_contain_text(text)
    page.goto(f"/drafts/{draft.id}/confirm")
    press(page, "Publish now")
    page.wait_for_url("**/share")

"""Trying, publishing and sending back a draft in a real browser, also while the server is slow."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from tests.browser.conftest import ExampleSite, OpenWindow
from tests.browser.creator_steps import edit, saved, stored
from tests.browser.example_data import write
from tests.browser.example_texts import EMAIL, GOODBYE, PASSWORD, ROTA
from tests.browser.respondent.voice.test_changed_pages import TABLE
from tests.browser.respondent_steps import press
from tests.browsing import window
from webapp.base.database import db, utc_now
from webapp.records.drafts import Draft

HOLD_BACK = """() => { window.sent = []; addEventListener("submit", (event) => {
  if (!event.defaultPrevented) sent.push(event.submitter.value); event.preventDefault(); }) }"""
TICK = "document.body.dispatchEvent(new Event('app:poll'))"


@pytest.fixture
def page(site: ExampleSite) -> Iterator[Page]:
    options = {"storage_state": site.signed_in, "refused": [401]}
    with window(site.browser, site.address, **options) as page:
        yield page


def new_draft(site: ExampleSite) -> str:
    with site.app.app_context():
        return f"/drafts/{write(site.data.account_id, GOODBYE, 'grt_1', utc_now()).id}"


def test_a_page_whose_session_ended_is_shown_after_sign_in(page: Page) -> None:
    page.goto("/forms?from=elsewhere")
    page.context.clear_cookies()

    page.evaluate(TICK)
    page.wait_for_url("**/login?next=*")
    page.get_by_label("E-mail").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    page.wait_for_url("**/forms?from=elsewhere")


def test_a_page_with_unsaved_text_stays_when_its_session_ends(
    site: ExampleSite, page: Page
) -> None:
    page.goto(new_draft(site))
    page.get_by_role("link", name="Edit goal").click()
    page.get_by_role("textbox", name="Goal").fill("Half a thought")
    page.context.clear_cookies()

    page.evaluate(TICK)

    expect(page.get_by_role("alert")).to_contain_text("You are signed out.")
    expect(page.get_by_role("textbox", name="Goal")).to_have_value("Half a thought")


def test_publishing_shows_progress_and_happens_once(site: ExampleSite, page: Page) -> None:
    page.goto(f"{new_draft(site)}/confirm")
    page.evaluate(HOLD_BACK)

    page.get_by_role("button", name="Publish now").dblclick()
    busy = page.get_by_role("button", name="Publishing…")
    expect(busy).to_have_attribute("aria-disabled", "true")
    busy.click(force=True)

    assert page.evaluate("sent") == ["publish"]


def test_saving_shows_progress_and_happens_once(site: ExampleSite, page: Page) -> None:
    sent: list[Route] = []
    page.route("**/goal", lambda route: sent.append(route))  # a page that is open may escape it
    page.goto(new_draft(site))
    page.get_by_role("link", name="Edit goal").click()
    page.get_by_role("textbox", name="Goal").fill("Slowly")

    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Saving…")).to_be_visible()
    page.keyboard.press("Control+Enter")
    sent[0].continue_()

    expect(page.locator("#save-result")).to_have_text("Saved · revision 2")
    assert len(sent) == 1


@pytest.mark.parametrize("arrives", [False, True])
def test_a_save_without_a_response_keeps_the_text_and_claims_nothing(
    site: ExampleSite, draft: Draft, *, arrives: bool
) -> None:
    def lose_the_answer(route: Route) -> None:
        if arrives:
            route.fetch()
        route.abort("internetdisconnected")

    # not a quiet window: the browser and htmx both report the broken connection
    options = {"base_url": site.address, "storage_state": site.signed_in}
    with site.browser.new_context(**options) as context:
        page = context.new_page()
        page.goto(f"/drafts/{draft.id}")
        edit(page, "goal", "Written on a train")
        page.route("**/goal", lose_the_answer)
        with page.expect_event("requestfailed"):
            page.get_by_role("textbox", name="Goal").press("Control+Enter")
        expect(page.get_by_role("alert")).to_contain_text("It is not certain that this was saved.")
        expect(page.get_by_role("alert")).to_contain_text("Your words are still here")
        page.unroute("**/goal")
        page.keyboard.press("Control+Enter")
        saved(page, 2)

        expect(page.locator("#error-note")).to_be_hidden()
    assert stored(site, draft).goal == "Written on a train"


def test_typed_text_survives_the_end_of_the_session(site: ExampleSite, draft: Draft) -> None:
    # not a quiet window: the console reports the refusals
    options = {"base_url": site.address, "storage_state": site.signed_in}
    with site.browser.new_context(**options) as context:
        page = context.new_page()
        page.goto(f"/drafts/{draft.id}")
        edit(page, "goal", "Written overnight")
        context.clear_cookies()
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("alert")).to_contain_text("You are signed out.")
        with context.expect_page() as sign_in:
            page.get_by_role("link", name="Sign in").click()
        sign_in.value.get_by_label("E-mail").fill(EMAIL)
        sign_in.value.get_by_label("Password").fill(PASSWORD)
        sign_in.value.get_by_role("button", name="Sign in").click()
        sign_in.value.wait_for_url("**/drafts")
        page.locator("#goal").get_by_role("button", name="Save").click()
        saved(page, 2)

        expect(page.locator("#error-note")).to_be_hidden()
    assert stored(site, draft).goal == "Written overnight"


def test_leaving_with_unsaved_text_asks_first(
    site: ExampleSite, open_window: OpenWindow, draft: Draft
) -> None:
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    with open_window() as page:
        page.on("dialog", stay)
        page.goto(f"/drafts/{draft.id}")
        edit(page, "goal", "A new goal")
        page.get_by_role("button", name="Publish now").click()
        page.locator("#goal").get_by_role("button", name="Save").click()
        saved(page, 2)
        page.get_by_role("button", name="Publish now").click()
        page.wait_for_url("**/share")

    assert asked == ["beforeunload"]
    assert stored(site, draft).goal == "A new goal"


def test_a_page_out_of_the_memory_of_the_browser_is_fetched_anew_unless_it_is_written_on(
    open_window: OpenWindow, draft: Draft
) -> None:
    shown_again = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
    with open_window() as page:
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(f"/drafts/{draft.id}")
        with page.expect_navigation():
            page.evaluate(shown_again)
        edit(page, "goal", "A new goal")
        page.evaluate(shown_again)
        page.wait_for_timeout(500)

        expect(page.locator("#goal textarea")).to_have_value("A new goal")


def test_smart_is_saved_with_the_private_context_that_it_asks_for(
    site: ExampleSite, open_window: OpenWindow
) -> None:
    path = new_draft(site)
    with open_window(refused=[422]) as page:
        page.goto(path)
        page.locator("#settings summary").click()
        page.get_by_role("radio", name="Smart").check()
        page.get_by_role("textbox", name="Private context").fill("We lost two cafés.")
        expect(page.locator("#settings .field__error")).to_have_count(0)
        page.get_by_role("button", name="Save both").click()
        saved(page, 2)

        expect(page.get_by_role("textbox", name="Private context")).to_have_count(0)
        expect(page.locator("#context")).to_contain_text("We lost two cafés.")
        page.reload()
        page.locator("#settings summary").click()
        expect(page.get_by_role("radio", name="Smart")).to_be_checked()


def test_a_reached_limit_loses_no_words(
    site: ExampleSite, monkeypatch: pytest.MonkeyPatch, open_window: OpenWindow
) -> None:
    monkeypatch.setattr("webapp.pages.creator.request.PAGE_WRITES_RATE", "1/minute")
    path = new_draft(site)
    settings = site.app.config["SETTINGS"].model_copy(update={"write_limits": True})
    monkeypatch.setitem(site.app.config, "SETTINGS", settings)
    with open_window(refused=[429]) as page:
        for words in ("First words", "Second words"):
            page.goto(path)
            edit(page, "goal", words)
            page.locator("#goal").get_by_role("button", name="Save").click()
            if words == "First words":
                saved(page, 2)
        expect(page.get_by_text("Nothing was changed, and nothing you wrote")).to_be_visible()
        expect(page.get_by_role("textbox", name="Goal")).to_have_value("Second words")

        monkeypatch.undo()
        page.locator("#goal").get_by_role("button", name="Save").click()
        expect(page.locator("#goal").get_by_text("Second words")).to_be_visible()
        expect(page.locator(".editor")).to_have_count(0)


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


def test_leaving_with_a_note_asks_first(open_window: OpenWindow, drafted: Draft) -> None:
    asked: list[str] = []
    with open_window() as page:
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
        page.goto(f"/drafts/{drafted.id}")
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


SHOWN = """line => {
  const { clipPath, transitionDuration } = getComputedStyle(line);
  return [!clipPath.includes("100%"), transitionDuration];
}"""


def shown(page: Page) -> list[object]:
    """Whether the written part is seen at its end, and how long writing it takes."""
    found: list[object] = page.locator(".signature__written").evaluate(SHOWN)
    return found


@pytest.mark.parametrize(
    ("motion", "takes"), [("reduce", "0s"), ("no-preference", "0.36s")], ids=["still", "drawn"]
)
def test_the_name_is_written_while_the_form_is_on_its_way(
    open_window: OpenWindow, draft: Draft, motion: str, takes: str
) -> None:
    posted = []
    with open_window(reduced_motion=motion, timezone_id="UTC") as page:
        page.goto(f"/drafts/{draft.id}/confirm")

        def keep(route: object) -> None:
            posted.append(route.request.post_data)  # type: ignore[attr-defined]
            route.fulfill(status=204)  # type: ignore[attr-defined]

        page.route("**/confirm", keep)
        assert shown(page) == [False, "0s"]
        page.locator(".signature").scroll_into_view_if_needed()
        place = page.locator(".signature").bounding_box()
        page.get_by_role("button", name="Publish now").press("Enter")

        expect(page.locator(".signature time")).to_have_text(re.compile(r"^\d+ \w+, \d\d:\d\d$"))
        page.wait_for_timeout(400 if takes != "0s" else 0)
        assert shown(page) == [True, takes]
        assert "then=publish" in posted[0]
        assert page.locator(".signature").bounding_box() == place
        expect(page.locator(".signature")).to_contain_text(f"{datetime.now(UTC).day} ")

        page.evaluate("dispatchEvent(new Event('pageshow'))")
        assert shown(page)[0] is False


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

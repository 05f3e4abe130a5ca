"""Creator pages while the server is slow or unavailable, or after the session ended."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from tests.browser.conftest import ExampleSite, OpenWindow
from tests.browser.creator_steps import edit, saved, stored
from tests.browser.example_data import write
from tests.browser.example_texts import EMAIL, GOODBYE, PASSWORD
from tests.browsing import window
from webapp.answers import trash
from webapp.base.database import utc_now
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


def test_the_site_header_counts_a_draft_that_arrives(site: ExampleSite, page: Page) -> None:
    page.goto("/forms")
    waiting = page.locator("#waiting-count .badge")
    before = int(waiting.inner_text().split()[0])
    new_draft(site)

    page.evaluate(TICK)

    expect(waiting).to_contain_text(str(before + 1))


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


def test_a_discarded_draft_is_reported_beside_the_editor(
    site: ExampleSite, open_window: OpenWindow, draft: Draft
) -> None:
    with open_window(refused=[404]) as page:
        page.goto(f"/drafts/{draft.id}")
        edit(page, "goal", "Too late")
        with site.app.app_context():
            trash.discard_draft(draft.account_id, draft.id, now=utc_now())
        page.keyboard.press("Control+Enter")

        expect(page.get_by_role("alert")).to_contain_text("There is nothing at this address")
        expect(page.get_by_role("textbox", name="Goal")).to_have_value("Too late")


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


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_reached_limit_loses_no_words(
    site: ExampleSite, monkeypatch: pytest.MonkeyPatch, *, scripts: bool
) -> None:
    one = {"write_limits": True}
    monkeypatch.setattr("webapp.pages.creator.request.PAGE_WRITES_RATE", "1/minute")
    path = new_draft(site)
    options = {"storage_state": site.signed_in, "refused": [429], "java_script_enabled": scripts}
    monkeypatch.setitem(
        site.app.config, "SETTINGS", site.app.config["SETTINGS"].model_copy(update=one)
    )
    with window(site.browser, site.address, **options) as page:
        for words in ("First words", "Second words"):
            page.goto(f"{path}/goal/edit" if not scripts else path)
            if scripts:
                page.get_by_role("link", name="Edit goal").click()
            page.get_by_role("textbox", name="Goal").fill(words)
            page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Nothing was changed, and nothing you wrote")).to_be_visible()
        expect(page.get_by_role("textbox").first).to_have_value("Second words")

        monkeypatch.undo()
        page.get_by_role("button", name="Save" if scripts else "Try again").click()

        expect(page.locator("#goal").get_by_text("Second words")).to_be_visible()
        expect(page.locator(".editor")).to_have_count(0)

"""Errors are shown in the viewport, beside the pressed button, in windows of real height."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.respondent_steps import Link, answer_all, asked, give, press
from tests.browser.tab_order import hidden_stops
from tests.browsing import sideways, violations, window
from tests.factories import make_form, make_response
from tests.pages.respondent_client import storage_away

LONG = "One line of a very long story.\n" * 60
PHONE = {"width": 390, "height": 664}  # the least room beside what is written
REFUSED = [409, 410, 413, 422, 503]


@contextmanager
def opened(browser: Browser, link: Link, *, scripts: bool = True) -> Iterator[Page]:
    options = {"refused": REFUSED, "color_scheme": "dark"}
    with window(browser, link.address, **PHONE, **options) as page:
        if not scripts:
            # axe needs scripts, so only ours are kept away
            page.route(
                re.compile(r"/js/(respondent|htmx)\.js$"),
                lambda route: route.fulfill(body="", content_type="text/javascript"),
            )
        page.goto(link.path)
        yield page


@pytest.fixture
def page(browser: Browser, link: Link) -> Iterator[Page]:
    with opened(browser, link) as page:
        yield page


@pytest.fixture
def failing(browser: Browser, link: Link) -> Iterator[Page]:
    """The form in a window whose network fails on purpose; console errors are allowed."""
    options: dict[str, Any] = {"viewport": PHONE, "reduced_motion": "reduce"}
    with browser.new_context(base_url=link.address, **options) as context:
        page = context.new_page()
        page.goto(link.path)
        yield page


def main_button(page: Page) -> Locator:
    return page.locator(".btn--main")


def refuse(page: Page, path: str, status: int, body: str = "", **headers: str) -> None:
    def answer(route: Any) -> None:
        if route.request.method == "POST":
            route.fulfill(status=status, headers=headers, body=body, content_type="text/html")
        else:
            route.continue_()

    page.route(path, answer)


def is_sound(page: Page) -> bool:
    """Whether everything can be read, and reached by Tab, without anything in front of it."""
    assert violations(page) + sideways(page) == []
    assert page.locator("[hidden]:visible").count() == 0
    assert hidden_stops(page) == []
    return True


def test_continue_without_a_network_is_reported_alongside_the_button(
    failing: Page, link: Link
) -> None:
    failing.locator("#answer").fill("A long story")
    failing.context.set_offline(True)
    main_button(failing).click()

    note = failing.locator("[data-retry] .note")
    expect(note).to_contain_text("Not saved yet. Trying again in")
    expect(note.get_by_text("You seem to be offline.")).to_be_visible()
    expect(main_button(failing)).to_have_text("Try again")
    expect(note).to_be_in_viewport(ratio=1)
    expect(main_button(failing)).to_be_in_viewport(ratio=1)
    failing.locator("#answer").fill(LONG)

    failing.context.set_offline(False)
    asked(failing, 2)
    assert link.texts() == [LONG]


@pytest.mark.parametrize(
    ("status", "told"),
    [(503, "Not sent yet. Trying again in"), (500, "It is not certain that this was sent.")],
)
def test_a_failed_send_is_reported_next_to_the_button(
    failing: Page, status: int, told: str
) -> None:
    answer_all(failing, LONG)
    refuse(failing, "**/check", status, **{"Retry-After": "30"})
    main_button(failing).click()

    note = failing.locator("[data-retry] .note")
    expect(note).to_contain_text(told)
    expect(note).to_be_in_viewport(ratio=1)
    expect(main_button(failing)).to_be_in_viewport(ratio=1)
    assert hidden_stops(failing) == []
    failing.unroute("**/check")
    main_button(failing).click()
    expect(failing.get_by_role("heading", level=1)).to_contain_text("Thank you.")


def test_the_countdown_keeps_to_retry_after_and_is_announced_once(failing: Page) -> None:
    failing.clock.install(time=0)
    failing.clock.pause_at(60)
    refuse(failing, "**/q/1", 429, **{"Retry-After": "9"})
    give(failing, "A long story")
    slot = failing.locator("[data-retry]")
    expect(slot).to_contain_text("Trying again in 9 s.")
    assert slot.get_attribute("aria-live") is None
    failing.clock.run_for(3000)

    expect(slot).to_contain_text("Trying again in 6 s.")
    expect(slot).to_have_attribute("aria-live", "off")


def test_a_final_refusal_is_reported_next_to_the_button_and_not_retried(failing: Page) -> None:
    tried: list[str] = []
    failing.on("requestfinished", lambda request: tried.append(request.method))
    refuse(failing, "**/q/1", 403, '<div class="note" role="alert"><p>No, never.</p></div>')
    failing.clock.install()
    give(failing, LONG)
    expect(failing.get_by_text("No, never.")).to_be_in_viewport(ratio=1)
    failing.clock.run_for(60_000)

    expect(failing.locator("#answer")).to_have_value(LONG)
    assert tried.count("POST") == 1


def test_the_reason_of_a_refused_answer_is_in_the_viewport(page: Page) -> None:
    page.locator("#answer").fill(f"{'x' * 100}\n" * 200)
    main_button(page).click()

    expect(page.locator("#answer-error")).to_be_in_viewport(ratio=1)
    expect(page.locator("#answer")).to_be_focused()


def test_an_ended_form_shows_the_unsent_text_of_its_writer(page: Page, link: Link) -> None:
    with link.app.app_context():
        form = make_form(link.form.account_id, questions=["Who?"], responseLimit="one")
    page.goto(f"/r/{form.share_token}")
    page.locator("#answer").fill("Half a sentence")
    with link.app.app_context():
        make_response(form)
    page.reload()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("This form has already been answered.")

    expect(page.get_by_label("Your unsent text")).to_have_value("Half a sentence")
    assert is_sound(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press(page, "Copy")
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "Half a sentence"


@pytest.mark.parametrize(
    ("scripts", "certain"), [(True, True), (False, False)], ids=["scripts", "no scripts"]
)
def test_a_failed_save_keeps_the_text(
    browser: Browser, link: Link, monkeypatch: pytest.MonkeyPatch, *, scripts: bool, certain: bool
) -> None:
    """In its sheet, or on a page of its own."""
    monkeypatch.setattr(
        "webapp.pages.respondent.error_handling.may_have_stored", lambda: not certain
    )
    with opened(browser, link, scripts=scripts) as page:
        with storage_away(link.app):
            give(page, LONG)
            told = page.locator("[data-retry] .note" if scripts else "h1")
            expect(told).to_contain_text("Not saved" if certain else "It is not certain")
            expect(told).to_be_in_viewport(ratio=1)
            kept = page.locator("#answer") if scripts else page.get_by_label("Your words")
            expect(kept).to_have_value(LONG)
            assert is_sound(page)
        press(page, "Try again")

        asked(page, 2)
    assert link.texts() == [LONG]

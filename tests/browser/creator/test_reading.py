"""Responses one by one in a real browser, menus of results, and results on paper."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite, OpenWindow
from tests.factories import make_form, make_response

NAMES = ("Anna", "Bo", "Cem")


@pytest.fixture
def form(site: ExampleSite) -> Any:
    with site.app.app_context():
        form = make_form(site.data.account_id, title="Three responses")
        for name in NAMES:
            make_response(form, name=name)
        return form


def row(page: Page, form: Any) -> str:
    """What the list of forms says of it."""
    page.goto("/forms")
    return page.locator(f".list-row:has([href='/forms/{form.id}'])").inner_text()


def test_arrow_keys_turn_to_unread_responses_first(open_window: OpenWindow, form: Any) -> None:
    with open_window() as page:
        page.goto(f"/forms/{form.id}")
        page.get_by_role("link", name="Read one by one").click()
        for name in reversed(NAMES):
            expect(page.get_by_role("heading", level=1)).to_have_text(name)
            expect(page.get_by_role("button", name="Mark as read")).to_have_count(0)
            page.wait_for_load_state("networkidle")
            page.keyboard.press("ArrowRight")
        expect(page.get_by_role("heading", level=1)).to_have_text("Anna")
        page.keyboard.press("Shift+ArrowLeft")
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_role("heading", level=1)).to_have_text("Bo")
        assert (
            page.locator(".answer__text").evaluate(
                "text => parseFloat(getComputedStyle(text).fontSize)"
            )
            > 20
        )
        assert "new" not in row(page, form)


def test_without_scripts_a_button_marks_and_goes_on(open_window: OpenWindow, form: Any) -> None:
    with open_window(java_script_enabled=False) as page:
        page.goto(f"/forms/{form.id}/unread")
        page.get_by_role("button", name="Mark as read").click()

        expect(page.get_by_role("heading", level=1)).to_have_text("Bo")
        assert "2 new" in row(page, form)


def test_menus_close_by_escape_and_when_the_focus_leaves(
    open_window: OpenWindow, form: Any
) -> None:
    with open_window() as page:
        page.goto(f"/forms/{form.id}")
        export, filters = page.get_by_text("Export"), page.get_by_text("Filters", exact=True)
        export.press("Enter")
        expect(page.get_by_role("link", name="JSON")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="JSON")).to_be_hidden()
        expect(page.locator("summary", has_text="Export")).to_be_focused()

        filters.click()
        expect(page.get_by_label("Completed only")).to_be_visible()
        page.get_by_role("button", name="Apply").focus()
        page.keyboard.press("Tab")
        expect(page.get_by_label("Completed only")).to_be_hidden()


@pytest.mark.parametrize("view", ["", "/people", "/unread"])
def test_paper_shows_answers_and_nothing_to_press(
    open_window: OpenWindow, form: Any, view: str
) -> None:
    with open_window() as page:
        page.goto(f"/forms/{form.id}{view}")
        page.emulate_media(media="print")

        shown = page.locator(":is(nav, button, input, summary, footer, .btn):visible")
        assert shown.evaluate_all("parts => parts.map((part) => part.outerHTML)") == []
        expect(page.locator(".answer__text").first).to_be_visible()

"""The settings of a draft, saved as they are changed."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.creator_steps import saved
from tests.browser.tab_order import WINDOWS
from webapp.records.drafts import Draft


def test_an_invalid_number_is_marked_until_it_is_corrected(
    open_window: OpenWindow, draft: Draft
) -> None:
    with open_window(refused=[422]) as page:
        page.goto(f"/drafts/{draft.id}")
        page.locator("#settings summary").click()
        field = page.get_by_label("Maximum questions per person")
        field.fill("abc")
        page.keyboard.press("Tab")

        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_have_accessible_description(
            "Enter a whole number, or leave it empty. Leave empty for no limit."
        )
        expect(field).to_have_value("abc")
        expect(page.locator("#save-result")).to_have_text("Not saved.")
        field.fill("9")
        page.keyboard.press("Tab")

        saved(page, 2)
        expect(field).not_to_have_attribute("aria-invalid", "true")
        expect(page.locator("#maxTotalQuestions-message")).to_be_empty()


@pytest.mark.parametrize("size", WINDOWS, ids="{0[0]}×{0[1]}".format)
def test_without_scripts_an_invalid_number_is_reported_in_the_viewport(
    open_window: OpenWindow, draft: Draft, size: tuple[int, int]
) -> None:
    options = {"java_script_enabled": False, "width": size[0], "height": size[1]}
    with open_window(refused=[422], **options) as page:
        page.goto(f"/drafts/{draft.id}")
        page.locator("#settings summary").click()
        field = page.get_by_label("Maximum questions per person")
        field.fill("abc")
        page.get_by_role("button", name="Save settings").click()

        expect(field).to_be_focused()
        message = page.get_by_text("Enter a whole number, or leave it empty.")
        expect(message).to_be_in_viewport(ratio=1)


def test_text_typed_during_a_save_is_kept(open_window: OpenWindow, draft: Draft) -> None:
    """The answer to one field comes while somebody writes in the next."""
    with open_window(refused=[422]) as page:
        page.goto(f"/drafts/{draft.id}")
        page.locator("#settings summary").click()
        with page.expect_response("**/settings"):
            page.get_by_label("Maximum follow-ups per question").fill("many")
            page.keyboard.press("Tab")
            page.keyboard.type("12")
        expect(page.locator("[aria-invalid=true]")).to_have_count(1)

        expect(page.get_by_label("Maximum questions per person")).to_have_value("12")
        expect(page.get_by_label("Maximum questions per person")).to_be_focused()

"""Follow-ups below their question: written in place, folded where there are many."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ExampleSite, OpenWindow
from tests.browser.creator_steps import saved, stored
from tests.browsing import look, sideways, violations
from tests.factories import make_draft, prepare
from webapp.records.drafts import Draft

PHONE = {"width": 390, "height": 664, "has_touch": True, "is_mobile": True}
ARABIC = ("ماذا حدث بعد ذلك؟", "if_short")


def kept(site: ExampleSite, draft: Draft) -> list[tuple[str, str, str]]:
    rows = stored(site, draft).questions[0].get("follow_ups", [])
    return [(row["text"], row["condition"], row["prepared_by"]) for row in rows]


def test_keys_alone_write_put_in_order_and_remove_follow_ups(
    site: ExampleSite, open_window: OpenWindow, draft: Draft
) -> None:
    with open_window(width=1280, height=800) as page:
        page.goto(f"/drafts/{draft.id}")
        page.get_by_role("link", name="Write one").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("textbox", name="Follow-up 1")).to_be_focused()
        page.keyboard.type("Which shift?")
        page.keyboard.press("Tab")
        expect(page.get_by_label("When follow-up 1 is asked")).to_be_focused()
        page.keyboard.type("if the answer is s")
        page.get_by_role("button", name="Add a follow-up").press("Enter")
        expect(page.get_by_role("textbox", name="Follow-up 2")).to_be_focused()
        page.keyboard.type("And then?")
        page.keyboard.press("Enter")
        saved(page, 2)
        expect(page.locator("#follow-ups-note")).to_be_hidden()
        expect(page.get_by_role("link", name="Edit question 1")).to_be_focused()
        assert kept(site, draft) == [
            ("Which shift?", "if_short", "creator"),
            ("And then?", "always", "creator"),
        ]

        page.get_by_text("And then?").click()
        expect(page.get_by_role("textbox", name="Follow-up 2")).to_be_focused()
        page.keyboard.type(" And?")
        page.get_by_role("button", name="Move follow-up 2 up").press("Enter")
        expect(page.get_by_role("textbox", name="Follow-up 1")).to_have_value("And then? And?")
        expect(page.get_by_role("textbox", name="Follow-up 1")).to_be_focused()
        page.keyboard.press("Escape")  # what was put in order is not saved yet
        page.get_by_role("button", name="Keep writing").press("Enter")
        page.get_by_role("button", name="Remove follow-up 2").press("Enter")
        expect(page.get_by_role("textbox", name="Follow-up 2")).to_be_hidden()
        page.keyboard.press("Control+Enter")
        saved(page, 3)
        assert kept(site, draft) == [("And then? And?", "always", "creator")]

        page.get_by_role("button", name=re.compile("^Undo")).click()
        saved(page, 4)
        expect(page.locator(".q").first).to_contain_text("Which shift? if the answer is short")


def test_without_scripts_they_are_written_on_a_page_of_their_own(
    site: ExampleSite, open_window: OpenWindow, draft: Draft
) -> None:
    with open_window(width=390, height=664, java_script_enabled=False) as page:
        page.goto(f"/drafts/{draft.id}")
        page.get_by_role("link", name="Write one").click()
        page.get_by_label("Follow-up 1", exact=True).fill("Which shift?")
        page.get_by_label("Follow-up 3", exact=True).fill("And then?")
        page.get_by_label("When follow-up 3 is asked").select_option("if_no")
        page.get_by_label("Follow-up 3", exact=True).press("Enter")
        assert kept(site, draft) == [
            ("Which shift?", "always", "creator"),
            ("And then?", "if_no", "creator"),
        ]
        page.get_by_role("link", name="Edit question 1").click()
        page.get_by_role("button", name="Move follow-up 2 up").click()
        assert sideways(page) == []
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_role("link", name="Edit question 1").click()
        page.get_by_role("button", name="Remove follow-up 1").click()
        page.get_by_role("button", name="Save", exact=True).click()
    assert kept(site, draft) == [("Which shift?", "always", "creator")]


def many(site: ExampleSite, *, prepared: bool) -> Draft:
    """Twenty questions, each with three follow-ups."""
    with site.app.app_context():
        texts = [f"What went wrong the {number}th time?" for number in range(20)]
        draft = make_draft(site.data.account_id, questions=texts, followUpMode="deep_dive")
        three = [
            [(f"{place}{number} and then?", "if_short") for place in "abc"] for number in range(20)
        ]
        return prepare(draft, *three) if prepared else draft


@pytest.mark.parametrize("path", ["", "/questions/1/edit", "/history", "/confirm"])
def test_they_read_from_right_to_left_where_their_script_does(
    site: ExampleSite, open_window: OpenWindow, draft: Draft, path: str
) -> None:
    with site.app.app_context():
        prepare(draft, [ARABIC])
    with open_window(**PHONE) as page:
        page.goto(f"/drafts/{draft.id}{path}")
        field = page.get_by_label("Follow-up 1", exact=True)
        shown = field if path.endswith("edit") else page.get_by_text(ARABIC[0])
        assert shown.evaluate("(part) => part.matches(':dir(rtl)')")
        for scheme in ("light", "dark"):
            look(page, width=390, scheme=scheme, direction="ltr")
            assert violations(page) + sideways(page) == []

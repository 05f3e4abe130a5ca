"""Writing a draft in a real browser: keyboard, focus, swaps, all of it without scripts."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite
from tests.browser.creator_steps import by_agent, edit, modes, saved, stored
from tests.browser.example_texts import ROTA
from tests.browser.respondent_steps import page_with
from tests.services import wait_until
from webapp.records.drafts import Draft

ASKED = [question["text"] for question in ROTA["questions"]]


def texts(site: ExampleSite, draft: Draft) -> list[str]:
    return [question["text"] for question in stored(site, draft).questions]


def test_control_enter_saves_a_text_and_escape_cancels(
    site: ExampleSite, page: Page, draft: Draft
) -> None:
    page.get_by_role("link", name="Edit question 2").click()
    page.get_by_role("textbox", name="Question", exact=True).fill("First line\nSecond line")
    page.keyboard.press("Control+Enter")
    saved(page, 2)
    expect(page.get_by_role("link", name="Edit question 2")).to_be_focused()
    edit(page, "goal", "Never saved")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Discard changes").click()

    expect(page.get_by_role("link", name="Edit goal")).to_be_focused()
    assert stored(site, draft).questions[1]["text"] == "First line\nSecond line"
    assert stored(site, draft).goal == ROTA["goal"]


def test_questions_are_added_moved_and_removed_in_place(
    site: ExampleSite, page: Page, draft: Draft
) -> None:
    page.get_by_role("link", name="Add a question").click()
    page.get_by_role("textbox", name="Question", exact=True).fill("What else?")
    page.get_by_role("button", name="Save", exact=True).click()
    saved(page, 2)
    page.get_by_role("button", name="Move question 4 up").click()
    saved(page, 3)
    expect(page.locator("#save-result")).to_contain_text("Moved to 3 of 4.")
    page.keyboard.press("Enter")  # it has the focus again
    saved(page, 4)
    page.get_by_role("button", name="Move question 1 down").click()
    saved(page, 5)
    page.get_by_role("link", name="Remove question 2").click()
    expect(page.get_by_role("link", name="Keep")).to_be_focused()
    page.get_by_role("button", name="Remove", exact=True).click()
    saved(page, 6)

    expect(page.locator("#save-result")).to_contain_text("Question 2 removed.")
    expect(page.get_by_text("Question 1 of 3")).to_be_visible()
    assert texts(site, draft) == ["What else?", *ASKED[1:]]


def test_arrow_keys_through_the_settings_lose_nothing(
    site: ExampleSite, page: Page, draft: Draft
) -> None:
    page.locator("#settings summary").click()
    page.get_by_role("radio", name="Smart").focus()
    for key in ("ArrowDown", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    expect(page.get_by_text("Each person gets 3 questions.")).to_be_visible()
    page.get_by_role("radio", name="One For one").check()
    wait_until(lambda: modes(site, draft) == ("none", "one"), "saving both", seconds=10)

    expect(page.get_by_role("radio", name="None People")).to_be_checked()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert modes(site, draft) == ("none", "one")


def test_an_editor_opened_before_another_change_gets_a_conflict(
    site: ExampleSite, page: Page, draft: Draft
) -> None:
    edit(page, "goal", "Mine")
    edit(page, "title", "My title")
    by_agent(site, draft, goal="From the agent")
    page.locator("#title").get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Keep mine").click()
    saved(page, 3)
    page.locator("#goal").get_by_role("button", name="Save").click()

    expect(page.get_by_role("alert")).to_contain_text("From the agent")
    expect(page.get_by_role("textbox", name="Goal")).to_have_value("Mine")
    page.get_by_role("link", name="Take theirs").click()
    expect(page.locator("#goal")).to_contain_text("From the agent")
    kept = stored(site, draft)
    assert (kept.title, kept.goal) == ("My title", "From the agent")


@page_with({"java_script_enabled": False})
def test_everything_works_without_scripts(site: ExampleSite, page: Page, draft: Draft) -> None:
    edit(page, "title", "Without scripts")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Add below question 1").click()
    page.get_by_role("textbox", name="Question", exact=True).fill("In between?")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Move question 1 down").click()
    page.locator("#settings summary").click()
    page.get_by_role("radio", name="None People").check()
    page.get_by_role("button", name="Save settings").click()
    page.get_by_role("link", name="Remove question 4").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("button", name="Publish now").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("It’s live. Share it with someone.")
    kept = stored(site, draft)
    assert texts(site, draft) == ["In between?", *ASKED[:2]]
    assert (kept.title, kept.follow_up_mode, kept.status) == (
        "Without scripts",
        "none",
        "published",
    )


def test_changes_of_an_agent_leave_an_open_editor_alone(
    site: ExampleSite, page: Page, draft: Draft
) -> None:
    edit(page, "goal", "Under my fingers")
    by_agent(site, draft, goal="From the agent", title="Another title")
    page.evaluate("htmx.trigger(document.body, 'app:poll')")
    expect(page.locator("#new-revision")).to_contain_text("changed this draft just now")
    expect(page.get_by_role("textbox", name="Goal")).to_be_focused()
    page.get_by_role("link", name="Show the changes").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Another title")
    expect(page.get_by_role("heading", name="2 changes since you looked")).to_be_focused()
    expect(page.get_by_role("textbox", name="Goal")).to_have_value("Under my fingers")
    expect(page.locator("#new-revision")).to_be_empty()
    page.locator("#goal").get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("From the agent")


def test_dragging_and_keys_move_a_question(site: ExampleSite, page: Page, draft: Draft) -> None:
    page.get_by_role("link", name="Edit question 3").focus()
    page.keyboard.press("Alt+ArrowUp")
    saved(page, 2)
    expect(page.get_by_role("link", name="Edit question 2")).to_be_focused()
    assert texts(site, draft) == [ASKED[0], ASKED[2], ASKED[1]]
    page.get_by_role("button", name="Undo").click()
    saved(page, 3)
    second = page.locator("#question-list > li").nth(1)
    second.evaluate("(row) => row.scrollIntoView({ block: 'center' })")
    page.locator("[data-grip]").nth(2).hover()  # which may scroll
    target = second.bounding_box()
    page.mouse.down()
    page.mouse.move(target["x"] + 20, target["y"] + 8, steps=6)
    page.mouse.up()
    saved(page, 4)

    assert texts(site, draft) == [ASKED[0], ASKED[2], ASKED[1]]


def test_text_typed_during_a_save_is_kept(page: Page) -> None:
    """The answer to one field comes while somebody writes in the next."""
    page.locator("#settings summary").click()
    with page.expect_response("**/settings"):
        page.get_by_label("Maximum follow-ups per question").fill("many")
        page.keyboard.press("Tab")
        page.keyboard.type("12")
    expect(page.locator("[aria-invalid=true]")).to_have_count(1)

    expect(page.get_by_label("Maximum questions per person")).to_have_value("12")
    expect(page.get_by_label("Maximum questions per person")).to_be_focused()


def kept(site: ExampleSite, draft: Draft) -> list[tuple[str, str, str]]:
    rows = stored(site, draft).questions[0].get("follow_ups", [])
    return [(row["text"], row["condition"], row["prepared_by"]) for row in rows]


def test_keys_alone_write_put_in_order_and_remove_follow_ups(
    site: ExampleSite, page: Page, draft: Draft
) -> None:
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

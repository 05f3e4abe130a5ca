"""Words of a draft are written where they stand."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import ExampleSite, OpenWindow
from tests.browser.creator_steps import by_agent, saved, stored
from tests.browser.example_texts import ROTA, STOPPED, WRONG
from webapp.records.drafts import Draft

SECOND = ".q:nth-child(2)"
WORDS = {
    "#title": "h1[data-opens]",
    "#goal": "#goal [data-opens]",
    SECOND: f"{SECOND} .q__text",
    f"{SECOND} [name=hint]": f"{SECOND} .q__hint",
}
# the words and the headings of the page, wherever it is scrolled to; an editor stands for its words
PLACES = """() => [...document.querySelectorAll(
  "[data-opens], .words:not([hidden] *), h2:not(.preview__label), .private-context, fieldset")]
  .map((part) => part.getBoundingClientRect())
  .map(({ left, top }) => [Math.round(left), Math.round((top + scrollY) * 10) / 10])"""
# where the letter with this number begins, with its words in the middle of the window
LETTER = """(words, number) => {
  words.scrollIntoView({ block: "center" });
  const range = document.createRange();
  range.setStart(words.firstChild, number);
  range.setEnd(words.firstChild, number + 1);
  const { left, top, height } = range.getBoundingClientRect();
  return [left + 1, top + height / 2];
}"""
LOOKS = """(part) => ["fontFamily", "fontSize", "lineHeight", "letterSpacing", "color"]
  .map((name) => getComputedStyle(part)[name])"""
CARET = "() => [document.activeElement.selectionStart, document.activeElement.selectionEnd]"


def click_letter(page: Page, words: Locator, number: int) -> Locator:
    """Click the words at one letter: the field with the focus."""
    page.mouse.click(*words.evaluate(LETTER, number))
    field = page.locator("textarea:focus")
    expect(field).to_have_count(1)
    return field


# the narrowest window has a second row of tools below a question
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (320, 568)])
def test_a_click_puts_the_caret_there_and_moves_nothing(
    open_window: OpenWindow, draft: Draft, width: int, height: int
) -> None:
    touched = {"has_touch": True, "is_mobile": True} if width < 1000 else {}
    with open_window(width=width, height=height, **touched) as page:
        page.goto(f"/drafts/{draft.id}")
        for number, (part, words) in enumerate(WORDS.items(), start=5):
            read = page.locator(words)
            said, looks, before = read.inner_text(), read.evaluate(LOOKS), page.evaluate(PLACES)

            field = click_letter(page, read, number)

            assert (field.input_value(), page.evaluate(CARET)) == (said, [number, number]), part
            assert field.evaluate(LOOKS) == looks
            assert page.evaluate(PLACES) == before, part
            page.keyboard.press("Escape")  # nothing was written
            expect(page.locator("form.editor")).to_have_count(0)
            assert page.evaluate(PLACES) == before, part


def test_the_preview_turns_to_the_question_and_follows_each_key(
    site: ExampleSite, page: Page, draft: Draft
) -> None:
    shown, label = page.locator("#preview .question"), page.locator("#preview-label")
    click_letter(page, page.locator(f"{SECOND} .q__text"), 4)
    expect(label).to_contain_text("Question 2")
    page.keyboard.type("ap")
    expect(shown).to_have_text(f"{WRONG[:4]}ap{WRONG[4:]}")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Leave without saving?")).to_be_visible()
    page.get_by_role("button", name="Discard changes").click()
    expect(shown).to_have_text(WRONG)
    expect(page.get_by_role("link", name="Edit question 2")).to_be_focused()

    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Hint").press_sequentially(" Or not.")
    page.keyboard.press("Enter")  # a hint has one line
    saved(page, 2)
    page.get_by_role("link", name="Add a question").click()
    page.keyboard.type("What")  # before the editor has come
    expect(label).to_contain_text("Question 4")
    expect(shown).to_have_text("What")
    page.get_by_role("link", name="Cancel").click()
    expect(shown).to_have_text(STOPPED)
    assert stored(site, draft).questions[1]["context"].endswith("like. Or not.")


def test_what_was_published_elsewhere_can_no_longer_be_pressed(
    site: ExampleSite, open_window: OpenWindow, draft: Draft
) -> None:
    poll = "htmx.trigger(document.body, 'app:poll')"
    with open_window() as page, open_window() as deciding:
        page.goto(f"/drafts/{draft.id}")
        deciding.goto(f"/drafts/{draft.id}/confirm")
        by_agent(site, draft, goal="From the agent")
        deciding.evaluate(poll)
        expect(deciding.locator("#new-revision")).to_contain_text("cannot be published from here")
        deciding.get_by_role("link", name="Show what it is now").click()
        expect(deciding.locator("#new-revision")).to_be_empty()
        page.get_by_role("link", name="Edit title").click()
        page.get_by_role("textbox", name="Title").fill("Half a title")
        deciding.get_by_role("button", name="Publish now").click()
        deciding.wait_for_url("**/share")
        page.evaluate(poll)

        expect(page.get_by_text("has been published just now")).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("textbox", name="Title")).to_have_value("Half a title")
        for name in ("Publish now", "Edit goal", "Edit question 2", "Discard"):
            link = page.get_by_role("link", name=name).or_(page.get_by_role("button", name=name))
            assert link.evaluate("(link) => link.closest('[inert]') !== null"), name
        page.locator("#goal [data-opens]").click()
        page.wait_for_timeout(100)
        expect(page.get_by_role("textbox", name="Goal")).to_have_count(0)
        page.on("dialog", lambda dialog: dialog.accept())
    assert ROTA["goal"] != stored(site, draft).goal

"""Pages and states that respondents see.

No page changes what another page shows: answers are given in sessions of its own.
"""

from playwright.sync_api import Page

from tests.browser.example_data import ExampleData
from tests.browser.example_pages import ExamplePage, at, press
from tests.browser.example_texts import ANSWERS


def give(page: Page, text: str) -> None:
    """Answer the question on the page and wait for what comes next."""
    before = page.title()
    page.locator("#answer").fill(text)
    press(page, "Continue")
    page.wait_for_function("before => document.title !== before", arg=before)


def second_question(page: Page, data: ExampleData) -> None:
    page.goto(data.asks)
    give(page, ANSWERS[0][1])


def typed(page: Page, data: ExampleData) -> None:
    second_question(page, data)
    page.locator("#answer").fill(ANSWERS[0][2])


def empty_answer(page: Page, data: ExampleData) -> None:
    page.goto(data.asks)
    press(page, "Continue")
    page.locator("#answer-error").wait_for()


def all_answers(page: Page, data: ExampleData) -> None:
    typed(page, data)
    press(page, "Continue")
    page.get_by_text("Question 3 of 3").wait_for()
    press(page, "Skip this question")
    page.get_by_label("Your name").wait_for()


def dark_chosen(page: Page, data: ExampleData) -> None:
    """A chosen theme, with the menu open."""
    page.goto(data.asks)
    page.locator("summary", has_text="Appearance").click()
    press(page, "Dark")
    page.locator("html[data-theme=dark]").wait_for()
    page.locator("summary", has_text="Appearance").click()


def nothing_answered(page: Page, data: ExampleData) -> None:
    page.goto(data.asks)
    for number in (1, 2, 3):
        page.get_by_text(f"Question {number} of 3").wait_for()
        press(page, "Skip this question")
    page.get_by_role("button", name="Send to Ann").click()
    page.locator(".note--alarm").wait_for()


def sent(page: Page, data: ExampleData) -> None:
    all_answers(page, data)
    page.get_by_label("Your name").fill("Sam Okafor")
    page.get_by_role("button", name="Send to Ann").click()
    page.get_by_text("You’re done").wait_for()
    page.locator("h1:focus").wait_for()  # the page has scrolled to it then


def sent_answers(page: Page, data: ExampleData) -> None:
    sent(page, data)
    press(page, "See what I sent")
    page.get_by_text("This is what you sent.").wait_for()


def deleting(page: Page, data: ExampleData) -> None:
    sent(page, data)
    press(page, "Delete my answers")
    page.get_by_text("Delete all your answers?").wait_for()


def device_link(page: Page, data: ExampleData) -> None:
    typed(page, data)
    press(page, "Finish on another device")
    page.locator("#link").wait_for()


def device_arrival(page: Page, data: ExampleData) -> None:
    """The page behind the link; who opens it has no session of their own yet."""
    device_link(page, data)
    page.goto(page.locator("#link").input_value())


def text_restored(page: Page, data: ExampleData) -> None:
    typed(page, data)
    page.reload()
    page.get_by_text("We restored what you hadn’t sent.").wait_for()


def not_saved(page: Page, data: ExampleData) -> None:
    typed(page, data)
    page.route("**/q/2", lambda route: route.fulfill(status=429, headers={"Retry-After": "99"}))
    press(page, "Continue")
    page.locator(".note--alarm").wait_for()


def newer_answer(page: Page, data: ExampleData) -> None:
    """Another tab has answered meanwhile."""
    second_question(page, data)
    other = page.context.new_page()
    other.goto(page.url)
    give(other, ANSWERS[0][2])
    other.close()
    page.locator("#answer").fill("Two Saturdays ago, I think. The print by the fridge was old.")
    press(page, "Continue")
    page.locator(".newer-answer").wait_for()


def deleted(page: Page, data: ExampleData) -> None:
    deleting(page, data)
    press(page, "Yes, delete my answers")
    page.get_by_text("Delete all your answers?").wait_for(state="detached")


def in_arabic(page: Page, data: ExampleData) -> None:
    """The first question, with all languages to choose from."""
    page.goto(f"{data.asks}?lang=ar")
    page.locator(".languages summary").first.click()
    page.get_by_role("button", name="Deutsch").wait_for()


def in_german(page: Page, data: ExampleData) -> None:
    """The page with the most words, in the language with the longest."""
    page.goto(f"{data.asks}?lang=de")
    for number in (1, 2, 3):
        page.get_by_text(f"Frage {number} von 3").wait_for()
        press(page, "Diese Frage überspringen")
    page.get_by_label("Ihr Name").wait_for()


RESPONDENT = [
    ExamplePage("question", at("{data.asks}")),
    ExamplePage("question-typed", typed),
    ExamplePage("question-second", second_question),
    ExamplePage("question-empty", empty_answer, refused=422),
    ExamplePage("question-brought-back", text_restored),
    ExamplePage("question-not-saved", not_saved, refused=429),
    ExamplePage("question-newer", newer_answer, refused=422),
    ExamplePage("elsewhere", device_link),
    ExamplePage("arrival", device_arrival),
    ExamplePage("link-used-up", at("{data.asks}/continue/nothing-is-here"), refused=410),
    ExamplePage("question-dark-chosen", dark_chosen),
    ExamplePage("check", all_answers),
    ExamplePage("check-empty", nothing_answered, refused=422),
    ExamplePage("thanks", sent),
    ExamplePage("sent", sent_answers),
    ExamplePage("withdrawal", deleting),
    ExamplePage("withdrawn", deleted),
    ExamplePage("question-ar", in_arabic),
    ExamplePage("check-de", in_german),
    ExamplePage("closed", at("{data.closed}"), refused=410),
    ExamplePage("already-answered", at("{data.answered}"), refused=410),
    ExamplePage("no-form", at("/r/nothing-is-here-nothing-is-here"), refused=404),
]

"""Pages and states that respondents see.

No page changes what another page shows: answers are given in sessions of its own.
"""

from playwright.sync_api import Page

from tests.browser.example_data import ExampleData
from tests.browser.example_pages import (
    ExamplePage,
    Steps,
    at,
    clicked,
    each,
    filled,
    press,
    pressed,
    seen,
)
from tests.browser.example_texts import ANSWERS

ASKS = at("{data.asks}")


def give(page: Page, text: str) -> None:
    """Answer the question on the page and wait for what comes next."""
    before = page.title()
    page.locator("#answer").fill(text)
    press(page, "Continue")
    page.wait_for_function("before => document.title !== before", arg=before)


def given(text: str) -> Steps:
    return lambda page, _data: give(page, text)


def skipped(counts: str, skip: str) -> Steps:
    """Each of the three questions."""
    ways = ((seen(f"text={counts.format(number)}"), pressed(skip)) for number in (1, 2, 3))
    return each(*(step for way in ways for step in way))


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


def device_arrival(page: Page, data: ExampleData) -> None:
    """The page behind the link; who opens it has no session of their own yet."""
    device_link(page, data)
    page.goto(page.locator("#link").input_value())


def deleted(page: Page, data: ExampleData) -> None:
    deleting(page, data)
    press(page, "Yes, delete my answers")
    page.get_by_text("Delete all your answers?").wait_for(state="detached")


second_question = each(ASKS, given(ANSWERS[0][1]))
typed = each(second_question, lambda page, _data: page.locator("#answer").fill(ANSWERS[0][2]))
empty_answer = each(ASKS, pressed("Continue"), seen("#answer-error"))
all_answers = each(
    *(typed, pressed("Continue"), seen("text=Question 3 of 3"), pressed("Skip this question")),
    seen("#name"),
)
dark_chosen = each(  # a chosen theme, with the menu open
    *(ASKS, clicked("summary:has-text('Appearance')"), pressed("Dark")),
    *(seen("html[data-theme=dark]"), clicked("summary:has-text('Appearance')")),
)
sent = each(
    *(all_answers, filled("Your name", "Sam Okafor"), pressed("Send to Ann", exact=False)),
    *(seen("text=You’re done"), seen("h1:focus")),  # the page has scrolled to it then
)
sent_answers = each(sent, pressed("See what I sent"), seen("text=This is what you sent."))
deleting = each(sent, pressed("Delete my answers"), seen("text=Delete all your answers?"))
device_link = each(typed, pressed("Finish on another device"), seen("#link"))
in_arabic = each(  # with all languages to choose from
    at("{data.asks}?lang=ar"),
    *(clicked(".languages summary"), seen("button:text('Deutsch')")),
)
in_german = each(  # the page with the most words, in the language with the longest
    at("{data.asks}?lang=de"),
    *(skipped("Frage {} von 3", "Diese Frage überspringen"), seen("#name")),
)
RESPONDENT = [
    ExamplePage("question", at("{data.asks}")),
    ExamplePage("question-typed", typed),
    ExamplePage("question-empty", empty_answer, refused=422),
    ExamplePage("question-not-saved", not_saved, refused=429),
    ExamplePage("question-newer", newer_answer, refused=422),
    ExamplePage("elsewhere", device_link),
    ExamplePage("arrival", device_arrival),
    ExamplePage("link-used-up", at("{data.asks}/continue/nothing-is-here"), refused=410),
    ExamplePage("question-dark-chosen", dark_chosen),
    ExamplePage("check", all_answers),
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

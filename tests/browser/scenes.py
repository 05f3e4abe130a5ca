"""Every page and state that people see, and how a browser gets there in the example installation.

A scene changes nothing that another scene shows: answers are given in sessions of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from playwright.sync_api import Page

from tests.browser.cafe import ANSWERS, Cafe

Steps = Callable[[Page, Cafe], Any]


@dataclass(frozen=True)
class Scene:
    """`refused` is the status of a page that says no on purpose."""

    name: str
    show: Steps
    signed_in: bool = False
    refused: int = 0

    def __str__(self) -> str:
        return self.name


def at(path: str) -> Steps:
    """A page of a fixed address, or of one named by an attribute of the café in braces."""
    return lambda page, cafe: page.goto(path.format(cafe=cafe))


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


# --- respondents ---


def give(page: Page, text: str) -> None:
    """Answer the question on the page and wait for what comes next."""
    before = page.title()
    page.locator("#answer").fill(text)
    press(page, "Continue")
    page.wait_for_function("before => document.title !== before", arg=before)


def second_question(page: Page, cafe: Cafe) -> None:
    page.goto(cafe.asks)
    give(page, ANSWERS[0][1])


def typed(page: Page, cafe: Cafe) -> None:
    second_question(page, cafe)
    page.locator("#answer").fill(ANSWERS[0][2])


def empty_answer(page: Page, cafe: Cafe) -> None:
    page.goto(cafe.asks)
    press(page, "Continue")
    page.locator("#answer-error").wait_for()


def all_answers(page: Page, cafe: Cafe) -> None:
    typed(page, cafe)
    press(page, "Continue")
    page.get_by_text("Question 3 of 3").wait_for()
    press(page, "Skip this question")
    page.get_by_label("Your name").wait_for()


def nothing_answered(page: Page, cafe: Cafe) -> None:
    page.goto(cafe.asks)
    for number in (1, 2, 3):
        page.get_by_text(f"Question {number} of 3").wait_for()
        press(page, "Skip this question")
    page.get_by_role("button", name="Send to Ann").click()
    page.locator(".note--alarm").wait_for()


def sent(page: Page, cafe: Cafe) -> None:
    all_answers(page, cafe)
    page.get_by_label("Your name").fill("Sam Okafor")
    page.get_by_role("button", name="Send to Ann").click()
    page.get_by_text("Nothing more is asked of you").wait_for()


def read_again(page: Page, cafe: Cafe) -> None:
    sent(page, cafe)
    press(page, "See what I sent")
    page.get_by_text("This is what you sent.").wait_for()


def deleting(page: Page, cafe: Cafe) -> None:
    sent(page, cafe)
    press(page, "Delete my answers")
    page.get_by_text("Delete all your answers?").wait_for()


def deleted(page: Page, cafe: Cafe) -> None:
    deleting(page, cafe)
    page.locator(".btn--alarm").click()
    page.get_by_text("Delete all your answers?").wait_for(state="detached")


RESPONDENT = [
    Scene("question", at("{cafe.asks}")),
    Scene("question-typed", typed),
    Scene("question-second", second_question),
    Scene("question-empty", empty_answer, refused=422),
    Scene("check", all_answers),
    Scene("check-empty", nothing_answered, refused=422),
    Scene("thanks", sent),
    Scene("sent", read_again),
    Scene("withdrawal", deleting),
    Scene("withdrawn", deleted),
    Scene("closed", at("{cafe.closed}"), refused=410),
    Scene("already-answered", at("{cafe.answered}"), refused=410),
    Scene("no-form", at("/r/nothing-is-here-nothing-is-here"), refused=404),
]

ALL = RESPONDENT
CREATOR = partial(Scene, signed_in=True)

"""Follow-up questions that were prepared: each is a step like a question of the form."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Page, expect
from sqlalchemy import func, select

from tests.browser.respondent_steps import WITH_AND_WITHOUT_SCRIPTS, Link, finish, give, press
from tests.browsing import look, sideways, violations
from tests.conftest import delete_rows
from tests.factories import make_account, make_form
from webapp.base.database import db
from webapp.records.follow_ups import FollowUp

QUESTIONS = ["What made you switch?", "What went wrong?", "What nearly stopped you?"]
SHORT = "It was slow"
LONG = (
    "We switched because last March the export failed twice and my manager had to redo the "
    "quarterly report by hand over a weekend"
)
ASKS: dict[str, Any] = {
    "followUpMode": "smart",
    "context": "Two cafés think of leaving.",
    "prepared": {at: [(f"Who noticed that first ({at})?", "if_short")] for at in range(3)},
}


def published(served: Flask, questions: list[str] = QUESTIONS, **asks: Any) -> Link:
    with served.app_context():
        form = make_form(make_account().id, questions=questions, **ASKS | asks)
    return Link(served, served.config["SETTINGS"].public_url, f"/r/{form.share_token}", form)


@pytest.fixture
def link(served: Flask) -> Iterator[Link]:
    yield published(served)
    delete_rows(served)


def asked(page: Page, number: int) -> None:
    """Wait until the question with this number is on the page."""
    expect(page).to_have_title(re.compile(f"^Question {number} of 3"))
    expect(page.get_by_role("heading", level=1)).to_have_text(QUESTIONS[number - 1])


def back(page: Page) -> None:
    page.get_by_role("button", name="Back", exact=True).click()


def decided(link: Link) -> int:
    with link.app.app_context():
        return db.session.scalar(select(func.count()).select_from(FollowUp)) or 0


def followed(page: Page, number: int = 1) -> str:
    """Wait for a follow-up to the question with this number; its words."""
    expect(page).to_have_title(re.compile(f"^Follow-up to question {number}"))
    return page.get_by_role("heading", level=1).inner_text()


@WITH_AND_WITHOUT_SCRIPTS
def test_a_form_is_answered_with_its_follow_ups(page: Page, link: Link) -> None:
    expect(page.locator(".count")).to_contain_text("Question 1 of 3, at most 6")
    give(page, SHORT)
    words = followed(page)
    expect(page.locator(".question__before")).to_contain_text(f"“{SHORT}”")
    give(page, LONG)
    asked(page, 2)
    give(page, "Because of the price")
    followed(page, 2)
    press(page, "Next question")
    asked(page, 3)
    give(page, LONG)
    expect(page.get_by_text("4 answered, 1 skipped")).to_be_visible()
    expect(page.get_by_role("list").get_by_text(words)).to_be_visible()
    press(page, "Change follow-up to question 1")
    followed(page)
    expect(page.locator("#answer")).to_have_value(LONG)
    give(page, f"{LONG}.")
    finish(page)
    press(page, "See what I sent")
    expect(page.get_by_text(words)).to_be_visible()

    assert link.texts() == [SHORT, "Because of the price", LONG, f"{LONG}."]


def test_a_follow_up_has_an_address_a_title_and_the_focus(page: Page, link: Link) -> None:
    give(page, SHORT)
    words = followed(page)

    expect(page).to_have_url(f"{link.address}{link.path}/q/1/f/1")
    expect(page.locator("#answer")).to_be_focused()
    expect(page.locator("#answer")).to_have_accessible_name(words)
    expect(page.locator("#answer")).to_have_accessible_description(re.compile("A follow-up"))
    assert page.evaluate("scrollY") == 0
    for width, scheme in ((320, "dark"), (1280, "light")):
        look(page, width=width, scheme=scheme)
        assert violations(page) + sideways(page) == []


def test_the_browsers_back_goes_over_follow_ups(page: Page, link: Link) -> None:
    give(page, SHORT)
    words = followed(page)
    give(page, LONG)
    asked(page, 2)
    page.go_back()
    assert followed(page) == words
    expect(page.locator("#answer")).to_have_value(LONG)
    page.go_back()
    asked(page, 1)
    expect(page.locator("#answer")).to_have_value(SHORT)
    page.go_forward()
    assert followed(page) == words
    assert (decided(link), link.texts()) == (1, [SHORT, LONG])

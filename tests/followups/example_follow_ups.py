"""Pages of respondents who are asked follow-up questions, by the rules or by a model."""

from collections.abc import Iterator
from contextlib import contextmanager

import orjson
import pytest
from flask import Flask
from playwright.sync_api import Page

from tests.browser.example_data import ExampleData
from tests.browser.example_pages import ExamplePage, at, press
from tests.browser.example_respondents import give
from tests.browser.example_texts import ANSWERS, WRITER
from webapp.follow_ups import model_exchange
from webapp.pages.respondent import follow_ups

SHORT = "Tom, and he told nobody."
LONGER = "He had promised Mira, and the list was already in the print, so he only wrote it by hand."
WRITTEN = "What happened in the kitchen on the morning after that swap?"
NEXT = "**/next"


@contextmanager
def model_of_respondents(app: Flask) -> Iterator[None]:
    """A model that always asks the same, for whoever answers; creators are told of none."""
    reply = {"action": "ask", "technique": "example", "question": WRITTEN}
    model, _, host = WRITER.partition(" at ")
    named = {
        "llm_provider": "openai",
        "llm_model": model,
        "llm_base_url": f"https://{host}/v1",
        "llm_api_key": "sk-of-the-operator",
    }
    settings = app.config["SETTINGS"].model_copy(update=named)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(follow_ups, "settings", lambda: settings)
        patch.setattr(model_exchange, "ask_model", lambda *_, **__: orjson.dumps(reply).decode())
        yield


def followed(page: Page, data: ExampleData) -> None:
    page.goto(data.probes)
    give(page, SHORT)


def in_arabic(page: Page, data: ExampleData) -> None:
    page.goto(f"{data.probes}?lang=ar")
    page.locator("#answer").fill(SHORT)
    page.locator("#main-form .btn--main").click()
    page.locator(".question__before").wait_for()


def by_a_model(page: Page, data: ExampleData) -> None:
    page.goto(data.thinks)
    page.locator("#answer").fill(ANSWERS[0][2])
    press(page, "Continue")
    page.locator("h1", has_text=WRITTEN).wait_for()


def deciding(page: Page, data: ExampleData) -> None:
    page.goto(data.thinks)
    page.route(NEXT, lambda _route: None)  # never answered
    give(page, ANSWERS[0][2])


def not_decided(page: Page, data: ExampleData) -> None:
    page.goto(data.thinks)
    page.route(NEXT, lambda route: route.fulfill(status=429, headers={"Retry-After": "99"}))
    give(page, ANSWERS[0][2])
    page.locator(".note--alarm").wait_for()


def all_followed(page: Page, data: ExampleData) -> None:
    """One follow-up is answered, another one is skipped."""
    followed(page, data)
    give(page, LONGER)
    page.get_by_text("Question 2 of 2").wait_for()
    give(page, SHORT)
    press(page, "Next question")
    page.get_by_label("Your name").wait_for()


def taking_back(page: Page, data: ExampleData) -> None:
    """A question whose follow-ups are answered."""
    all_followed(page, data)
    press(page, "Change question 1")
    page.get_by_text("are cleared too").wait_for()


def sent(page: Page, data: ExampleData) -> None:
    all_followed(page, data)
    page.get_by_role("button", name="Send to Ann").click()
    press(page, "See what I sent")
    page.get_by_text("This is what you sent.").wait_for()


FOLLOW_UPS = [
    ExamplePage("question-at-most", at("{data.probes}")),
    ExamplePage("follow-up", followed),
    ExamplePage("follow-up-of-model", by_a_model),
    ExamplePage("follow-up-deciding", deciding),
    ExamplePage("follow-up-not-decided", not_decided, refused=429),
    ExamplePage("follow-up-ar", in_arabic),
    ExamplePage("check-follow-ups", all_followed),
    ExamplePage("question-taken-back", taking_back),
    ExamplePage("sent-follow-ups", sent),
]

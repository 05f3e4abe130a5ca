"""A published form behind a real server, and what a respondent does on its pages."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import FrameLocator, Page, Route, expect
from sqlalchemy import func, select

from webapp.base.database import db
from webapp.records.responses.models import Answer, ResponseSession

QUESTIONS = ["Who changed the rota?", "What went wrong?", "What nearly stopped you?"]

PHONE = {"width": 390, "height": 664, "has_touch": True, "is_mobile": True}


@dataclass(frozen=True)
class Link:
    """A published form behind a real server."""

    app: Flask
    address: str
    path: str
    form: Any

    def texts(self) -> list[str]:
        """What is stored and counts, in the order it came."""
        with self.app.app_context():
            query = select(Answer.answer_text).where(Answer.superseded.is_(False))
            return list(db.session.scalars(query.order_by(Answer.stamp)))

    def sessions(self) -> int:
        with self.app.app_context():
            return db.session.scalar(select(func.count()).select_from(ResponseSession)) or 0


def page_with(*each: dict[str, Any]) -> pytest.MarkDecorator:
    """Run the test in windows with these options of `window`, and `query` for the address."""
    return pytest.mark.parametrize("page", each, indirect=True)


WITH_AND_WITHOUT_SCRIPTS = page_with({}, {"java_script_enabled": False})


def fail(page: Page, path: str, *failures: Callable[[Route], object]) -> None:
    """Let the first requests to this address fail so, one each."""
    left = iter(failures)
    page.route(path, lambda route: next(left, Route.continue_)(route))


def lose_the_answer(route: Route) -> None:
    """The connection ends after the server has stored it and before the browser knows."""
    route.fetch()
    route.abort()


def press(page: Page | FrameLocator, name: str) -> None:
    page.get_by_role("button", name=name).click()


def give(page: Page | FrameLocator, text: str) -> None:
    page.locator("#answer").fill(text)
    press(page, "Continue")


def asked(page: Page, number: int) -> None:
    """Wait until the question with this number is on the page."""
    expect(page).to_have_title(re.compile(f"Question {number} of 3"))
    expect(page.get_by_role("heading", level=1)).to_have_text(QUESTIONS[number - 1])


def answer_all(page: Page, text: str = "Me") -> None:
    """Up to the page where answers are checked."""
    for number in (1, 2, 3):
        asked(page, number)
        give(page, text)
    page.get_by_label("Your name").wait_for()


def finish(page: Page, name: str = "") -> None:
    page.get_by_label("Your name").fill(name)
    press(page, "Send to Robin Example")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you.")

"""Follow-up questions by a model, which people wait for, or do not."""

import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Page, Route, expect
from sqlalchemy import select, update

from tests.browser.conftest import served_app
from tests.browser.respondent.test_follow_ups import LONG, asked, back, followed, published
from tests.browser.respondent_steps import Link, fail, give, press
from tests.browsing import look, sideways, violations
from tests.conftest import delete_rows
from tests.followups.model_server import QUESTION, Answer, ModelServer, asking, model_server
from webapp.base.database import db
from webapp.base.vocabulary import FollowUpState
from webapp.follow_ups.model_exchange import ModelBreaker, prepare
from webapp.records.follow_ups import FollowUp
from webapp.records.forms import Form

NEXT = "**/next"


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_server(asking()) as running:
        yield running


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Flask]:
    with served_app(tmp_path_factory.mktemp("models"), **model.settings()) as app:
        prepare()
        yield app


@pytest.fixture
def link(served: Flask, model: ModelServer) -> Iterator[Link]:
    """A form whose creator was told of the model, which has not been asked yet."""
    model.answer = asking()
    model.asked.clear()
    served.extensions["model_breaker"] = ModelBreaker()
    made = published(served)
    with served.app_context():
        told = served.config["SETTINGS"].follow_up_writer
        db.session.execute(update(Form).values(follow_up_writer=told))
        db.session.commit()
    yield made
    delete_rows(served)


@pytest.fixture
def held(link: Link, model: ModelServer) -> Iterator[threading.Event]:
    """A model that says nothing before this is set, or too late."""
    said = threading.Event()
    model.answer = after(said)
    yield said
    said.set()


def after(said: threading.Event) -> Answer:
    def answer(asked: Any) -> Any:
        said.wait(10)
        return asking()(asked)

    return answer


def states(link: Link) -> list[FollowUpState]:
    with link.app.app_context():
        return list(db.session.scalars(select(FollowUp.state).order_by(FollowUp.created_at)))


def waited(page: Page) -> None:
    """Wait for the page on which a model decides."""
    expect(page).to_have_title(re.compile("^One moment…"))
    expect(page.get_by_role("heading", level=1)).to_have_text("One moment…")


def test_a_waiting_page_is_woken_at_once_and_gets_the_question_by_itself(
    page: Page, link: Link, model: ModelServer, held: threading.Event
) -> None:
    give(page, LONG)
    waited(page)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_role("status")).to_contain_text("Your answer is saved.")
    assert link.texts() == [LONG]
    for width, scheme in ((320, "dark"), (1280, "light")):
        look(page, width=width, scheme=scheme)
        assert violations(page) + sideways(page) == []
    held.set()

    assert followed(page) == QUESTION
    expect(page.locator("#answer")).to_be_focused()
    expect(page).to_have_url(f"{link.address}{link.path}/q/1/f/1")
    expect(page.locator("#question-hint")).to_contain_text(f"by a computer at {model.host}")
    assert states(link) == [FollowUpState.ASKED]
    page.go_back()
    asked(page, 1)
    page.go_forward()
    assert followed(page) == QUESTION


def test_next_question_does_not_wait_for_the_model(
    page: Page, link: Link, held: threading.Event
) -> None:
    give(page, LONG)
    waited(page)
    with page.expect_request(NEXT):
        press(page, "Next question")
    expect(page).to_have_title(re.compile("^Question 2"), timeout=2000)
    expect(page.locator("#answer")).to_be_focused()
    expect(page).to_have_url(f"{link.address}{link.path}/q/2")
    page.locator("#answer").fill("half a sent")
    page.locator("#answer").evaluate("(box) => { box.dataset.shown = 'once' }")
    with page.expect_event("requestfinished"):
        held.set()
    expect(page.locator("[data-shown=once]")).to_have_value("half a sent")
    expect(page).to_have_url(f"{link.address}{link.path}/q/2")
    back(page)
    asked(page, 1)
    press(page, "Continue")
    asked(page, 2)

    assert (states(link), link.texts()) == ([FollowUpState.NOTHING], [LONG])


def test_a_failed_request_is_shown_and_retried(
    troubled: Page, link: Link, model: ModelServer
) -> None:
    fail(troubled, NEXT, Route.abort)
    give(troubled, LONG)
    line = troubled.get_by_text(re.compile("Still waiting. Trying again in [12] s"))
    expect(line).to_be_visible()
    expect(troubled.get_by_role("button", name="Next question")).to_be_visible()
    expect(troubled.get_by_role("button", name="Try again")).to_have_count(0)
    look(troubled, width=320)
    assert violations(troubled) + sideways(troubled) == []

    assert followed(troubled) == QUESTION
    assert (len(model.asked), states(link)) == (1, [FollowUpState.ASKED])


def test_a_reload_while_the_model_thinks_loses_nothing(
    page: Page, link: Link, model: ModelServer, held: threading.Event
) -> None:
    give(page, LONG)
    waited(page)
    page.reload()
    asked(page, 1)
    expect(page.locator("#answer")).to_have_value(LONG)
    press(page, "Continue")
    waited(page)
    held.set()

    assert followed(page) == QUESTION
    assert (len(model.asked), states(link)) == (1, [FollowUpState.ASKED])

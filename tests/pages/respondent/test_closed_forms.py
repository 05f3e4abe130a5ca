"""Forms that are closed, answered already or full, or storage that fails. No typed word is lost."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.factories import make_answer, make_form, make_response
from tests.pages.respondent_client import (
    Respondent,
    arrive,
    box,
    close,
    heading,
    hidden,
    storage_away,
    stored,
    texts,
)
from webapp.base.config import Settings
from webapp.records.accounts.models import Account
from webapp.records.forms import BYTES_OF_CHAR
from webapp.records.responses.models import ANSWER_MAX_CHARS

LONGEST = ANSWER_MAX_CHARS * BYTES_OF_CHAR
WORDS = "\U0001f600" * ANSWER_MAX_CHARS
CLOSED = "This form is closed."
ANSWERED = "This form has already been answered."
NO_ROOM = "This form has no room for more answers."


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """Forms with room for so many bytes, fewer than an operator may choose."""
    room = getattr(request, "param", settings.limit_form_bytes)
    return settings.model_copy(update={"limit_form_bytes": room})


@pytest.fixture
def single(app: Flask, account: Account) -> Any:
    """A form for one response."""
    with app.app_context():
        return make_form(account.id, responseLimit="one")


def answer_it(app: Flask, form: Any) -> None:
    with app.app_context():
        make_response(form)


def fill(app: Flask, form: Any) -> None:
    """Somebody else's answer leaves less than the room of a longest one."""
    with app.app_context():
        make_answer(form, "b" * 32, text="x")


@pytest.mark.parametrize(
    ("settings", "end", "title", "said"),
    [
        (LONGEST * 9, close, CLOSED, "Robin Example stopped taking answers on"),
        (LONGEST * 9, answer_it, ANSWERED, ""),
        (LONGEST, fill, NO_ROOM, "Robin Example takes no more answers."),
    ],
    indirect=["settings"],
    ids=["closed", "answered", "full"],
)
def test_visitors_see_the_notice_before_they_write(
    app: Flask,
    account: Account,
    end: Callable[[Flask, Any], None],
    title: str,
    said: str,
) -> None:
    with app.app_context():
        limit = "one" if end is answer_it else "multiple"
        form = make_form(account.id, responseLimit=limit)
    end(app, form)

    for path in ("", "/q/2"):
        page = app.test_client().get(f"/r/{form.share_token}{path}")

        assert (page.status_code, heading(page)) == (410, title)
        assert said in page.text
        assert "Continue" not in page.text
        assert "og:description" not in page.text


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        *((path, {}) for path in ("/q/1/skip", "/q/2", "/q/2/elsewhere", "/check")),
        ("/q/1/open", {"language": "de"}),
    ],
)
def test_a_closed_form_stores_nothing_and_loses_nothing(
    app: Flask, respondent: Respondent, form: Any, path: str, fields: dict[str, str]
) -> None:
    respondent.answer(1, "Me")
    close(app, form)

    page = respondent.post(path, answer="It broke & burned", **fields)

    assert heading(respondent.open("?lang=en")) == CLOSED
    assert (page.status_code, box(page)) == (410, "It broke & burned")
    assert "language" in fields or "1 answer you gave before that is kept" in page.text
    assert texts(app) == ["Me"]


def test_an_answer_after_sending_is_not_stored_and_not_lost(
    app: Flask, respondent: Respondent
) -> None:
    question = respondent.page
    respondent.answer_all()
    respondent.post("/check")
    respondent.page = question

    page = respondent.answer(1, "Somebody else")

    assert heading(page).startswith("Thank you.")
    assert box(page) == "Somebody else"
    assert texts(app) == ["Me", "It"]


def test_a_form_for_one_response_opens_again_when_it_is_withdrawn(
    client: FlaskClient, single: Any
) -> None:
    respondent = arrive(client, single)
    respondent.answer_all()

    page = respondent.post("/check")
    assert heading(page).startswith("Thank you.")
    assert "Submit another response" not in page.text
    respondent.post("/withdraw/now")

    assert heading(client.get(f"/r/{single.share_token}")) == "Who changed it?"


@pytest.mark.parametrize("settings", [LONGEST], indirect=True)
def test_text_that_has_no_room_stays_and_saved_answers_can_be_sent(
    app: Flask, respondent: Respondent
) -> None:
    respondent.answer(1, "Me")

    page = respondent.answer(2, WORDS)

    assert (page.status_code, box(page)) == (422, WORDS)
    assert NO_ROOM in page.text
    assert "Anything you saved before is safe" in page.text
    assert stored(app) == (1, 1)
    respondent.post("/q/2/skip", answer="")
    respondent.post("/check", name="")
    assert "This is what you sent" in respondent.post("/sent").text


def test_storage_that_fails_keeps_the_text_and_the_keys(app: Flask, respondent: Respondent) -> None:
    sent = hidden(respondent.page)
    with storage_away(app):
        page = respondent.answer(1, "A long story")

    assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
    assert box(page) == "A long story"
    assert sent.items() - {("replaces", "")} <= hidden(page).items()
    assert heading(respondent.answer(1, box(page))) == "What went wrong?"
    assert texts(app) == ["A long story"]

    respondent.answer(2, "It")
    with storage_away(app):
        assert hidden(respondent.post("/check", name="Sam"))["name"] == "Sam"

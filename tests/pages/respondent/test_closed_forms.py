"""Forms that are closed, answered already or full, or storage that fails. No typed word is lost."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.factories import make_answer, make_form, make_response
from tests.pages.creator_client import Creator
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


@pytest.mark.parametrize("path", ["", "/q/1", "/q/2"])
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
    path: str,
) -> None:
    with app.app_context():
        limit = "one" if end is answer_it else "multiple"
        form = make_form(account.id, responseLimit=limit)
    end(app, form)

    page = app.test_client().get(f"/r/{form.share_token}{path}")

    assert (page.status_code, heading(page)) == (410, title)
    assert said in page.text
    assert "Continue" not in page.text
    assert "og:description" not in page.text


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        *((path, {}) for path in ("/q/1", "/q/1/skip", "/q/2", "/q/2/elsewhere", "/check")),
        *(("/q/1/open", fields) for fields in ({"left": "2"}, {"language": "de"})),
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


@pytest.mark.parametrize("path", ["/q/2", "/check"])
def test_text_typed_before_the_one_response_was_sent_is_kept(
    app: Flask, client: FlaskClient, single: Any, path: str
) -> None:
    respondent = arrive(client, single)
    respondent.answer(1, "Me")
    answer_it(app, single)

    page = respondent.post(path, answer="It broke")

    assert (page.status_code, heading(page), box(page)) == (410, ANSWERED, "It broke")


def test_an_answer_after_sending_is_not_stored_and_not_lost(
    app: Flask, respondent: Respondent
) -> None:
    """Seen in a peer: a repeated session key overwrote a completed answer."""
    question = respondent.page
    respondent.answer_all()
    respondent.post("/check")
    respondent.page = question

    page = respondent.answer(1, "Somebody else")

    assert heading(page).startswith("Thank you.")
    assert box(page) == "Somebody else"
    assert texts(app) == ["Me", "It"]


def test_a_sent_response_keeps_its_thank_you_page_on_a_closed_form(
    app: Flask, respondent: Respondent, form: Any
) -> None:
    respondent.answer_all()
    respondent.post("/check")
    close(app, form)

    page = respondent.open()

    assert heading(page).startswith("Thank you.")
    assert "Submit another response" not in page.text
    assert respondent.post("/another").status_code == 410


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


@pytest.mark.parametrize("settings", [LONGEST], indirect=True)
def test_respondents_with_a_session_continue_while_there_is_room(
    app: Flask, respondent: Respondent, form: Any
) -> None:
    respondent.answer(1, "Me")
    fill(app, form)

    assert heading(respondent.open()) == "What went wrong?"
    respondent.answer(2, "It ran twice.")
    thanks = respondent.post("/check", name="")
    assert "Thank you." in thanks.text
    assert "/another" not in thanks.text
    assert heading(respondent.post("/another")) == NO_ROOM


@pytest.mark.parametrize("settings", [LONGEST], indirect=True)
@pytest.mark.parametrize("others", [False, True])
def test_withdrawing_makes_room_if_nobody_else_takes_it(
    app: Flask, respondent: Respondent, form: Any, *, others: bool
) -> None:
    respondent.answer(1, "Me")
    if others:
        fill(app, form)
    full = app.test_client().get(f"/r/{form.share_token}")

    deleted = respondent.post("/withdraw/now")

    later = app.test_client().get(f"/r/{form.share_token}")
    assert heading(deleted) == "Your answers are deleted."
    assert ("Answer again" in deleted.text) == (not others)
    assert (heading(full), heading(later)) == (NO_ROOM, NO_ROOM if others else "Who changed it?")


@pytest.mark.parametrize("settings", [1000], indirect=True)
@pytest.mark.parametrize(("size", "times"), [(784, 0), (785, 1)])
def test_the_creator_is_warned_from_eighty_per_cent_on(
    size: int, times: int, app: Flask, ann: Creator
) -> None:
    with app.app_context():
        form = make_form(ann.account.id)
        make_answer(form, "a" * 32, text="x" * size)  # 15 bytes more for the question

    pages = [ann.client.get(f"/forms/{form.id}{view}").text for view in ("", "/people")]

    assert [page.count("LIMIT_FORM_BYTES") for page in pages] == [times] * 2


@pytest.mark.parametrize(
    ("path", "field", "text"),
    [
        ("/q/1", "answer", "A long story"),
        ("/check", "name", "Sam"),
        ("/q/1", "answer", "x" * (ANSWER_MAX_CHARS + 1)),  # as a refusal is drawn
        ("/q/1/skip", "answer", ""),
    ],
    ids=["answer", "name", "refusal", "nothing"],
)
def test_storage_that_fails_keeps_the_text_and_the_keys(
    app: Flask, respondent: Respondent, path: str, field: str, text: str
) -> None:
    if path == "/check":
        respondent.answer_all()
    sent = hidden(respondent.page)
    with storage_away(app):
        page = respondent.post(path, **{field: text})

    assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
    assert (hidden(page).get("name") if field == "name" else box(page)) == text
    assert ("text is still here" in page.text or "is safe" in heading(page)) == bool(text)
    assert sent.items() - {("replaces", "")} <= hidden(page).items()
    if text == "A long story":
        assert heading(respondent.answer(1, box(page))) == "What went wrong?"
        assert texts(app) == [text]

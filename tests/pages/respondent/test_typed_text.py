"""What people type into a form: kept as it is, or asked for again with the text in the box."""

import pytest
from flask import Flask

from tests.pages.respondent_client import Respondent, box, heading, hidden, stored, texts
from webapp.base.limits import ANSWER_MAX_CHARS, RESPONDER_NAME_MAX_CHARS


@pytest.mark.parametrize("text", ["", " ", "\r\n\t", "\u00a0"])
def test_an_empty_answer_is_asked_for_again(app: Flask, respondent: Respondent, text: str) -> None:
    page = respondent.answer(1, text)

    assert page.status_code == 422
    assert "<title>Error: Question 1 of 2 · Rota</title>" in page.text
    assert "There is no answer yet. Write one, or skip the question." in page.text
    assert 'aria-invalid="true"' in page.text
    assert 'role="alert"' in page.text
    assert stored(app) == (0, 0)


def test_a_refused_first_answer_goes_on_in_the_same_session(
    app: Flask, respondent: Respondent
) -> None:
    session = hidden(respondent.page)["session"]

    page = respondent.answer(1, "")

    assert hidden(page)["session"] == session
    assert heading(respondent.answer(1, "Me")) == "What went wrong?"


@pytest.mark.parametrize(
    "text", ["x" * ANSWER_MAX_CHARS, "\U0001f600" * ANSWER_MAX_CHARS, "\r\n" * 9_999 + "x"]
)
def test_an_answer_may_have_20000_characters(app: Flask, respondent: Respondent, text: str) -> None:
    respondent.answer(1, text)

    assert texts(app) == [text.replace("\r\n", "\n")]


def test_a_longer_answer_stays_in_the_box(app: Flask, respondent: Respondent) -> None:
    text = "\U0001f600" * (ANSWER_MAX_CHARS + 1)

    page = respondent.answer(1, text)

    assert page.status_code == 422
    assert "longer than 20,000 characters" in page.text
    assert box(page) == text
    assert stored(app) == (0, 0)


def test_characters_that_no_database_stores_are_replaced(
    app: Flask, respondent: Respondent
) -> None:
    respondent.answer(1, "before\0after")

    assert texts(app) == ["before\ufffdafter"]


def test_invalid_utf_8_is_accepted_or_refused_without_error(
    app: Flask, respondent: Respondent
) -> None:
    keys = "&".join(f"{name}={value}" for name, value in hidden(respondent.page).items())

    respondent.client.post(
        f"/r/{respondent.share_token}/q/1",
        data=f"{keys}&answer=a%ED%A0%80b%FF",
        content_type="application/x-www-form-urlencoded",
    )

    assert len(texts(app)) == 1
    assert texts(app)[0].startswith("a")


def test_markup_is_shown_as_it_was_written(respondent: Respondent) -> None:
    respondent.answer(1, "</textarea><script>alert(1)</script>{{ 7*7 }}")

    page = respondent.open("/q/1")

    assert "<script>alert" not in page.text
    assert box(page) == "</textarea><script>alert(1)</script>{{ 7*7 }}"


def test_sending_without_an_answer_is_refused(app: Flask, respondent: Respondent) -> None:
    respondent.post("/q/1/skip")
    respondent.post("/q/2/skip")

    page = respondent.post("/check", name="Sam")

    assert page.status_code == 422
    assert "Nothing is answered yet." in page.text
    assert 'value="Sam"' in page.text


def test_sending_what_was_never_begun_is_refused(app: Flask, respondent: Respondent) -> None:
    assert respondent.post("/check").status_code == 422
    assert stored(app) == (0, 0)


def test_a_name_that_is_too_long_stays_in_its_field(respondent: Respondent) -> None:
    respondent.answer_all()

    page = respondent.post("/check", name="n" * (RESPONDER_NAME_MAX_CHARS + 1))

    assert page.status_code == 422
    assert page.text.startswith("<!doctype html>")
    assert f'value="{"n" * (RESPONDER_NAME_MAX_CHARS + 1)}"' in page.text


def test_a_name_cannot_contain_bidi_controls(respondent: Respondent) -> None:
    respondent.answer_all()
    respondent.post("/check", name="Sam\u202e\u2066\x07\r\nOkafor")

    assert "Name: Sam Okafor" in respondent.post("/sent").text


def test_the_check_page_says_that_answers_are_readable_already(respondent: Respondent) -> None:
    respondent.post("/q/1/skip")
    skipped = respondent.post("/q/2/skip")
    respondent.post("/q/1/open")
    answered = respondent.answer(1, "Me")

    nothing, something = "There is nothing for Robin Example to read yet.", "can read these answers"
    assert (nothing in skipped.text, something in skipped.text) == (True, False)
    assert (nothing in answered.text, something in answered.text) == (False, True)

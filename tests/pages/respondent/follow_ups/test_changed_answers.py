"""What becomes of follow-ups when answers are changed, taken back, or come late."""

from typing import Any

import pytest
from flask import Flask

from tests.pages.respondent.follow_ups.conftest import (
    LONG,
    OTHER,
    SECOND,
    SHORT,
    asked,
    count_line,
)
from tests.pages.respondent_client import Respondent, heading, texts


def test_the_same_words_again_show_the_same_follow_up(app: Flask, respondent: Respondent) -> None:
    words = heading(respondent.answer(1, SHORT))

    assert heading(respondent.answer(1, SHORT)) == words
    assert heading(respondent.answer(1, LONG)) == SECOND
    assert heading(respondent.answer(1, SHORT)) == words
    assert len(asked(app)) == 1


@pytest.mark.parametrize(
    "settings_of_form", [{"followUpMode": "deep_dive", "maxFollowupsPerQuestion": 2}]
)
def test_a_changed_answer_drops_an_open_follow_up_which_still_counts(
    app: Flask, respondent: Respondent
) -> None:
    first = heading(respondent.answer(1, SHORT))
    second = heading(respondent.answer(1, OTHER))

    assert second not in {first, SECOND}
    assert [each.depth for each in asked(app)] == [1, 2]
    assert heading(respondent.answer(1, "It was odd")) == SECOND


@pytest.mark.parametrize("settings_of_form", [{"followUpMode": "deep_dive"}])
def test_an_open_follow_up_comes_before_a_newer_one(app: Flask, respondent: Respondent) -> None:
    respondent.answer(1, SHORT)
    second = heading(respondent.post("/q/1/f/1", answer=OTHER))
    page = respondent.answer(1, "It was odd")

    assert [each.depth for each in asked(app)] == [1, 2, 3]
    assert heading(page) == second
    assert heading(respondent.post("/resume")) == second


@pytest.mark.parametrize("kind", ["dropped", "skipped"])
def test_a_follow_up_takes_an_answer_that_was_on_its_way(
    app: Flask, respondent: Respondent, kind: str
) -> None:
    respondent.answer(1, SHORT)
    if kind == "dropped":
        respondent.answer(1, LONG)
    else:
        respondent.post("/q/1/f/1/skip")
    respondent.post("/q/1/f/1", answer="Twice a day")

    assert texts(app) == [LONG if kind == "dropped" else SHORT, "Twice a day"]


@pytest.mark.parametrize("kind", ["dropped", "skipped"])
def test_once_sent_no_follow_up_takes_an_answer(
    app: Flask, respondent: Respondent, kind: str
) -> None:
    respondent.answer(1, SHORT)
    respondent.post("/q/1/f/1/skip")
    if kind == "dropped":
        respondent.answer(1, LONG)
    respondent.post("/check")
    before = texts(app)
    page = respondent.post("/q/1/f/1", answer="Twice a day", answer_key="k" * 32)

    assert heading(page).startswith("Thank you.")
    assert "Twice a day" in page.text
    assert texts(app) == before


def test_a_changed_answer_keeps_follow_ups_that_have_an_answer(
    app: Flask, respondent: Respondent
) -> None:
    words = heading(respondent.answer(1, SHORT))
    respondent.post("/q/1/f/1", answer=LONG)
    respondent.answer(1, LONG + " again")
    page = respondent.answer(2, LONG)

    assert words in page.text
    assert texts(app) == [LONG, LONG + " again", LONG]


def test_taking_an_answer_back_takes_those_to_its_follow_ups(
    app: Flask, form: Any, respondent: Respondent
) -> None:
    words = heading(respondent.answer(1, SHORT))
    respondent.post("/q/1/f/1", answer=LONG)
    page = respondent.post("/q/1/open")
    assert "your answers to its follow-up questions are cleared too" in page.text

    page = respondent.post("/q/1/skip")

    assert heading(page) == SECOND
    assert texts(app) == []
    assert words not in respondent.post("/check/open").text


def test_what_followed_from_another_question_stays(app: Flask, respondent: Respondent) -> None:
    for number in (1, 2):
        respondent.answer(number, SHORT)
        respondent.post(f"/q/{number}/f/1", answer=LONG)
    respondent.post("/q/1/open")
    respondent.post("/q/1/skip")
    assert "are cleared too" not in respondent.post("/q/1/open").text

    assert texts(app) == [SHORT, LONG]
    assert "follow-up to question 2" in respondent.post("/check/open").text


@pytest.mark.parametrize("settings_of_form", [{"followUpMode": "deep_dive"}])
def test_taking_an_answer_back_forgets_that_a_follow_up_was_skipped(respondent: Respondent) -> None:
    respondent.answer(1, SHORT)
    respondent.post("/q/1/f/1/skip")
    respondent.post("/q/1/open")
    respondent.post("/q/1/skip")

    assert count_line(respondent.answer(1, OTHER)) == "Follow-up 2 to question 1"


def test_nothing_follows_from_what_comes_late_to_a_question_that_was_taken_back(
    app: Flask, respondent: Respondent
) -> None:
    respondent.answer(1, SHORT)
    open_page = respondent.page
    respondent.post("/q/1/skip")
    respondent.page = open_page
    page = respondent.post("/q/1/f/1", answer=OTHER)

    assert heading(page) == SECOND
    assert (texts(app), len(asked(app))) == ([OTHER], 1)


@pytest.mark.parametrize("settings_of_form", [{"followUpMode": "deep_dive"}])
def test_the_same_words_to_another_question_show_no_dropped_follow_up(
    respondent: Respondent,
) -> None:
    respondent.answer(1, SHORT)
    words = heading(respondent.post("/q/1/f/1", answer=OTHER))
    respondent.post("/q/1/f/1", answer=LONG)
    respondent.answer(1, OTHER)

    assert words not in respondent.post("/check/open").text

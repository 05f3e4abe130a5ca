"""Follow-up questions as steps of a form, without scripts or a model."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.pages.respondent.follow_ups.conftest import (
    FIRST,
    LONG,
    PREPARED,
    SECOND,
    SHORT,
    asked,
    count_line,
)
from tests.pages.respondent.test_cross_site_posts import every_row
from tests.pages.respondent_client import Respondent, arrive, box, heading, texts
from webapp.base.database import db
from webapp.base.vocabulary import QuestionKind
from webapp.records.responses.models import Answer


def test_the_order_is_a_question_its_follow_ups_the_next_question(respondent: Respondent) -> None:
    page = respondent.answer(1, SHORT)
    words = heading(page)
    assert (words, count_line(page)) == (PREPARED[0][0], "Follow-up to question 1")
    assert f"“{SHORT}”" in page.text
    assert "A follow-up question from" in page.text
    page = respondent.post("/q/1/f/1", answer=LONG)
    assert (heading(page), count_line(page)) == (SECOND, "Question 2 of 2")
    assert box(respondent.post("/q/1/f/1/open", left="2")) == LONG
    assert box(respondent.post("/q/1/open", left="1/f/1")) == SHORT

    page = respondent.answer(2, LONG)
    assert heading(page) == "Check your answers, then send."
    assert page.text.index(FIRST) < page.text.index(words) < page.text.index(SECOND)
    assert "3 answered" in count_line(page).replace("\xa0", " ")

    respondent.post("/check")
    assert words in respondent.post("/sent").text


@pytest.mark.parametrize("settings_of_form", [{"followUpMode": "deep_dive"}])
def test_at_every_depth_an_answer_belongs_to_the_question_of_the_form(
    app: Flask, form: Any, respondent: Respondent
) -> None:
    page = respondent.answer(1, SHORT)
    seen = [heading(page)]
    for depth in range(1, 4):
        page = respondent.post(f"/q/1/f/{depth}", answer=f"Part {depth}")
        seen.append(heading(page))

    assert seen == [*(text for text, _ in PREPARED), SECOND]
    with app.app_context():
        answers = db.session.scalars(select(Answer).order_by(Answer.stamp).offset(1)).all()
    rows = asked(app)
    parent = form.questions[0]["id"]
    assert [row.parent_question_id for row in rows] == [parent] * 3
    assert {(each.question_kind, each.parent_question_id) for each in answers} == {
        (QuestionKind.FOLLOW_UP, parent)
    }
    assert [each.question_id for each in answers] == [row.id for row in rows]
    assert [each.question_text for each in answers] == seen[:3]
    assert [each.answer_text for each in answers] == ["Part 1", "Part 2", "Part 3"]
    assert {row.id[:2] for row in rows} == {"q_"}


@pytest.mark.parametrize("kind", ["dropped", "skipped"])
def test_a_follow_up_takes_an_answer_that_was_on_its_way_until_all_is_sent(
    app: Flask, respondent: Respondent, kind: str
) -> None:
    respondent.answer(1, SHORT)
    if kind == "dropped":
        respondent.answer(1, LONG)
    else:
        respondent.post("/q/1/f/1/skip")
    respondent.post("/q/1/f/1", answer="Twice a day")
    taken = [LONG if kind == "dropped" else SHORT, "Twice a day"]
    assert texts(app) == taken

    respondent.post("/check")
    page = respondent.post("/q/1/f/1", answer="Once a day", answer_key="k" * 32)

    assert heading(page).startswith("Thank you.")
    assert "Once a day" in page.text
    assert texts(app) == taken


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


ACTIONS = {"": "Hello", "/skip": "", "/open": "", "/next": "", "/elsewhere": ""}
NEVER_ASKED = ["1/f/1", "1/f/51", "9/f/1", "0", "0/f/1", "3", "x", f"{10**30}", f"1/f/{10**30}"]


def test_a_step_that_was_never_asked_is_not_there(
    app: Flask, form: Any, respondent: Respondent
) -> None:
    arrive(app.test_client(), form).answer(1, SHORT)  # somebody else was asked it
    first = respondent.answer(2, LONG)
    before = every_row(app)
    for place in NEVER_ASKED:
        for action, typed in ACTIONS.items():
            respondent.page = first
            page = respondent.post(f"/q/{place}{action}", answer=typed)
            assert page.status_code == 404, (place, action)
        assert respondent.open(f"/q/{place}").status_code == 404
    assert every_row(app) == before


@pytest.mark.parametrize(
    ("settings_of_form", "most"),
    [
        ({"followUpMode": "none", "maxFollowupsPerQuestion": 5}, 0),
        ({"followUpMode": "deep_dive", "maxTotalQuestions": 3}, 1),
        ({"followUpMode": "deep_dive", "maxFollowupsPerQuestion": 50}, 6),
    ],
)
def test_caps_are_never_exceeded(app: Flask, respondent: Respondent, most: int) -> None:
    for number in (1, 2):
        page = respondent.answer(number, f"Slow in {number} ways")
        depth = 1
        while count_line(page).endswith(f"to question {number}"):
            page = respondent.post(f"/q/{number}/f/{depth}", answer=f"And then it broke {depth} x")
            depth += 1

    assert heading(page) == "Check your answers, then send."
    assert len(asked(app)) == most


def test_hostile_text_is_ordinary_text(app: Flask, respondent: Respondent) -> None:
    text = "<script>alert(1)</script><h1>Which?</h1><form action=/steal> {{ 7 * 7 }} ${7 * 7}"

    page = respondent.answer(1, text)

    assert texts(app) == [text]
    assert heading(page).count("?") == 1
    assert page.text.count("<h1") == 1
    assert "<script>alert" not in page.text
    assert "49" not in heading(page)
    assert "thinking of leaving" not in page.text
    assert page.status_code == 200

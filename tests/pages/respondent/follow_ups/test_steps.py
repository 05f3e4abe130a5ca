"""Follow-up questions as steps of a form, without scripts or a model."""

import re
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.pages.respondent.follow_ups.conftest import (
    FIRST,
    LONG,
    OTHER,
    PREPARED,
    SECOND,
    SHORT,
    asked,
    count_line,
)
from tests.pages.respondent.test_device_transfer import follow, link
from tests.pages.respondent_client import Respondent, arrive, box, heading, stored, texts
from webapp.base.database import db
from webapp.base.vocabulary import QuestionKind
from webapp.records.responses.counters import QuestionCounts, read_questions
from webapp.records.responses.models import Answer


def test_a_thin_answer_is_followed_by_a_question(respondent: Respondent) -> None:
    page = respondent.answer(1, SHORT)

    assert heading(page) == PREPARED[0][0]
    assert count_line(page) == "Follow-up to question 1"
    assert f"“{SHORT}”" in page.text
    assert "A follow-up question from" in page.text
    assert "Next question" in page.text


@pytest.mark.parametrize(
    ("settings_of_form", "most"),
    [
        ({"followUpMode": "smart", "context": "They may leave."}, ", at most 4 questions"),
        ({"followUpMode": "deep_dive"}, ", at most 8 questions"),
        ({"followUpMode": "deep_dive", "maxFollowupsPerQuestion": 2}, ", at most 6 questions"),
        ({"followUpMode": "deep_dive", "maxTotalQuestions": 5}, ", at most 5 questions"),
        ({"followUpMode": "deep_dive", "maxTotalQuestions": 1}, ""),
        ({"followUpMode": "none", "maxFollowupsPerQuestion": 5}, ""),
    ],
)
def test_the_first_page_says_what_both_caps_admit(visitor: Respondent, most: str) -> None:
    assert count_line(visitor.page) == f"Question 1 of 2{most}"


def test_the_order_is_a_question_its_follow_ups_the_next_question(respondent: Respondent) -> None:
    respondent.answer(1, SHORT)
    page = respondent.post("/q/1/f/1", answer=LONG)
    assert heading(page) == SECOND
    assert count_line(page) == "Question 2 of 2"

    back = respondent.post("/q/1/f/1/open", left="2")
    assert box(back) == LONG

    first = respondent.post("/q/1/open", left="1/f/1")
    assert box(first) == SHORT


@pytest.mark.parametrize("settings_of_form", [{"followUpMode": "deep_dive"}])
def test_back_goes_the_same_way(respondent: Respondent) -> None:
    shown = [respondent.page, respondent.answer(1, SHORT)]
    shown.append(respondent.post("/q/1/f/1", answer=OTHER))
    shown.append(respondent.post("/q/1/f/2/skip"))

    link = rf'name="left" value="([^"]+)" formaction="/r/{respondent.share_token}/q/([^"?]*)/open"'
    ways = [way for page in shown for way in re.findall(link, page.text)]
    assert ways == [("1/f/1", "1"), ("1/f/2", "1/f/1"), ("2", "1/f/2")]


def test_the_check_page_and_what_was_sent_hold_follow_ups(respondent: Respondent) -> None:
    words = heading(respondent.answer(1, SHORT))
    respondent.post("/q/1/f/1", answer=LONG)
    page = respondent.answer(2, LONG)

    assert heading(page) == "Check your answers, then send."
    assert page.text.index(FIRST) < page.text.index(words) < page.text.index(SECOND)
    assert "3 answered" in count_line(page).replace("\xa0", " ")

    respondent.post("/check")
    assert words in respondent.post("/sent").text


def test_next_question_skips_a_follow_up_and_ends_its_thread(
    app: Flask, respondent: Respondent
) -> None:
    respondent.answer(1, SHORT)
    page = respondent.post("/q/1/f/1/skip")
    assert heading(page) == SECOND
    assert texts(app) == [SHORT]

    assert heading(respondent.answer(1, OTHER)) == SECOND
    assert len(asked(app)) == 1


def test_a_respondent_resumes_at_the_open_follow_up(app: Flask, visitor: Respondent) -> None:
    words = heading(visitor.answer(1, SHORT))

    assert heading(visitor.open()) == words
    assert visitor.open().request.path.endswith("/q/1/f/1")
    for path in ("", "/q/1", "/q/1/f/1", "/check"):
        visitor.open(path)
    assert len(asked(app)) == 1  # a reload asks nothing


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


@pytest.mark.parametrize("skipped", [False, True])
def test_withdrawing_deletes_what_was_asked_and_its_counts(
    app: Flask, form: Any, respondent: Respondent, *, skipped: bool
) -> None:
    respondent.answer(1, SHORT)
    if skipped:
        respondent.post("/q/1/f/1/skip")
    respondent.post("/withdraw/now")

    assert stored(app) == (0, 0)
    assert asked(app) == []
    with app.app_context():
        assert {*read_questions(form.id).values()} == {QuestionCounts()}


def test_another_device_goes_on_at_the_follow_up(
    app: Flask, form: Any, respondent: Respondent
) -> None:
    words = heading(respondent.answer(1, SHORT))
    other = arrive(app.test_client(), form)
    page = respondent.post("/q/1/f/1/elsewhere", answer="Half a")
    assert heading(respondent.post("/q/1/f/1/open", draft="Half a")) == words
    assert box(respondent.page) == "Half a"
    assert heading(follow(other, link(page))) == words
    assert heading(other.post("/q/1/f/1", answer=LONG)) == SECOND
    assert texts(app) == [SHORT, LONG]

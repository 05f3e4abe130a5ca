"""Which stroke of the tally is drawn when a page comes."""

import re
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.factories import make_form
from tests.pages.respondent_client import Respondent, arrive, hidden
from webapp.pages.filters import tally_of
from webapp.records.accounts.models import Account

HTMX = {"HX-Request": "true"}


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(account.id, questions=[f"Step {number}?" for number in range(1, 7)])


def just_answered(page: TestResponse) -> list[int]:
    """Numbers of the strokes that are drawn on this page."""
    drawn = re.findall(r'<path class="done just-answered" pathLength="1" d="([^"]*)"', page.text)
    return [tally_of(6).paths.index(path) + 1 for path in drawn]


def swap(respondent: Respondent, path: str, **fields: str) -> TestResponse:
    """Post as scripts do."""
    where = f"/r/{respondent.share_token}{path}"
    respondent.page = respondent.client.post(
        where, data=hidden(respondent.page) | fields, headers=HTMX
    )
    return respondent.page


def test_the_stroke_of_the_answer_just_given_is_drawn(respondent: Respondent) -> None:
    assert just_answered(respondent.page) == []
    for number in (1, 2, 3, 4, 5, 6):
        assert just_answered(swap(respondent, f"/q/{number}", answer="It ran twice.")) == [number]


def test_nothing_is_drawn_without_an_answer(respondent: Respondent) -> None:
    swap(respondent, "/q/1", answer="It ran twice.")

    assert just_answered(swap(respondent, "/q/2/skip", answer="")) == []
    assert just_answered(swap(respondent, "/q/2/open")) == []
    assert just_answered(swap(respondent, "/q/2", answer="")) == []
    assert just_answered(respondent.open("/q/2")) == []


def test_without_scripts_and_cookies_the_stroke_is_drawn_as_well(app: Flask, form: Any) -> None:
    respondent = arrive(app.test_client(use_cookies=False), form)

    assert just_answered(respondent.answer(1, "It ran twice.")) == [1]


def test_a_follow_up_has_no_stroke_of_its_own(app: Flask, account: Account) -> None:
    with app.app_context():
        questions = [f"What happened in step {number}?" for number in range(1, 7)]
        form = make_form(account.id, questions=questions, followUpMode="deep_dive")
    respondent = arrive(app.test_client(), form)

    page = swap(respondent, "/q/1", answer="It was bad.")
    assert "Follow-up to question 1" in page.text
    assert just_answered(page) == [1]
    assert 'class="now"' in respondent.open("/q/1").text
    assert 'class="now"' not in respondent.open("/q/1/f/1").text
    page = swap(respondent, "/q/1/f/1", answer="Because it was.")
    assert "Question 2 of 6" in page.text
    assert just_answered(page) == []

"""Pages of a form with twenty questions and five follow-ups to each take as many statements as
those of a small one, and work in proportion to what they show.
"""

import csv
import io
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.followups.largest_mix import (
    FOLLOW_UPS,
    LONG_WORD,
    QUESTIONS,
    answer_all,
    make_mixed_form,
)
from tests.pages.creator.test_results import links
from tests.pages.creator_client import Creator
from tests.query_plans import statements_of
from webapp.database import utc_now
from webapp.domain.respondents import answering

KEY, SMALL_KEY, FIRST_KEY = "k" * 32, "s" * 32, "f" * 32
ALL = QUESTIONS * (1 + FOLLOW_UPS)
CALLS_MORE = 2  # for each byte shown; 1.6 is usual, 5 with ten calls for each pair of answers


@pytest.fixture
def form(app: Flask, ann: Creator) -> Any:
    with app.app_context():
        form = make_mixed_form(ann.account.id)
        answer_all(form, KEY)
    return form


@pytest.fixture
def small(app: Flask, ann: Creator) -> Any:
    """One question with one follow-up."""
    with app.app_context():
        form = make_mixed_form(ann.account.id, questions=1)
        for key in (SMALL_KEY, FIRST_KEY):
            answer_all(form, key, follow_ups=1)
    return form


class Opened(NamedTuple):
    """A page, how many statements it took, and how many calls of functions."""

    page: TestResponse
    statements: int
    calls: int

    @property
    def calls_for_a_byte(self) -> float:
        return self.calls / len(self.page.data)


def opened(app: Flask, call: Callable[[], TestResponse]) -> Opened:
    pages: list[TestResponse] = []
    calls = Counter[str]()
    with app.app_context():
        sys.setprofile(lambda _frame, event, _value: calls.update((event,)))
        sent = statements_of(lambda: pages.append(call()))
        sys.setprofile(None)
    assert pages[0].status_code == 200
    return Opened(pages[0], len(sent), calls["call"])


def assert_in_proportion(many: list[Opened], few: list[Opened]) -> None:
    """As many statements, and calls in proportion to what is shown."""
    for large, little in zip(many, few, strict=True):
        assert large.statements == little.statements
        assert large.calls_for_a_byte < CALLS_MORE * little.calls_for_a_byte


def respondents_pages(app: Flask, form: Any, key: str, place: str) -> list[Opened]:
    """A question, what is checked before sending, and what was sent."""
    client = app.test_client(use_cookies=False)

    def post(path: str) -> Opened:
        where = f"/r/{form.share_token}{path}"
        return opened(app, lambda: client.post(where, data={"session": key}))

    before = [post(f"/q/{place}/open"), post("/check/open")]
    with app.app_context():
        answering.complete_response(form.share_token, key, responder_name="", now=utc_now())
    return [*before, post("/sent")]


def creators_pages(app: Flask, ann: Creator, form: Any) -> list[Opened]:
    """Answers by question in three views, by person, those of one person, and the file."""
    here = f"/forms/{form.id}"
    views = ("", "/questions/1", "?followups=1", "/people")
    paths = [f"{here}{view}" for view in views]
    paths += [links(ann.page(paths[-1]).text, "Anonymous")[0], f"{here}/export.csv"]
    return [opened(app, partial(ann.page, path)) for path in paths]


def test_a_respondent_reads_all_of_it(app: Flask, form: Any, small: Any) -> None:
    respondents_pages(app, small, FIRST_KEY, "1/f/1")  # compiles what the others find compiled
    few = respondents_pages(app, small, SMALL_KEY, "1/f/1")
    many = respondents_pages(app, form, KEY, f"{QUESTIONS}/f/{FOLLOW_UPS}")

    assert_in_proportion(many, few)
    assert f"Follow-up {FOLLOW_UPS} to question {QUESTIONS}" in many[0].page.text
    for each in many[1:]:
        assert each.page.text.count("summary__row--follow-up") == QUESTIONS * FOLLOW_UPS
        assert each.page.text.count('class="summary__a"') == ALL


def test_a_creator_reads_all_of_it(app: Flask, ann: Creator, form: Any, small: Any) -> None:
    creators_pages(app, ann, small)  # compiles what the others find compiled
    few, many = creators_pages(app, ann, small), creators_pages(app, ann, form)

    assert_in_proportion(many, few)
    *_, person, file = (each.page.text for each in many)
    assert all(f"{number}.{FOLLOW_UPS} {LONG_WORD}" in person for number in range(QUESTIONS))
    rows = list(csv.DictReader(io.StringIO(file.removeprefix("\ufeff"))))
    assert len(rows) == ALL
    assert sum(bool(row["asked_by"]) for row in rows) == QUESTIONS * FOLLOW_UPS

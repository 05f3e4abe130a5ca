"""Cached pages of follow-up questions equal pages rendered for the visit, byte for byte."""

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask, Response

from tests.pages.respondent.test_page_cache import (
    FORM,
    WAYS,
    Draw,
    cache,  # noqa: F401 (a fixture)
    progressed,
    rendered,
    rendered_alone,
)
from webapp.answers.steps import QuestionNumber
from webapp.base.vocabulary import FollowUpMode
from webapp.pages.filters import EXCERPT_CHARS, LONG_QUESTION_CHARS
from webapp.pages.respondent import page_cache, rendering
from webapp.pages.respondent.page_cache import PageCache
from webapp.pages.respondent.session_view import SessionView
from webapp.records.follow_ups import AskedFollowUp

ASKED = AskedFollowUp(
    "q_9", "q_1", 1, "What made it slow?", "elaborate", "short", "", "ans_1", "q_1", dropped=False
)
SECOND = ASKED._replace(id="q_8", depth=2, question_text="Such as?", follows="q_9")
PROBING = replace(FORM, follow_up_mode=FollowUpMode.DEEP_DIVE)


def probed(
    said: str, asked: AskedFollowUp = ASKED, *, skipped: str = "", **texts: str
) -> SessionView:
    """Somebody who was asked about what they said."""
    return progressed({"q_1": said} | texts, skipped, form=PROBING, follow_ups=(asked,))


VISIT = probed("It was slow")
TWICE = progressed({"q_1": "It was slow", "q_9": "Ink"}, form=PROBING, follow_ups=(ASKED, SECOND))
OTHERS = {
    "session key": replace(VISIT, session_key="a-session-key-of-another"),
    "words": probed("<b>Late</b> & 'loud'\n\"again\""),
    "words that are cut": probed("word " * EXCERPT_CHARS),
    "words like a placeholder": probed(page_cache.placeholder("session")),
    "no words": probed(""),
    "nothing but spaces": probed("  "),
    "taken back": probed("It was slow", ASKED._replace(follows="q_2", dropped=True)),
    "question": probed("It was slow", ASKED._replace(question_text="<i>Why</i> & how?")),
    "technique": probed("It was slow", ASKED._replace(technique="why")),
    "written by a model": probed("It was slow", ASKED._replace(writer="small at 127.0.0.1:8080")),
    "by another model": probed("It was slow", ASKED._replace(writer="small at models.example")),
    "dropped": probed("It was slow", ASKED._replace(dropped=True)),
    "skipped": probed("It was slow", skipped="q_9"),
    "answered": probed("It was slow", q_9="The printer"),
    "another answered": probed("It was slow", q_2="The ink"),
    "asked twice": TWICE,
    "long": probed("Slow", ASKED._replace(question_text="Why? " * LONG_QUESTION_CHARS)),
}


def asked(view: SessionView) -> Response:
    return rendering.question(view, QuestionNumber(1, 1))


def asked_next(view: SessionView) -> Response:
    return rendering.question(view, QuestionNumber(2))


def asked_twice(view: SessionView) -> Response:
    return rendering.question(view, QuestionNumber(1, 2))


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("draw", [asked, asked_next])
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_visits_that_differ_in_this_get_separate_pages(
    app: Flask, draw: Draw, other: SessionView
) -> None:
    for view in (VISIT, other, VISIT, other):
        assert rendered(app, draw, view) == rendered_alone(app, draw, view)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_requests_that_differ_in_this_get_separate_pages(app: Flask, way: dict[str, Any]) -> None:
    for each in ({}, way, {}, way):
        assert rendered(app, asked, VISIT, **each) == rendered_alone(app, asked, VISIT, **each)


@pytest.mark.usefixtures("cache")
def test_the_second_one_quotes_the_answer_to_the_first(app: Flask) -> None:
    page = rendered(app, asked_twice, TWICE)

    assert page == rendered_alone(app, asked_twice, TWICE)
    assert "“Ink”" in page[0]
    assert "It was slow" not in page[0]


def test_respondents_who_are_asked_alike_share_a_cached_page(app: Flask, cache: PageCache) -> None:  # noqa: F811
    reworded = probed("It was late", ASKED._replace(question_text="What made it late?"))

    pages = [rendered(app, asked, view)[0] for view in (VISIT, reworded)]

    assert len(cache) == 1
    assert "It was slow" in pages[0]
    assert "What made it slow?" in pages[0]
    assert "slow" not in pages[1]


@pytest.mark.parametrize("other", ["answered", "long"])
def test_pages_with_an_answer_and_long_questions_are_not_cached(
    app: Flask,
    cache: PageCache,  # noqa: F811
    other: str,
) -> None:
    rendered(app, asked, OTHERS[other])

    assert len(cache) == 0

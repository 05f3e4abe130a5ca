"""Answers to follow-up questions, by every way that an agent reads answers."""

import secrets
from typing import Any

import pytest
from flask import Flask

from tests.api.conftest import Agent
from tests.api.mcp.conftest import Hosted
from tests.api.mcp.responses.reading import fragment_pages, quoted
from tests.databases import both_databases
from tests.factories import make_answer, make_follow_up, make_follow_up_answer, make_form
from webapp.answers import answering
from webapp.base.database import utc_now
from webapp.records.accounts.models import Account
from webapp.records.responses.counters import QuestionCounts, read_questions

FIRST, SECOND = 'What did "cold" cost?\u2028And <b>why</b>?', "Could you give an example?"
pytestmark = both_databases


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(account.id, followUpMode="deep_dive")


@pytest.fixture
def session_id(app: Flask, form: Any) -> str:
    with app.app_context():
        key = secrets.token_urlsafe(24)
        make_answer(form, key, 0, "Cold")
        first = make_follow_up(form, key, question_text=FIRST, id="q_first")
        make_follow_up_answer(form, key, first, "An hour")
        make_follow_up(form, key, depth=2, question_text="Not answered?", id="q_left")
        make_answer(form, key, 0, "It was cold")
        third = make_follow_up(form, key, depth=3, question_text=SECOND, id="q_third")
        make_follow_up_answer(form, key, third, "Monday")
        make_answer(form, key, 1, "Nobody")
        answering.complete_response(form.share_token, key, responder_name="", now=utc_now())
        return str(third.session_id)


def expected(form: Any) -> list[tuple[Any, ...]]:
    scripted, parent = form.questions[1], form.questions[0]["id"]
    return [
        ("q_first", FIRST, "An hour", "followup", parent),
        (parent, form.questions[0]["text"], "It was cold", "scripted", None),
        ("q_third", SECOND, "Monday", "followup", parent),
        (scripted["id"], scripted["text"], "Nobody", "scripted", None),
    ]


def told(answers: list[Any]) -> list[tuple[Any, ...]]:
    names = ("questionId", "questionText", "answerText", "questionKind", "parentQuestionId")
    return [tuple(each[name] for name in names) for each in answers]


def test_rest_and_tools_return_them_among_the_answers(
    app: Flask, agent: Agent, hosted: Hosted, form: Any, session_id: str
) -> None:
    host = hosted(form.account_id)
    pages = fragment_pages(host, form, session_id)
    body = agent.get(f"/forms/{form.id}/responses").json

    (session,) = body["responses"]
    assert session["sessionId"] == session_id
    assert told(session["answers"]) == expected(form)
    assert body["returnedAnswerCount"] == 4
    assert quoted(host, "get_form_responses", formId=form.id) == body
    assert told([each for page in pages for each in page["exchanges"]]) == expected(form)
    with app.app_context():
        counted = QuestionCounts(answered=1)
        assert read_questions(form.id) == {each["id"]: counted for each in form.questions}

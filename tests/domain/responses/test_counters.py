"""The counters equal counts of the rows after any order of steps."""

import random
import secrets
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from tests.databases import both_databases
from tests.factories import make_account, make_form
from tests.races.threads import together
from webapp.answers import answering
from webapp.base.database import db, utc_now
from webapp.base.errors import Outcome
from webapp.base.vocabulary import SessionStatus
from webapp.records.forms import Form
from webapp.records.responses import counters
from webapp.records.responses.models import Answer, ResponseSession, count_words

QUESTIONS = ["Who?", "What?", "Why?"]
ACTIONS = ("answer", "answer", "answer", "skip", "complete", "withdraw")
STEPS = 200


def act(form: Any, action: str, key: str, position: int, minutes: int) -> None:
    """One step of a respondent, some minutes from now; what is not allowed changes nothing."""
    now = utc_now() + timedelta(minutes=minutes)
    call: dict[str, Callable[[], object]] = {
        "answer": partial(
            answering.answer_question,
            form.share_token,
            key,
            position=position,
            answer_text=f"words {minutes}",
            answer_key=secrets.token_hex(16),
            now=now,
        ),
        "skip": partial(answering.skip_question, form.share_token, key, position=position, now=now),
        "complete": partial(
            answering.complete_response, form.share_token, key, responder_name="", now=now
        ),
        "withdraw": partial(answering.withdraw_response, form.share_token, key, now=utc_now()),
    }
    with suppress(Outcome):
        call[action]()
    db.session.rollback()


def counted(form_id: str) -> dict[str, Any]:
    """What the counters say, without the zeros."""
    db.session.rollback()
    form = db.session.get_one(Form, form_id, populate_existing=True)
    questions = counters.read_questions(form_id)
    days = select(counters.DayCount.day, counters.DayCount.completed).where(
        counters.DayCount.form_id == form_id
    )
    return {
        "started": form.started_count,
        "answered": form.answered_count,
        "completed": form.response_count,
        "answers": {key: found.answered for key, found in questions.items() if found.answered},
        "skips": {key: found.skipped for key, found in questions.items() if found.skipped},
        "days": {row.day: row.completed for row in db.session.execute(days) if row.completed},
    }


def recounted(form_id: str) -> dict[str, Any]:
    """The same from the rows of sessions and answers."""
    sessions = list(
        db.session.scalars(
            select(ResponseSession)
            .where(ResponseSession.form_id == form_id)
            .execution_options(populate_existing=True)
        )
    )
    completed = [each for each in sessions if each.status is SessionStatus.COMPLETED]
    answers = (
        select(Answer.question_id, func.count())
        .where(Answer.form_id == form_id, Answer.superseded.is_(False))
        .group_by(Answer.question_id)
    )
    return {
        "started": len(sessions),
        "answered": sum(1 for each in sessions if each.answer_count or each in completed),
        "completed": len(completed),
        "answers": {row[0]: row[1] for row in db.session.execute(answers)},
        "skips": dict(Counter(skip for each in sessions for skip in each.skipped)),
        "days": dict(
            Counter((each.completed_stamp or 0) // counters.DAY_MILLIS for each in completed)
        ),
    }


@both_databases
@pytest.mark.parametrize(("limit", "writers"), [("one", 8), ("multiple", 8), ("multiple", 1)])
def test_counters_equal_the_rows_after_any_steps(app: Flask, limit: str, writers: int) -> None:
    with app.app_context():
        form = make_form(make_account().id, questions=QUESTIONS, responseLimit=limit)

    together(app, [partial(act_at_random, form, seed, writers) for seed in range(writers)])

    with app.app_context():
        assert counted(form.id) == recounted(form.id)
        assert counted(form.id)["started"] > 0


def act_at_random(form: Any, seed: int, writers: int) -> None:
    """Two threads share each respondent's key."""
    chance = random.Random(seed)  # noqa: S311
    for _ in range(STEPS // writers):
        key = f"key-of-respondent-{chance.choice((seed // 2, seed // 2, 9))}"
        act(form, chance.choice(ACTIONS), key, chance.randrange(3), chance.randrange(5000))


@pytest.fixture
def form(app_context: None) -> Any:
    return make_form(make_account().id)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("one  two\nthree", 3),
        ("昨日はパンが焼けませんでした", 8),
        ("Schicht, gestern: ja!", 3),
    ],
)
def test_words_are_counted_in_scripts_with_and_without_spaces(text: str, words: int) -> None:
    assert count_words(text) == words

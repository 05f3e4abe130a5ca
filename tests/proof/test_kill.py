"""The server is killed while people answer: what it acknowledged is there, once."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import empty_postgresql_first
from tests.factories import make_account, make_form
from tests.proof.killing import Respondents, Target, kill_again_and_again
from webapp.base.database import db
from webapp.base.text import token_hash
from webapp.base.vocabulary import SessionStatus
from webapp.records.forms import Form
from webapp.records.responses.models import Answer, ResponseSession

THREE_QUESTIONS = ["Who changed it?", "What went wrong?", "What did you do?"]

rounds = pytest.mark.parametrize(
    ("kills", "answers"),
    [(5, 100), pytest.param(50, 10_000, marks=pytest.mark.prove)],
)


@pytest.fixture
def respondents(killed_app: Flask, empty_database_url: str, tmp_path: Path) -> Respondents:
    form = make_form(make_account().id, questions=THREE_QUESTIONS)
    variables = {
        "DATABASE_URL": empty_database_url,
        "ASKBACK_DATA": str(tmp_path),
        "LIMIT_ANSWER_ADDRESS": "1000000/minute",
    }
    return Respondents(Target(variables), form.share_token)


@empty_postgresql_first
@rounds
def test_killing_the_server_loses_and_doubles_nothing(
    respondents: Respondents, kills: int, answers: int
) -> None:
    killed = kill_again_and_again(respondents, kills=kills, answers=answers)

    report = (
        f"{killed} kills, {len(respondents.acknowledged)} answers, {respondents.repeats} repeats"
    )
    print(report)
    assert respondents.repeats > 0, report
    assert respondents.refusals == [], report
    assert lost(respondents) == ([], set()), report
    assert doubled() == [], report
    assert counted() == stored(), report


def lost(respondents: Respondents) -> tuple[list[Any], set[str]]:
    """Acknowledged answers and completions that are not in the database as they were sent."""
    there = {(row.key_hash, row.answer_key): row.answer_text for row in answers_stored()}
    answers = [
        (session, key)
        for (session, key), words in respondents.acknowledged.items()
        if there.get((token_hash(session), key)) != words
    ]
    finished = select(ResponseSession.key_hash).where(
        ResponseSession.status == SessionStatus.COMPLETED
    )
    completed = {token_hash(session) for session in respondents.completed}
    return answers, completed - set(db.session.scalars(finished))


def answers_stored() -> list[Any]:
    query = select(
        ResponseSession.key_hash, Answer.answer_key, Answer.answer_text, Answer.question_id
    ).join(ResponseSession, ResponseSession.id == Answer.session_id)
    return list(db.session.execute(query))


def doubled() -> list[Any]:
    """Questions answered twice in one session; nobody corrected an answer."""
    times = Counter((row.key_hash, row.question_id) for row in answers_stored())
    return [place for place, count in times.items() if count > 1]


def counted() -> tuple[int, int]:
    """What the form says: sessions completed, sessions with an answer."""
    form = db.session.scalars(select(Form).execution_options(populate_existing=True)).one()
    return form.response_count, form.answered_count


def stored() -> tuple[int, int]:
    sessions = db.session.execute(
        select(ResponseSession.status, ResponseSession.answer_count)
    ).all()
    completed = [session for session in sessions if session.status is SessionStatus.COMPLETED]
    return len(completed), sum(session.answer_count > 0 for session in sessions)

"""The byte count of a form's answers: raised, bounded and lowered."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from tests.databases import both_databases
from tests.factories import limit_form_bytes, make_account, make_form
from tests.races.threads import together
from webapp.answers import answering
from webapp.base.database import db, utc_now
from webapp.base.errors import StateConflict
from webapp.records.forms import get_form
from webapp.records.responses.models import Answer

KEY = "a" * 32

pytestmark = both_databases


@pytest.fixture
def form(app_context: None) -> Any:
    return make_form(make_account().id, questions=["Who?", "What?", "Why?"])


@pytest.fixture
def limit(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    def to(most: int) -> None:
        with app.app_context():
            limit_form_bytes(monkeypatch, most)

    return to


def give(form: Any, text: str, *, position: int = 0, key: str = KEY) -> None:
    answering.answer_question(
        form.share_token,
        key,
        position=position,
        answer_text=text,
        answer_key=f"{position} {text}",
        now=utc_now(),
    )


def size(form: Any) -> int:
    counted: int = get_form(form.account_id, form.id).answer_bytes
    return counted


def refusal(form: Any, text: str, **given: Any) -> str:
    with pytest.raises(StateConflict) as caught:
        give(form, text, **given)
    return caught.value.code


def test_every_stored_text_counts_in_bytes(form: Any) -> None:
    give(form, "Zoë")
    give(form, "\U0001f600", position=1)
    give(form, "other words")
    give(form, "other words")
    answering.skip_question(form.share_token, KEY, position=1, now=utc_now())

    assert size(form) == (4 + 4) + (4 + 5) + (11 + 4)  # each with the text of its question


def test_a_long_question_counts_with_each_answer(app_context: None, limit: Any) -> None:
    limit(400_002)
    form = make_form(make_account().id, questions=["Q" * 200_000])
    give(form, "x")
    give(form, "x", key="b" * 32)

    assert refusal(form, "x", key="c" * 32) == "form_full"
    answering.withdraw_response(form.share_token, KEY, now=utc_now())
    assert size(form) == 200_001
    give(form, "x", key="c" * 32)


def test_a_form_accepts_answers_up_to_the_last_byte(form: Any, limit: Any) -> None:
    limit(17)
    give(form, "four")
    give(form, "more", position=1)

    assert refusal(form, "x", position=2) == "form_full"
    assert size(form) == 17


def test_a_refused_first_answer_stores_no_session(form: Any, limit: Any) -> None:
    limit(8)
    assert refusal(form, "12345") == "form_full"
    now = get_form(form.account_id, form.id)
    assert (now.answer_bytes, now.started_count, now.answered_count) == (0, 0, 0)
    give(form, "1234")


def test_concurrent_answers_do_not_exceed_the_limit(app: Flask, limit: Any) -> None:
    limit(25)
    with app.app_context():
        form = make_form(make_account().id, questions=["Who?"])

    def write(number: int) -> bool:
        try:
            give(form, "four", key=str(number) * 32)
        except StateConflict:
            db.session.rollback()
            return False
        return True

    stored = together(app, [lambda number=number: write(number) for number in range(8)])

    with app.app_context():
        assert sum(stored) == db.session.scalar(select(func.count()).select_from(Answer)) == 3
        assert size(form) == 3 * (4 + 4)

"""Answering: what is stored, corrected and refused."""

import secrets
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from tests.bulk import dump
from tests.databases import both_databases
from tests.factories import limit_form_bytes, make_account, make_form, make_response
from tests.races.threads import together
from webapp.answers import answering
from webapp.answers.answering import NewAnswer, store_answer
from webapp.answers.session import QuestionNumber, read_open_session
from webapp.base.database import db, utc_now
from webapp.base.errors import StateConflict
from webapp.base.vocabulary import FormStatus
from webapp.records.forms import close_form, get_form
from webapp.records.responses.cursor import read_responses
from webapp.records.responses.models import Answer, AnswerRow

KEY = "a" * 32

pytestmark = pytest.mark.usefixtures("app_context")


@pytest.fixture
def form(app_context: None) -> Any:
    return make_form(make_account().id, questions=["Who?", "What?", "Why?"])


def now_of(form: Any) -> Any:
    """The current row of the form."""
    return get_form(form.account_id, form.id)


def answers(form: Any, since: int | None = None) -> list[AnswerRow]:
    page = read_responses(now_of(form), since)
    return [answer for entry in page.sessions for answer in entry.answers]


def give(
    form: Any, text: str, *, position: int = 0, answer_key: str = "", key: str = KEY
) -> int | None:
    session = answering.answer_question(
        form.share_token,
        key,
        position=position,
        answer_text=text,
        answer_key=answer_key or secrets.token_urlsafe(16),
        now=utc_now(),
    ).session
    place = session.steps.next_place(QuestionNumber(position + 1))
    return place and place.number - 1


def complete(form: Any, name: str = "", key: str = KEY) -> bool:
    done = answering.complete_response(form.share_token, key, responder_name=name, now=utc_now())
    return done is not None


@both_databases
def test_a_session_that_has_changed_stores_nothing(form: Any) -> None:
    give(form, "Me")
    state, question = read_open_session(form.share_token, KEY), form.questions[0]
    give(form, "Mira")
    before = dump()

    again = NewAnswer(question["id"], question["text"], "Robin", "render-3")
    assert store_answer(state, again, now=utc_now()) is None
    assert dump() == before


def test_a_late_repeat_does_not_undo_a_correction(form: Any) -> None:
    give(form, "Me", answer_key="render-1")
    give(form, "Mira", answer_key="render-2")

    give(form, "Me", answer_key="render-1")

    assert [answer.answer_text for answer in answers(form)] == ["Mira"]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  Sam   Okafor ", "Sam Okafor"),
        ("a\u202eb\u2066c\0d\x1be", "abcde"),
        ("ශ්\u200dරී 👩\u200d🚀", "ශ්\u200dරී 👩\u200d🚀"),
        (" \u200d\u202e\u200b ", None),  # nothing of it can be seen
    ],
)
def test_a_name_is_one_line_of_visible_characters(form: Any, typed: str, kept: str | None) -> None:
    give(form, "Me")
    complete(form, typed)

    assert read_responses(now_of(form), None).sessions[0].session.responder_name == kept


def test_withdrawing_from_a_closed_form_leaves_it_closed(app_context: None) -> None:
    single = make_form(make_account().id, responseLimit="one")
    key = make_response(single)
    close_form(single.account_id, single.id, now=utc_now())

    answering.withdraw_response(single.share_token, key, now=utc_now())

    assert now_of(single).status is FormStatus.CLOSED


@pytest.fixture
def limit(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    def to(most: int) -> None:
        with app.app_context():
            limit_form_bytes(monkeypatch, most)

    return to


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

    assert now_of(form).answer_bytes == (4 + 4) + (4 + 5) + (
        11 + 4
    )  # each with the text of its question


@both_databases
def test_a_form_accepts_answers_up_to_the_last_byte(form: Any, limit: Any) -> None:
    limit(17)
    give(form, "four")
    give(form, "more", position=1)

    assert refusal(form, "x", position=2) == "form_full"
    assert now_of(form).answer_bytes == 17


@both_databases
def test_a_refused_first_answer_stores_no_session(form: Any, limit: Any) -> None:
    limit(8)
    assert refusal(form, "12345") == "form_full"
    now = now_of(form)
    assert (now.answer_bytes, now.started_count, now.answered_count) == (0, 0, 0)
    give(form, "1234")


@both_databases
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
        assert now_of(form).answer_bytes == 3 * (4 + 4)

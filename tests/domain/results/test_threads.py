"""Answers with what was asked because of them, and what of them is unread."""

from typing import Any

import pytest
from sqlalchemy import select

from tests.databases import both_databases
from tests.factories import (
    make_account,
    make_answer,
    make_follow_up,
    make_follow_up_answer,
    make_form as made_form,
    make_response,
)
from webapp.answers import reading
from webapp.answers.reading import first_answers, follow_ups_of, get_response
from webapp.answers.results import Filters, find_answers, newest_answers
from webapp.answers.trash import delete_response
from webapp.base.database import db, utc_now
from webapp.base.text import token_hash
from webapp.records import forms
from webapp.records.responses.models import ResponseSession

pytestmark = [pytest.mark.usefixtures("app_context"), both_databases]
KEY, OTHER = "k" * 32, "o" * 32


@pytest.fixture
def form() -> Any:
    return made_form(make_account().id, followUpMode="deep_dive")


def ask(form: Any, key: str = KEY, position: int = 0, **changed: Any) -> Any:
    asked = make_follow_up(form, key, position, **changed)
    db.session.commit()
    return asked


def ask_and_answer(form: Any, text: str, key: str = KEY, position: int = 0, **changed: Any) -> Any:
    asked = ask(form, key, position, **changed)
    make_follow_up_answer(form, key, asked, text)
    return asked


def words(parts: list[Any]) -> list[str | None]:
    return [part.answer and part.answer.answer_text for part in parts]


class TestSearching:
    def test_the_words_of_a_follow_up_lead_to_the_answer_above_it(self, form: Any) -> None:
        make_answer(form, KEY, text="above")
        ask_and_answer(form, "the needle")
        ask_and_answer(form, "a needle too", depth=2)
        make_answer(form, OTHER, text="elsewhere")

        found = find_answers(form.id, Filters("needle"), before=None).answers
        shown = first_answers(found)

        assert len(found) == 2
        assert [answer.answer_text for answer in shown] == ["above"]
        assert words(follow_ups_of(form, shown)[shown[0].id]) == ["the needle", "a needle too"]


def fresh(form: Any) -> Any:
    return forms.get_form(form.account_id, form.id)


def respond(form: Any, name: str = "") -> str:
    """The id of a new completed response."""
    return session_of(make_response(form, name=name))


def session_of(key: str) -> str:
    db.session.rollback()
    query = select(ResponseSession.id).where(ResponseSession.key_hash == token_hash(key))
    found: str = db.session.scalars(query).one()
    return found


def read(form: Any, session_id: str) -> None:
    reading.mark_read(form.account_id, form.id, session_id, fresh(form).last_stamp)


def unread_of(form: Any) -> int:
    return reading.count_unread([form.id])[form.id]


def test_all_are_read_at_once_up_to_what_the_page_showed(form: Any) -> None:
    respond(form)
    shown = fresh(form).last_stamp
    later = respond(form)

    reading.mark_all_read(form.account_id, form.id, shown)

    assert unread_of(form) == 1
    assert reading.next_unread(fresh(form)) == later


@pytest.mark.parametrize("stamp", [0, 9_999_999_999_999])
def test_a_stamp_that_no_page_showed_marks_nothing(form: Any, stamp: int) -> None:
    reading.mark_all_read(form.account_id, form.id, fresh(form).last_stamp)
    respond(form)

    reading.mark_all_read(form.account_id, form.id, stamp)

    assert unread_of(form) == 1


def test_what_somebody_corrects_after_it_was_read_is_new(form: Any) -> None:
    key = make_response(form)
    read(form, session_of(key))

    make_answer(form, "another".ljust(32))
    form_now = fresh(form)
    shown = newest_answers(form_now)[form.questions[0]["id"]].answers

    assert [each.is_new(form_now.seen_stamp) for each in shown] == [True, False]


def test_a_response_that_is_deleted_just_now_is_neither_counted_nor_next(form: Any) -> None:
    kept, deleted = respond(form), respond(form)

    delete_response(form.account_id, form.id, deleted, now=utc_now())

    assert unread_of(form) == 1
    assert reading.next_unread(fresh(form)) == kept
    assert get_response(fresh(form), kept).newer is None

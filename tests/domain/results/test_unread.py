"""What a creator has read, response by response and all at once."""

from typing import Any

import pytest
from sqlalchemy import select

from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form, make_response
from webapp.answers import answering
from webapp.answers.by_question import newest_answers
from webapp.answers.deleted_responses import delete_response
from webapp.answers.one_response import get_response
from webapp.answers.unread import (
    count_unread,
    mark_all_read,
    mark_read,
    next_unread,
)
from webapp.base.database import db, utc_now
from webapp.base.text import token_hash
from webapp.records import forms
from webapp.records.responses.models import ResponseSession

pytestmark = [both_databases, pytest.mark.usefixtures("app_context")]


@pytest.fixture
def form() -> Any:
    return make_form(make_account().id)


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
    mark_read(form.account_id, form.id, session_id, fresh(form).last_stamp)


def unread_of(form: Any) -> int:
    return count_unread([form.id])[form.id]


def test_all_are_read_at_once_up_to_what_the_page_showed(form: Any) -> None:
    respond(form)
    shown = fresh(form).last_stamp
    later = respond(form)

    mark_all_read(form.account_id, form.id, shown)

    assert unread_of(form) == 1
    assert next_unread(fresh(form)) == later


@pytest.mark.parametrize("stamp", [0, 9_999_999_999_999])
def test_a_stamp_that_no_page_showed_marks_nothing(form: Any, stamp: int) -> None:
    mark_all_read(form.account_id, form.id, fresh(form).last_stamp)
    respond(form)

    mark_all_read(form.account_id, form.id, stamp)

    assert unread_of(form) == 1


def test_what_somebody_corrects_after_it_was_read_is_new(form: Any) -> None:
    key = make_response(form)
    read(form, session_of(key))

    make_answer(form, "another".ljust(32))
    form_now = fresh(form)
    shown = newest_answers(form_now)[form.questions[0]["id"]].answers

    assert [each.is_new(form_now.seen_stamp) for each in shown] == [True, False]


def test_a_withdrawn_response_is_not_counted(form: Any) -> None:
    keys = [make_response(form) for _ in range(2)]

    answering.withdraw_response(form.share_token, keys[1], now=utc_now())

    assert unread_of(form) == 1


def test_a_response_that_is_deleted_just_now_is_neither_counted_nor_next(form: Any) -> None:
    kept, deleted = respond(form), respond(form)

    delete_response(form.account_id, form.id, deleted, now=utc_now())

    assert unread_of(form) == 1
    assert next_unread(fresh(form)) == kept
    assert get_response(fresh(form), kept).newer is None

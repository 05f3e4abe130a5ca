"""Concurrent respondents: repeated posts, many completions, and a form that closes."""

import secrets
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from tests.races.threads import outcome, together
from webapp.answers.answering import (
    answer_question,
    complete_response,
    withdraw_response,
)
from webapp.answers.device_transfer import claim_session_key, create_transfer_link, is_link_usable
from webapp.answers.steps import QuestionNumber
from webapp.base.database import db, utc_now
from webapp.records.forms import Form, close_form
from webapp.records.responses.models import Answer, ResponseSession

KEY = "a" * 32

pytestmark = both_databases


def published(app: Flask, **fields: Any) -> Any:
    with app.app_context():
        return make_form(make_account().id, **fields)


def answer(form: Any, text: str, *, position: int = 0, answer_key: str = "") -> Callable[[], Any]:
    return partial(
        answer_question,
        form.share_token,
        KEY,
        position=position,
        answer_text=text,
        answer_key=answer_key or secrets.token_urlsafe(16),
        now=utc_now(),
    )


def count(app: Flask, *conditions: Any, of: Any = Answer) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count()).select_from(of).where(*conditions)) or 0


def form_now(app: Flask, form: Any) -> Form:
    with app.app_context():
        return db.session.get_one(Form, form.id)


def test_two_tabs_with_the_same_words_and_one_with_others_leave_the_others(app: Flask) -> None:
    form = published(app)
    together(app, [answer(form, "Me")])

    together(app, [answer(form, "Me"), answer(form, "Mira"), answer(form, "Me")])

    current = count(app, Answer.superseded.is_(False))
    assert current == 1
    assert 2 <= count(app) <= 3  # a "Me" that came behind "Mira" is new
    assert form_now(app, form).answered_count == 1


def test_first_answers_at_once_make_one_session(app: Flask) -> None:
    form = published(app, questions=[f"Question {number}?" for number in range(8)])

    together(app, [answer(form, "Me", position=position) for position in range(8)])

    assert count(app, of=ResponseSession) == 1
    assert count(app) == 8
    assert form_now(app, form).answered_count == 1


def test_one_answer_key_eight_times_at_once_stores_one_answer(app: Flask) -> None:
    form = published(app)

    following = together(app, [answer(form, "Me", answer_key="render-1")] * 8)

    assert {each.session.steps.next_place() for each in following} == {QuestionNumber(2)}
    assert (count(app, of=ResponseSession), count(app)) == (1, 1)


def test_fifty_concurrent_completions_of_a_form_for_one_leave_one(app: Flask) -> None:
    form = published(app, responseLimit="one")
    keys = [secrets.token_urlsafe(24) for _ in range(50)]
    with app.app_context():
        for key in keys:
            make_answer(form, key)

    results = together(
        app,
        [
            outcome(
                partial(complete_response, form.share_token, key, responder_name="", now=utc_now())
            )
            for key in keys
        ],
    )

    assert Counter(results) == {"[]": 1, "form_completed": 49}
    assert form_now(app, form).response_count == 1


def test_a_link_used_eight_times_at_once_serves_one_device(app: Flask) -> None:
    form = published(app)
    with app.app_context():
        make_answer(form, KEY)
        secret = create_transfer_link(form.share_token, KEY, now=utc_now())
    claims = [secrets.token_urlsafe(16) for _ in range(8)]

    keys = together(
        app,
        [
            partial(claim_session_key, form.share_token, secret, claim, now=utc_now())
            for claim in claims
        ],
    )

    assert Counter(keys) == {KEY: 1, None: 7}


def test_links_made_at_once_leave_one_that_works(app: Flask) -> None:
    form = published(app)
    with app.app_context():
        make_answer(form, KEY)
    offer = partial(create_transfer_link, form.share_token, KEY, now=utc_now())

    secrets_made = together(app, [offer] * 8)

    with app.app_context():
        working = [is_link_usable(form.share_token, made, now=utc_now()) for made in secrets_made]
    assert sum(working) == 1


def test_sending_and_withdrawing_eight_times_at_once_happen_once(app: Flask) -> None:
    form = published(app, responseLimit="one")
    with app.app_context():
        make_answer(form, KEY)
    send = partial(complete_response, form.share_token, KEY, responder_name="", now=utc_now())
    withdraw = partial(withdraw_response, form.share_token, KEY, now=utc_now())

    sent = together(app, [send] * 8)
    assert (sent.count([]), sent.count(None)) == (1, 7)
    assert form_now(app, form).response_count == 1
    assert Counter(together(app, [withdraw] * 8)) == {True: 1, False: 7}
    after = form_now(app, form)
    assert (after.response_count, after.answered_count, after.status) == (0, 0, "published")


@pytest.mark.parametrize("attempt", range(5))
@pytest.mark.parametrize("withdraws", [True, False])
def test_an_answer_beside_closing_or_withdrawing_is_stored_or_refused(
    app: Flask, attempt: int, *, withdraws: bool
) -> None:
    form = published(app)
    with app.app_context():
        for _ in range(withdraws):
            make_answer(form, KEY)
    withdraw = partial(withdraw_response, form.share_token, KEY, now=utc_now())
    close = partial(close_form, form.account_id, form.id, now=utc_now())
    corrections = [outcome(answer(form, f"version {n}", position=withdraws)) for n in range(4)]

    answered = together(app, [*corrections, withdraw if withdraws else close])[:4]

    assert set(answered) <= {"0", "1", "None", "form_closed"}
    stored = count(app, Answer.superseded.is_(False))
    assert stored <= 1 + withdraws
    sessions = count(app, ResponseSession.answer_count > 0, of=ResponseSession)
    after = form_now(app, form)
    assert (after.answered_count, after.status) == (
        sessions,
        "published" if withdraws else "closed",
    )

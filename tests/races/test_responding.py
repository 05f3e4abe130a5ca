"""Concurrent respondents: repeated posts, many completions, and a form that closes."""

import secrets
from collections import Counter
from functools import partial
from typing import Any

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from tests.races.threads import KEY, answer, by_creator, outcome, rows, send, together, withdraw
from webapp.answers.device_transfer import claim_session_key, create_transfer_link
from webapp.base.database import db, utc_now
from webapp.records.forms import Form, close_form
from webapp.records.responses.models import Answer, ResponseSession

pytestmark = both_databases


def published(app: Flask, *answered: str, **fields: Any) -> Any:
    """A form that these keys have answered."""
    with app.app_context():
        form = make_form(make_account().id, **fields)
        for key in answered:
            make_answer(form, key)
        return form


def form_now(app: Flask, form: Any) -> Form:
    with app.app_context():
        return db.session.get_one(Form, form.id)


def test_two_tabs_with_the_same_words_and_one_with_others_leave_the_others(app: Flask) -> None:
    form = published(app)
    together(app, [answer(form, "Me")])

    together(app, [answer(form, "Me"), answer(form, "Mira"), answer(form, "Me")])

    assert rows(app, Answer, Answer.superseded.is_(False)) == 1
    assert 2 <= rows(app, Answer) <= 3  # a "Me" that came behind "Mira" is new
    assert form_now(app, form).answered_count == 1


def test_first_answers_at_once_make_one_session(app: Flask) -> None:
    form = published(app, questions=[f"Question {number}?" for number in range(8)])

    together(app, [answer(form, "Me", position=position) for position in range(8)])

    assert (rows(app, ResponseSession), rows(app, Answer)) == (1, 8)
    assert form_now(app, form).answered_count == 1


def test_fifty_concurrent_completions_of_a_form_for_one_leave_one(app: Flask) -> None:
    keys = [secrets.token_urlsafe(24) for _ in range(50)]
    form = published(app, *keys, responseLimit="one")

    results = together(app, [outcome(send(form, key=key)) for key in keys])

    assert Counter(results) == {"[]": 1, "form_completed": 49}
    assert form_now(app, form).response_count == 1


def test_a_link_used_eight_times_at_once_serves_one_device(app: Flask) -> None:
    form = published(app, KEY)
    with app.app_context():
        secret = create_transfer_link(form.share_token, KEY, now=utc_now())
    claim = partial(claim_session_key, form.share_token, secret, now=utc_now())

    keys = together(app, [partial(claim, secrets.token_urlsafe(16)) for _ in range(8)])

    assert Counter(keys) == {KEY: 1, None: 7}


def test_sending_and_withdrawing_eight_times_at_once_happen_once(app: Flask) -> None:
    form = published(app, KEY, responseLimit="one")

    sent = together(app, [send(form)] * 8)
    assert (sent.count([]), sent.count(None)) == (1, 7)
    assert form_now(app, form).response_count == 1
    assert Counter(together(app, [withdraw(form)] * 8)) == {True: 1, False: 7}
    after = form_now(app, form)
    assert (after.response_count, after.answered_count, after.status) == (0, 0, "published")


@pytest.mark.parametrize("attempt", range(5))
@pytest.mark.parametrize("withdraws", [True, False])
def test_an_answer_alongside_closing_or_withdrawing_is_stored_or_refused(
    app: Flask, attempt: int, *, withdraws: bool
) -> None:
    form = published(app, *[KEY] * withdraws)
    corrections = [outcome(answer(form, f"version {n}", position=withdraws)) for n in range(4)]
    end = withdraw(form) if withdraws else by_creator(close_form, form)

    answered = together(app, [*corrections, end])[:4]

    assert set(answered) <= {"0", "1", "None", "form_closed"}
    assert rows(app, Answer, Answer.superseded.is_(False)) <= 1 + withdraws
    after = form_now(app, form)
    sessions = rows(app, ResponseSession, ResponseSession.answer_count > 0)
    status = "published" if withdraws else "closed"
    assert (after.answered_count, after.status) == (sessions, status)

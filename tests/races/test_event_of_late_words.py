"""Words written down beside another answer of the session, and beside its completion."""

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.domain.voice.claims import answer_with, make_waiting, stored
from tests.event_factories import make_subscription
from tests.factories import make_answer, make_form
from tests.races.threads import together
from webapp.answers.answering import complete_response
from webapp.answers.late_transcripts import conclude
from webapp.base.database import db, utc_now
from webapp.records.accounts.models import Account
from webapp.records.events import EventDelivery
from webapp.records.responses.models import Answer, ResponseSession
from webapp.voice.transcripts import Claimed, claim, settle_written

WORDS, TYPED = "Ben swapped it.", "It was Ann."

pytestmark = [
    both_databases,
    pytest.mark.parametrize("rounds", [8, pytest.param(300, marks=pytest.mark.prove)]),
]


def spoken(account: Account) -> tuple[Any, str, Claimed]:
    """A form with an answer that is a recording alone, its session key, and who writes it down."""
    form, key = make_form(account.id), secrets.token_urlsafe(24)
    make_subscription(form)
    make_answer(form, key)
    recording = make_waiting(form, key)
    answer_with(recording, key)
    held = claim(now=utc_now())
    assert held
    assert held.id == recording
    return form, key, held


def write_down(held: Claimed) -> None:
    settle_written(held, WORDS, now=utc_now())
    conclude(held.id, now=utc_now())


def complete(form: Any, key: str) -> None:
    complete_response(form.share_token, key, responder_name="", now=utc_now())


def answer_another(form: Any, key: str) -> None:
    make_answer(form, key, position=1, text=TYPED)


def current(form: Any) -> list[str]:
    """The texts of the current answers, which are those that the session names."""
    kept = select(Answer).where(Answer.form_id == form.id, Answer.superseded.is_(False))
    found = db.session.scalars(kept.order_by(Answer.answer_text)).all()
    sessions = select(ResponseSession.answered).where(ResponseSession.form_id == form.id)
    assert set(db.session.scalars(sessions).one().values()) == {each.id for each in found}
    return [each.answer_text for each in found]


@pytest.mark.parametrize(
    ("beside", "texts"), [(answer_another, [WORDS, TYPED]), (complete, [WORDS])]
)
def test_the_words_are_stored_and_an_event_that_waits_for_them_is_due(
    app: Flask, account: Account, rounds: int, beside: Callable[..., None], texts: list[str]
) -> None:
    for _ in range(rounds):
        with app.app_context():
            form, key, held = spoken(account)
        together(app, [partial(write_down, held), partial(beside, form, key)])
        with app.app_context():
            assert current(form) == texts
            mine = select(EventDelivery.next_at).where(EventDelivery.form_id == form.id)
            due = list(db.session.scalars(mine))
            assert len(due) == (beside is complete)
            assert all(each <= utc_now() for each in due)
            assert stored(held.id).next_at is None

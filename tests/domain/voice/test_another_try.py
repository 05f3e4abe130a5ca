"""A creator has a recording that failed written down once more."""

from typing import Any

import pytest
from flask import Flask

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.voice.claims import HOST, answer_with, make_waiting, state_of
from tests.factories import make_account, make_answer, make_form
from webapp.base.database import db
from webapp.base.errors import NotFound, StateConflict
from webapp.base.vocabulary import TranscriptState
from webapp.records.accounts.models import Account
from webapp.records.responses.models import Answer
from webapp.voice.transcripts import claim, try_again

KEY = "k" * 24
FAILED = TranscriptState.FAILED


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(account.id)


def failed(form: Any, **changed: Any) -> str:
    make_answer(form, KEY)
    given = {"transcript_state": FAILED, "attempts": 3, "next_at": None}
    recording = make_waiting(form, KEY, **given | changed)
    answer_with(recording, KEY)
    return recording


@both_databases
def test_it_gets_all_attempts_again(app: Flask, form: Any, clock: Clock) -> None:
    with app.app_context():
        recording = failed(form)
        for _ in range(2):
            named = try_again(form.account_id, form.id, recording, transcriber=HOST, now=clock.now)

        assert named == recording
        assert state_of(recording) == (TranscriptState.WAITING, 0, clock.now)
        held = claim(now=clock.now)
        assert held
        assert held.attempts == 1


def test_a_host_that_its_page_did_not_name_gets_nothing(
    app: Flask, form: Any, clock: Clock
) -> None:
    with app.app_context():
        recording = failed(form)
        for transcriber in ("other.example.org", ""):
            with pytest.raises(StateConflict, match=HOST) as caught:
                try_again(
                    form.account_id, form.id, recording, transcriber=transcriber, now=clock.now
                )
            assert caught.value.code == "transcriber_changed"

        assert state_of(recording) == (FAILED, 3, None)


def test_what_did_not_fail_stays(app: Flask, form: Any, clock: Clock) -> None:
    with app.app_context():
        recording = failed(form, transcript_state=TranscriptState.DONE)
        with pytest.raises(StateConflict) as caught:
            try_again(form.account_id, form.id, recording, transcriber=HOST, now=clock.now)

        assert caught.value.code == "transcript_settled"


def test_others_and_those_of_no_current_answer_are_not_found(
    app: Flask, form: Any, clock: Clock
) -> None:
    with app.app_context():
        recording = failed(form)
        other, unclaimed = make_account(), make_waiting(form, transcript_state=FAILED)
        elsewhere = make_form(form.account_id)
        tries = [
            (other.id, form.id, recording),
            (form.account_id, elsewhere.id, recording),
            (form.account_id, form.id, unclaimed),
            (form.account_id, form.id, "att_unknown"),
        ]
        for account_id, form_id, attachment_id in tries:
            with pytest.raises(NotFound):
                try_again(account_id, form_id, attachment_id, transcriber=HOST, now=clock.now)
        db.session.execute(Answer.__table__.update().values(superseded=True))
        db.session.commit()
        with pytest.raises(NotFound):
            try_again(form.account_id, form.id, recording, transcriber=HOST, now=clock.now)

"""Counting what engines and models get at the same moment, and beside a withdrawal."""

import secrets
import threading
import time
from functools import partial
from typing import Any

from flask import Flask

from tests.databases import both_databases, on_postgresql
from tests.domain.voice.claims import answer_with, make_waiting
from tests.factories import make_answer, make_form
from tests.races.threads import each_statement, together
from webapp.answers.answering import complete_response, withdraw_response
from webapp.base.database import utc_now
from webapp.records.accounts.models import Account
from webapp.records.responses.counters import spend_model_call, spend_transcription
from webapp.voice.transcripts import claim, spend_minutes


@on_postgresql
def test_a_day_that_is_spent_and_a_withdrawal_do_not_wait_for_each_other(
    app: Flask, account: Account
) -> None:
    key = secrets.token_urlsafe(24)
    with app.app_context():
        form = make_form(account.id)
        share_token = form.share_token
        make_answer(form, key)
        answer_with(make_waiting(form, key), key)
        complete_response(share_token, key, responder_name="", now=utc_now())
        claimed = claim(now=utc_now())
        assert claimed
        held = claimed._replace(duration_ms=60_000)
        assert spend_minutes(held, of_form=1, of_server=9, now=utc_now())

    def spend() -> None:
        with app.app_context():
            assert not spend_minutes(held, of_form=1, of_server=9, now=utc_now())

    spending = threading.Thread(target=spend)
    deadlocks: list[Any] = []

    def begin(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("DELETE FROM recordings") and not spending.ident:
            spending.start()
            time.sleep(0.5)

    with (
        each_statement(app, "after_cursor_execute", begin),
        each_statement(app, "handle_error", lambda context: deadlocks.append(context)),
        app.app_context(),
    ):
        assert withdraw_response(share_token, key, now=utc_now())
        spending.join()

    assert deadlocks == []


@both_databases
def test_no_share_is_passed_by_many_at_once(app: Flask, account: Account) -> None:
    with app.app_context():
        form = make_form(account.id)
    of = {"of_form": 40, "of_server": 100, "now": utc_now()}
    unclaimed = partial(spend_transcription, form.id, "a", 60_000, claimed=False, **of)

    assert together(app, [unclaimed] * 12).count(True) == 2
    assert together(app, [partial(spend_model_call, form.id, "a", **of)] * 12).count(True) == 4
    claims = [
        partial(spend_transcription, form.id, who, 60_000 * 5, claimed=True, **of) for who in "bcde"
    ]
    assert together(app, claims * 3).count(True) == 7  # of 38 minutes that are left

"""Counting what engines and models get at the same moment."""

from functools import partial

from flask import Flask

from tests.databases import both_databases
from tests.factories import make_form
from tests.races.threads import together
from webapp.base.database import utc_now
from webapp.records.accounts.models import Account
from webapp.records.responses.counters import spend_model_call, spend_transcription


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

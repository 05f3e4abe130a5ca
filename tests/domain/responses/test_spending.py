"""The shares of a day: what an address, unclaimed recordings, a form and the server may spend."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.factories import make_form
from webapp.base.database import db
from webapp.records.accounts.models import Account
from webapp.records.responses.counters import (
    DaySpending,
    purge_spending,
    spend_model_call,
    spend_other_call,
    spend_transcription,
)

MINUTE = 60_000
NOW = datetime(2026, 11, 22, 22, 0, tzinfo=UTC)
OF_FORM, OF_SERVER = 40, 200

pytestmark = both_databases


@pytest.fixture
def forms(app: Flask, account: Account) -> Any:
    with app.app_context():
        yield [make_form(account.id) for _ in range(6)]


def minutes(form: Any, address: str | None, *, claimed: bool, now: datetime = NOW) -> bool:
    return spend_transcription(
        form.id, address, MINUTE, claimed=claimed, of_form=OF_FORM, of_server=OF_SERVER, now=now
    )


def call(form: Any, address: str) -> bool:
    return spend_model_call(form.id, address, of_form=OF_FORM, of_server=OF_SERVER, now=NOW)


def most(spend: Callable[[], bool]) -> int:
    """How often it succeeds, of more times than anything allows."""
    return [spend() for _ in range(OF_SERVER + 1)].count(True)


@pytest.mark.parametrize(
    ("claimed", "of_address", "of_all"), [(False, OF_FORM // 20, OF_FORM // 4), (True, 20, OF_FORM)]
)
def test_minutes_of_one_address_leave_some_of_its_form(
    forms: Any, *, claimed: bool, of_address: int, of_all: int
) -> None:
    spent = [most(partial(minutes, forms[0], who, claimed=claimed)) for who in "abcdefgh"]

    assert (spent[0], sum(spent)) == (of_address, of_all)


def test_unclaimed_recordings_leave_the_rest_to_answers(forms: Any) -> None:
    for who in "abcdef":
        most(partial(minutes, forms[0], who, claimed=False))

    left = sum(most(partial(minutes, forms[0], who, claimed=True)) for who in "abg")
    assert left == OF_FORM * 3 // 4


@pytest.mark.parametrize(
    ("claimed", "address", "of_all"),
    [(False, "a", OF_FORM // 20), (True, "a", OF_SERVER // 4), (True, None, OF_SERVER)],
)
def test_one_address_leaves_some_of_the_server(
    forms: Any, *, claimed: bool, address: str | None, of_all: int
) -> None:
    """That of a recording which its creator has tried once more is forgotten."""
    assert sum(most(partial(minutes, form, address, claimed=claimed)) for form in forms) == of_all


def test_unclaimed_recordings_leave_some_of_the_server(forms: Any) -> None:
    spends = [
        partial(minutes, form, f"{form.id}{n}", claimed=False) for form in forms for n in "abcdef"
    ]

    assert sum(map(most, spends)) == OF_SERVER // 4


def test_a_share_that_is_used_up_takes_nothing_from_the_others(forms: Any) -> None:
    most(partial(minutes, forms[0], "a", claimed=False))

    spent = {row.share: row.spent for row in db.session.query(DaySpending)}
    assert set(spent.values()) == {OF_FORM // 20 * MINUTE}


def test_a_day_is_forgotten_on_the_next_one(forms: Any) -> None:
    most(partial(minutes, forms[0], "a", claimed=False))
    tomorrow = NOW + timedelta(hours=2)
    assert sum(purge_spending(NOW)) == 0

    assert minutes(forms[0], "a", claimed=False, now=tomorrow)
    assert sum(purge_spending(tomorrow)) == 5
    assert db.session.query(DaySpending).count() == 5


def test_calls_of_one_address_leave_the_rest_to_others(forms: Any) -> None:
    spent = [most(partial(call, form, "a")) for form in forms]
    assert sum(spent) == OF_FORM // 10

    assert sum(most(partial(call, forms[0], who)) for who in "bcdefghijklm") == OF_FORM - spent[0]


def test_all_forms_share_the_calls_of_the_server(forms: Any) -> None:
    """Those of creators who try their drafts count, too."""
    assert most(partial(spend_other_call, of_server=OF_SERVER - 2, now=NOW)) == OF_SERVER - 2

    assert [call(forms[0], "a"), call(forms[1], "b"), call(forms[2], "c")] == [True, True, False]

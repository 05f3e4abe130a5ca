"""Whoever waits for a form is told of everything that changes what they may see of it."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from tests.races.threads import KEY, by_creator, send, skip, withdraw
from webapp.answers import trash
from webapp.base.database import note_change, utc_now, write_transaction
from webapp.records import forms

pytestmark = pytest.mark.usefixtures("app_context")


@pytest.fixture
def told(app: Flask, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(app.extensions["wakeups"], "wake", found.append)
    return found


def answer(form: Any, text: str = "Ann") -> None:
    make_answer(form, KEY, text=text)


def done(call: Callable[[Any], Callable[[], Any]]) -> Callable[[Any], None]:
    """What a respondent or the creator does, at once."""
    return lambda form: call(form)() and None


def purge(_form: Any) -> None:
    assert sum(trash.purge_deleted(utc_now() + timedelta(days=60)))


close, reopen, throw_away, restore, erase = (
    done(partial(by_creator, each))
    for each in (
        *(forms.close_form, forms.reopen_form),
        *(trash.delete_form, trash.restore_form, trash.erase_form),
    )
)
# what happens before, and what is then told
CHANGES: dict[str, tuple[tuple[Callable[[Any], None], ...], Callable[[Any], None]]] = {
    "answer": ((), answer),
    "take back": ((answer,), done(skip)),
    "complete": ((answer,), done(send)),
    "withdraw": ((answer, done(send)), done(withdraw)),
    "close": ((), close),
    "reopen": ((close,), reopen),
    "throw away": ((), throw_away),
    "purge": ((throw_away, erase), purge),
}


@both_databases
@pytest.mark.parametrize("case", CHANGES)
def test_a_change_of_a_form_wakes_after_the_commit(case: str, told: list[str]) -> None:
    form = make_form(make_account().id)
    befores, change = CHANGES[case]
    for before in befores:
        before(form)
    told.clear()

    change(form)

    assert [each for each in told if each.startswith("frm_")] == [form.id]


@both_databases
@pytest.mark.parametrize("fails", [False, True])
def test_nobody_is_woken_before_the_commit_or_by_a_rollback(
    fails: bool,  # noqa: FBT001
    told: list[str],
) -> None:
    with suppress(ZeroDivisionError), write_transaction():
        note_change("frm_1")
        note_change("frm_1")
        assert told == []
        if fails:
            raise ZeroDivisionError

    assert told == ([] if fails else ["frm_1"])

"""Preparing follow-ups at the moment of a change, of a confirmation, and of publishing"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import postgresql_first
from tests.factories import make_draft
from tests.races.drafts.test_publish import after_a_moment, confirm
from tests.races.threads import together
from webapp.base.database import db, utc_now
from webapp.base.errors import InvalidInput, StateConflict
from webapp.drafts.confirmations import confirm_draft, list_confirmed
from webapp.drafts.editing import update_draft
from webapp.drafts.publishing import publish_draft
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input, parse_follow_ups
from webapp.records.drafts import Draft
from webapp.records.forms import Form

DRAFTS = 40
QUESTIONS: list[Any] = [{"id": "q_1", "text": "Who?"}, {"id": "q_2", "text": "What?"}]
Other = Callable[[str], object]


def put(account_id: str, draft_id: str) -> object:
    changes = parse_follow_ups({"followUps": {"q_1": ["Who else?"]}})
    return change(account_id, changes, draft_id, author="grn_1")


def races(app: Flask, account: Account, other: Other, *, is_confirmed: bool = False) -> set[Any]:
    """Of each race: what became of both calls, and of the draft and its form."""
    return {
        race(app, account.id, other, is_confirmed=is_confirmed, ahead=number % 2)
        for number in range(DRAFTS)
    }


def race(
    app: Flask, account_id: str, other: Other, *, is_confirmed: bool, ahead: int
) -> tuple[Any, ...]:
    with app.app_context():
        draft_id = make_draft(account_id, questions=QUESTIONS).id
    if is_confirmed:
        confirm(app, account_id, draft_id)
    calls = partial(put, account_id, draft_id), partial(other, draft_id)
    late = [0.01 * (ahead == place) for place in range(2)]
    both = [partial(after_a_moment, *each) for each in zip(calls, late, strict=True)]
    codes = [
        str(result.code) if isinstance(result, StateConflict | InvalidInput) else ""
        for result in together(app, both)
    ]
    with app.app_context():
        draft = db.session.get_one(Draft, draft_id)
        forms = db.session.scalars(select(Form).filter_by(draft_id=draft_id)).all()
        confirmed = draft_id in list_confirmed(account_id)
        return (*codes, asked(draft.questions), confirmed, *(asked(it.questions) for it in forms))


def asked(questions: list[Any]) -> str:
    """`Who? > Who else? | What?`"""
    rows = ([each["text"] for each in (row, *row.get("follow_ups", []))] for row in questions)
    return " | ".join(" > ".join(row) for row in rows)


PREPARED = "Who? > Who else? | What?"


THEIRS: Any = {"text": "Since when?", "condition": "always", "prepared_by": "creator"}
DROP: Any = {"questions": QUESTIONS[1:]}
ASK: Any = {"questions": [*QUESTIONS, {"id": "q_3", "text": "who ELSE?"}]}
EDIT: Any = {"questions": [QUESTIONS[0], {**QUESTIONS[1], "follow_ups": [THEIRS]}]}


def change(account_id: str, changes: Any, draft_id: str, **given: Any) -> object:
    try:
        return update_draft(account_id, draft_id, changes, now=utc_now(), **given)
    except InvalidInput as refusal:
        db.session.rollback()
        return refusal


@postgresql_first
@pytest.mark.parametrize(
    ("changes", "outcomes"),
    [
        (DROP, {("", "", "What?", False), ("validation_failed", "", "What?", False)}),
        (
            ASK,
            {
                ("", "validation_failed", PREPARED, False),
                ("validation_failed", "", "Who? | What? | who ELSE?", False),
            },
        ),
    ],
)
def test_a_follow_up_goes_with_its_question_or_the_second_is_refused(
    app: Flask, account: Account, changes: Any, outcomes: set[Any]
) -> None:
    other = partial(change, account.id, parse_draft_input(changes), author="grn_2")

    assert races(app, account, other) == outcomes


@postgresql_first
@pytest.mark.parametrize("confirms", [True, False])
def test_nothing_is_confirmed_or_overwritten_that_was_not_read(
    app: Flask, account: Account, *, confirms: bool
) -> None:
    with app.app_context():
        read = make_draft(account.id, questions=QUESTIONS).content_hash
    edit = partial(change, account.id, EDIT, author=None, expected_revision=1)

    def confirm_read(draft_id: str) -> object:
        return confirm_draft(account.id, draft_id, revision=1, shown_hash=read, now=utc_now())

    refused = "confirmation_stale" if confirms else "revision_conflict"
    assert races(app, account, confirm_read if confirms else edit) == {
        ("", refused, PREPARED, False),
        ("", "", PREPARED, False),
    }


@postgresql_first
def test_a_form_has_what_was_confirmed_or_is_not_published(app: Flask, account: Account) -> None:
    def publish(draft_id: str) -> object:
        return publish_draft(account.id, draft_id, now=utc_now())

    assert races(app, account, publish, is_confirmed=True) == {
        ("", "confirmation_stale", PREPARED, False),
        ("draft_already_published", "", "Who? | What?", False, "Who? | What?"),
    }

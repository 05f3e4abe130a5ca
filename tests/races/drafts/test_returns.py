"""Sending back at the moment of a confirmation, of a change, and of publishing"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from tests.databases import postgresql_first
from tests.factories import make_draft
from tests.races.drafts.test_publish import after_a_moment, confirm
from tests.races.threads import together
from webapp.base.database import db, utc_now
from webapp.base.errors import StateConflict
from webapp.drafts.confirmations import list_confirmed
from webapp.drafts.editing import update_draft
from webapp.drafts.publishing import publish_draft
from webapp.drafts.returns import return_draft
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft
from webapp.records.forms import Form

DRAFTS = 40
NOTE = "No names"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one race left: the code of what was refused, by the call, and the row afterwards."""

    returned: str = ""
    other: str = ""
    standing: bool = False
    confirmed: bool = False
    forms: int = 0
    revision: int = 1


def code(result: object) -> str:
    return str(result.code) if isinstance(result, StateConflict) else ""


def outcome(app: Flask, draft_id: str, results: list[Any]) -> Outcome:
    returned, other = map(code, results)
    with app.app_context():
        draft = db.session.get_one(Draft, draft_id)
        assert draft.return_note == (NOTE if draft.returned_at else None)
        return Outcome(
            returned=returned,
            other=other,
            standing=draft.returned_at is not None,
            confirmed=draft_id in list_confirmed(draft.account_id),
            forms=db.session.scalars(
                select(func.count(Form.id)).filter_by(draft_id=draft_id)
            ).one(),
            revision=draft.revision,
        )


def races(
    app: Flask, account: Account, other: Callable[[str], object], *, is_confirmed: bool = False
) -> set[Outcome]:
    """Sending back and something else, every second time the one and the other a little ahead."""
    found = set()
    for number in range(DRAFTS):
        with app.app_context():
            draft_id = make_draft(account.id).id
        if is_confirmed:
            confirm(app, account.id, draft_id)
        given = {"revision": 1, "note": NOTE, "now": utc_now()}
        calls = partial(return_draft, account.id, draft_id, **given), partial(other, draft_id)
        ahead = number % 2
        late = [0.01 * (ahead == place) for place in range(2)]
        both = [partial(after_a_moment, *each) for each in zip(calls, late, strict=True)]
        found.add(outcome(app, draft_id, together(app, both)))
    return found


@postgresql_first
def test_publishing_or_sending_back_wins(app: Flask, account: Account) -> None:
    def publish(draft_id: str) -> object:
        return publish_draft(account.id, draft_id, now=utc_now())

    published = Outcome(returned="draft_already_published", forms=1)
    sent_back = Outcome(other="draft_not_confirmed", standing=True)
    assert races(app, account, publish, is_confirmed=True) == {published, sent_back}


@postgresql_first
def test_the_later_of_confirming_and_sending_back_stands(app: Flask, account: Account) -> None:
    confirmed = Outcome(confirmed=True)
    sent_back = Outcome(standing=True)
    assert races(app, account, partial(confirm, app, account.id)) == {confirmed, sent_back}


@postgresql_first
@pytest.mark.parametrize("author", ["grn_1", None])
def test_a_change_is_not_sent_back_unread_and_no_sending_back_is_lost(
    app: Flask, account: Account, author: str | None
) -> None:
    """After it, the change of an agent answers it, and one of the creator leaves it."""

    def change(draft_id: str) -> object:
        changes = parse_draft_input({"title": "Changed"})
        return update_draft(account.id, draft_id, changes, author=author, now=utc_now())

    before = Outcome(returned="revision_conflict", revision=2)
    after = Outcome(standing=author is None, revision=2)
    assert races(app, account, change) == {before, after}

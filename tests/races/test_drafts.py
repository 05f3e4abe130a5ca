"""Confirming, publishing, sending back and changing a draft at the moment of another such act."""

import random
import time
from functools import partial
from threading import Thread
from typing import Any, NamedTuple

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import on_postgresql, postgresql_first
from tests.factories import make_draft
from tests.races.threads import Call, allowed, each_statement, together
from webapp.base.database import db, utc_now
from webapp.drafts.confirmations import confirm_draft, list_confirmed
from webapp.drafts.editing import update_draft
from webapp.drafts.publishing import publish_draft
from webapp.drafts.reviews import return_draft
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_follow_ups
from webapp.records.drafts import Draft, get_draft
from webapp.records.forms import Form

DRAFTS = 30
QUESTIONS: list[Any] = [{"id": "q_1", "text": "Who?"}, {"id": "q_2", "text": "What?"}]
PLAIN, PREPARED = "Who? | What?", "Who? > Who else? | What?"
NOTE = "No names"
STALE, RETURNED = "confirmation_stale", "draft_not_confirmed"
PUBLISHED, INVALID = "draft_already_published", "validation_failed"


class Outcome(NamedTuple):
    """What one race left: the codes of what was refused, the draft, and its form if it has one."""

    first: str = ""
    other: str = ""
    asks: str = PLAIN
    standing: bool = False
    confirmed: bool = False
    revision: int = 1
    forms: tuple[str, ...] = ()


def races(app: Flask, account: Account, first: Any, other: Any, **given: Any) -> set[Outcome]:
    """Of both, every second time the one and the other starts a little ahead."""
    return {race(app, account.id, (first, other), number % 2, **given) for number in range(DRAFTS)}


def race(
    app: Flask, account_id: str, acts: tuple[Any, Any], ahead: int, *, is_confirmed: bool = False
) -> Outcome:
    """The acts take the id of a draft."""
    with app.app_context():
        draft_id = make_draft(account_id, questions=QUESTIONS).id
    if is_confirmed:
        confirm(app, account_id, draft_id)
    both = [
        late(allowed(partial(act, draft_id)), 0.01 * (ahead == place))
        for place, act in enumerate(acts)
    ]
    codes = [result if isinstance(result, str) else "" for result in together(app, both)]
    with app.app_context():
        draft = db.session.get_one(Draft, draft_id)
        assert draft.return_note == (NOTE if draft.returned_at else None)
        forms = db.session.scalars(select(Form).filter_by(draft_id=draft_id)).all()
        return Outcome(
            *codes,
            asks=asked(draft.questions),
            standing=draft.returned_at is not None,
            confirmed=draft_id in list_confirmed(account_id),
            revision=draft.revision,
            forms=tuple(asked(form.questions) for form in forms),
        )


def late(call: Call, longest_seconds: float) -> Call:
    def run() -> Any:
        time.sleep(random.uniform(0, longest_seconds))  # noqa: S311
        return call()

    return run


def asked(questions: list[Any]) -> str:
    """`Who? > Who else? | What?`"""
    rows = ([each["text"] for each in (row, *row.get("follow_ups", []))] for row in questions)
    return " | ".join(" > ".join(row) for row in rows)


def confirm(app: Flask, account_id: str, draft_id: str) -> None:
    with app.app_context():
        draft = get_draft(account_id, draft_id)
        shown = {"revision": draft.revision, "shown_hash": draft.content_hash}
        confirm_draft(account_id, draft_id, **shown, now=utc_now())


@pytest.fixture
def prepare(account: Account) -> Any:
    """An agent prepares a follow-up to the first question."""
    changes = parse_follow_ups({"followUps": {"q_1": ["Who else?"]}})
    return partial(update_draft, account.id, changes=changes, author="grn_1", now=utc_now())


@pytest.fixture
def send_back(account: Account) -> Any:
    return partial(return_draft, account.id, revision=1, note=NOTE, now=utc_now())


@pytest.fixture
def publish(account: Account) -> Any:
    return partial(publish_draft, account.id, now=utc_now())


THEIRS: Any = {"text": "Since when?", "condition": "always", "prepared_by": "creator"}
EDIT: Any = {"questions": [QUESTIONS[0], {**QUESTIONS[1], "follow_ups": [THEIRS]}]}


@postgresql_first
@pytest.mark.parametrize("confirms", [True, False])
def test_nothing_is_confirmed_or_overwritten_that_was_not_read(
    app: Flask, account: Account, prepare: Any, *, confirms: bool
) -> None:
    with app.app_context():
        read = make_draft(account.id, questions=QUESTIONS).content_hash
    act = partial(confirm_draft, account.id, revision=1, shown_hash=read, now=utc_now())
    of_page = {"author": None, "expected_revision": 1, "now": utc_now()}
    edit = partial(update_draft, account.id, changes=EDIT, **of_page)

    first, *others = sorted(races(app, account, prepare, act if confirms else edit))
    refused = STALE if confirms else "revision_conflict"
    assert (first.other, [each.other for each in others]) == ("", [refused])
    assert {(each.first, each.asks, each.confirmed) for each in (first, *others)} == {
        ("", PREPARED, False)
    }


@postgresql_first
def test_a_form_has_what_was_confirmed_or_is_not_published(
    app: Flask, account: Account, prepare: Any, publish: Any
) -> None:
    assert races(app, account, prepare, publish, is_confirmed=True) == {
        Outcome("", STALE, PREPARED, revision=2),
        Outcome(PUBLISHED, forms=(PLAIN,)),
    }


@postgresql_first
def test_publishing_or_sending_back_wins(
    app: Flask, account: Account, send_back: Any, publish: Any
) -> None:
    assert races(app, account, send_back, publish, is_confirmed=True) == {
        Outcome(PUBLISHED, forms=(PLAIN,)),
        Outcome("", RETURNED, standing=True),
    }


@postgresql_first
def test_the_later_of_confirming_and_sending_back_counts(
    app: Flask, account: Account, send_back: Any
) -> None:
    assert races(app, account, send_back, partial(confirm, app, account.id)) == {
        Outcome(confirmed=True),
        Outcome(standing=True),
    }


@postgresql_first
@pytest.mark.parametrize("author", ["grn_1", None])
def test_a_change_is_not_sent_back_unread_and_no_sending_back_is_lost(
    app: Flask, account: Account, send_back: Any, author: str | None
) -> None:
    """After it, the change of an agent answers it, and one of the creator leaves it."""
    given: Any = {"changes": {"title": "Changed"}, "author": author, "now": utc_now()}

    assert races(app, account, send_back, partial(update_draft, account.id, **given)) == {
        Outcome("revision_conflict", revision=2),
        Outcome(standing=author is None, revision=2),
    }


@postgresql_first
@pytest.mark.parametrize("attempt", range(3))
def test_eight_publishes_at_once_make_one_form(
    app: Flask, account: Account, publish: Any, attempt: int
) -> None:
    with app.app_context():
        draft_id = make_draft(account.id).id
    confirm(app, account.id, draft_id)

    published = together(app, [partial(publish, draft_id)] * 8)

    assert [each.repeated for each in published].count(False) == 1
    assert len({each.form.id for each in published}) == 1


@on_postgresql
def test_a_confirmation_right_after_the_publish_is_not_stale(
    app: Flask, account: Account, publish: Any
) -> None:
    with app.app_context():
        draft_id = make_draft(account.id).id
    confirming = Thread(target=confirm, args=(app, account.id, draft_id))

    def confirm_now(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if "UPDATE drafts" in statement and confirming.ident is None:
            confirming.start()
            confirming.join()

    with each_statement(app, "after_cursor_execute", confirm_now), app.app_context():
        assert allowed(partial(publish, draft_id))() == "draft_not_confirmed"
        assert not publish(draft_id).repeated

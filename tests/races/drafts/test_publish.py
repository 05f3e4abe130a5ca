"""Eight publishes and a PATCH at the same moment: one form of what was confirmed, or none."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import Any

from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases, on_postgresql, postgresql_first
from tests.factories import make_draft
from tests.races.threads import each_statement, together
from webapp.base.database import db, utc_now
from webapp.base.errors import StateConflict
from webapp.drafts.confirmations import confirm_draft
from webapp.drafts.editing import update_draft
from webapp.drafts.publishing import publish_draft
from webapp.drafts.revisions import find_view, mark_seen
from webapp.records.accounts.models import Account
from webapp.records.drafts import Draft, get_draft
from webapp.records.forms import Form

PUBLISHERS = 8
CONFIRMED = "As confirmed"
PATCHED = "As patched"
DRAFTS = 100


@dataclass(frozen=True)
class Outcome:
    """What one race left: ids of forms published, codes of refusals, the rows afterwards."""

    patched: bool
    published: list[str]
    firsts: int
    refusals: list[str]
    titles: list[str]
    draft: Draft


@postgresql_first
def test_a_patch_beside_eight_publishes_leaves_one_form_or_none(
    app: Flask, account: Account
) -> None:
    outcomes = [race(app, account.id, patch_early=bool(n % 2)) for n in range(DRAFTS)]

    assert {is_lawful(outcome) for outcome in outcomes} == {True}, outcomes
    assert {outcome.patched for outcome in outcomes} == {True, False}


@on_postgresql
def test_a_confirmation_right_after_the_publish_is_not_stale(app: Flask, account: Account) -> None:
    with app.app_context():
        draft_id = make_draft(account.id).id
    confirming = Thread(target=confirm, args=(app, account.id, draft_id))

    def confirm_now(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if "UPDATE drafts" in statement and confirming.ident is None:
            confirming.start()
            confirming.join()

    with each_statement(app, "after_cursor_execute", confirm_now), app.app_context():
        refused = after_a_moment(partial(publish_draft, account.id, draft_id, now=utc_now()), 0)
        published = publish_draft(account.id, draft_id, now=utc_now())

    assert refused.code == "draft_not_confirmed"
    assert not published.repeated


def is_lawful(outcome: Outcome) -> bool:
    """The PATCH came first and nothing was published, or it was refused and one form stands."""
    if outcome.patched:
        return (
            outcome.titles == []
            and outcome.refusals == ["confirmation_stale"] * PUBLISHERS
            and (outcome.draft.title, outcome.draft.revision) == (PATCHED, 2)
        )
    return (
        outcome.titles == [CONFIRMED]
        and outcome.refusals == ["draft_already_published"]
        and len(outcome.published) == PUBLISHERS
        and (len(set(outcome.published)), outcome.firsts) == (1, 1)
        and (outcome.draft.title, outcome.draft.revision) == (CONFIRMED, 1)
    )


def race(app: Flask, account_id: str, *, patch_early: bool) -> Outcome:
    """One confirmed draft, nine threads; every second PATCH starts ahead of most publishes."""
    draft_id = confirmed_draft(app, account_id)
    publish = partial(publish_draft, account_id, draft_id, now=utc_now())
    patch = partial(
        update_draft, account_id, draft_id, {"title": PATCHED}, author=None, now=utc_now()
    )
    calls = [partial(after_a_moment, publish, 0.01) for _ in range(PUBLISHERS)]
    calls.append(partial(after_a_moment, patch, 0.0 if patch_early else 0.01))
    *publishes, patched = together(app, calls)
    return outcome(app, draft_id, publishes, patched)


def confirmed_draft(app: Flask, account_id: str) -> str:
    with app.app_context():
        draft_id = make_draft(account_id, title=CONFIRMED).id
    confirm(app, account_id, draft_id)
    return draft_id


def confirm(app: Flask, account_id: str, draft_id: str) -> None:
    with app.app_context():
        draft = get_draft(account_id, draft_id)
        shown = {"revision": draft.revision, "shown_hash": draft.content_hash}
        confirm_draft(account_id, draft_id, **shown, now=utc_now())


def after_a_moment(call: Callable[[], Any], longest_seconds: float) -> Any:
    """What the call returned or the conflict it ended with; anything else fails the test."""
    time.sleep(random.uniform(0, longest_seconds))  # noqa: S311
    try:
        return call()
    except StateConflict as refusal:
        db.session.rollback()
        return refusal


def outcome(app: Flask, draft_id: str, publishes: list[Any], patched: Any) -> Outcome:
    results = [*publishes, patched]
    published = [result for result in publishes if not isinstance(result, StateConflict)]
    with app.app_context():
        return Outcome(
            patched=not isinstance(patched, StateConflict),
            published=[result.form.id for result in published],
            firsts=sum(not result.repeated for result in published),
            refusals=[result.code for result in results if isinstance(result, StateConflict)],
            titles=list(db.session.scalars(select(Form.title).where(Form.draft_id == draft_id))),
            draft=db.session.get_one(Draft, draft_id),
        )


@both_databases
def test_concurrent_first_views_store_one_view(app: Flask, account: Account) -> None:
    with app.app_context():
        draft = make_draft(account.id)

    together(app, [partial(mark_seen, account.id, draft.id, 1, now=utc_now()) for _ in range(8)])

    with app.app_context():
        view = find_view(draft.id)
        assert view is not None
        assert view.revision == 1

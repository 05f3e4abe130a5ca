"""A failure before any statement, or at the commit, leaves everything or nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from sqlalchemy import event, select

from tests.bulk import Dump, dump
from tests.databases import both_databases
from tests.domain.events.subscribing import asked_for, make_grant, subscribe_now
from tests.event_factories import make_agent_token, make_subscription
from tests.factories import make_account, make_answer, make_draft, make_form, make_response
from tests.races.threads import KEY, Call, answer, send, skip, withdraw
from tests.voice.factories import make_recording, make_voice_form
from webapp.answers.trash import delete_response
from webapp.base.database import db, on_sqlite, utc_now
from webapp.drafts.confirmations import confirm_draft
from webapp.drafts.publishing import confirm_and_publish, publish_draft
from webapp.oauth.connections import disconnect
from webapp.records.responses.models import ResponseSession


class Cut(Exception):
    """The process is taken to end here."""


@dataclass
class Scissors:
    """Raises at the statement with this number, counted from 1; the commit counts as one."""

    at: int
    passed: int = 0

    def statement(self, *_: Any) -> None:
        self.passed += 1
        if self.passed == self.at:
            raise Cut


def run_cut(call: Call, at: int) -> bool:
    """Run `call` with a cut before statement number `at`; True when it got through to its end."""
    scissors = Scissors(at)
    event.listen(db.engine, "before_cursor_execute", scissors.statement)
    event.listen(db.engine, "commit", scissors.statement)
    try:
        call()
    except Cut:
        db.session.rollback()
    finally:
        event.remove(db.engine, "before_cursor_execute", scissors.statement)
        event.remove(db.engine, "commit", scissors.statement)
        db.session.remove()
    return scissors.passed < at


def dumps_after_cuts(call: Call) -> list[Dump]:
    """The database after a cut before statement 1, 2, 3 … of `call`, last of all uncut."""
    dumps = []
    finished = False
    while not finished:
        finished = run_cut(call, at=len(dumps) + 1)
        dumps.append(dump())
    return dumps


def now(call: Callable[..., Any], *given: Any, **named: Any) -> Call:
    return partial(call, *given, **named, now=utc_now())


def as_shown(account_id: str) -> dict[str, Any]:
    draft = make_draft(account_id)
    return {"draft_id": draft.id, "revision": draft.revision, "shown_hash": draft.content_hash}


def confirmed(account_id: str) -> str:
    shown = as_shown(account_id)
    now(confirm_draft, account_id, **shown)()
    return str(shown["draft_id"])


def answered(account_id: str) -> Any:
    form = make_form(account_id)
    make_answer(form, KEY)
    return form


def recorded(form: Any) -> str:
    recording_id: str = make_recording(form, KEY).id
    db.session.commit()
    return recording_id


def speak(account_id: str) -> Call:
    form = make_voice_form(account_id)
    recorded(form)
    return answer(form, recording_id=recorded(form))


def complete(account_id: str) -> Call:
    form = answered(account_id)
    make_subscription(form)
    return send(form)


def take_back(account_id: str) -> Call:
    form = answered(account_id)
    make_subscription(form)
    send(form)()
    return withdraw(form)


def delete_one(account_id: str) -> Call:
    form = make_form(account_id)
    make_response(form)
    response_id = db.session.scalars(select(ResponseSession.id)).one()
    return now(delete_response, account_id, form.id, response_id)


def subscribed(account_id: str) -> tuple[Any, str, str]:
    form, grant_id = make_form(account_id), make_grant(account_id)
    granted = subscribe_now(asked_for(form, grant_id))
    make_response(form)
    return form, grant_id, granted.subscription_id


def disconnect_agent(account_id: str) -> Call:
    form, grant_id, _ = subscribed(account_id)
    make_agent_token(form, grant_id=grant_id)
    return now(disconnect, account_id, grant_id)


STEPS: dict[str, Callable[[str], Call]] = {
    "confirm": lambda by: now(confirm_draft, by, **as_shown(by)),
    "publish": lambda by: now(publish_draft, by, confirmed(by)),
    "publish now": lambda by: now(confirm_and_publish, by, **as_shown(by)),
    "answer": lambda by: answer(make_form(by), "Robin"),
    "correct": lambda by: answer(answered(by), "Robin"),
    "skip": lambda by: skip(answered(by)),
    "speak": speak,
    "complete": complete,
    "withdraw": take_back,
    "delete one": delete_one,
    "disconnect": disconnect_agent,
}


@both_databases
@pytest.mark.parametrize("step", STEPS)
def test_a_cut_before_any_statement_leaves_no_half_row(app_context: None, step: str) -> None:
    call = STEPS[step](make_account().id)
    before = dump()

    *cut, whole = dumps_after_cuts(call)

    assert len(cut) >= (2 if on_sqlite() else 1)  # PostgreSQL commits a lone statement itself
    assert [there for there in cut if there != before] == []
    assert whole != before

"""A failure before any statement, or at the commit, leaves everything or nothing."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event, select

from tests.bulk import Dump, dump
from tests.databases import both_databases
from tests.domain.events.subscribing import KEY, asked_for, make_grant, subscribe_now
from tests.event_factories import make_agent_token, make_subscription
from tests.factories import make_account, make_answer, make_draft, make_form, make_response
from tests.voice.factories import make_recording, make_voice_form
from webapp.answers import answering
from webapp.answers.deleted_responses import delete_response, undo_deletion
from webapp.answers.steps import QuestionNumber
from webapp.answers.trash import discard_draft
from webapp.base.database import db, on_sqlite, utc_now
from webapp.drafts.confirmations import confirm_draft
from webapp.drafts.editing import create_draft, update_draft
from webapp.drafts.publishing import confirm_and_publish, publish_draft
from webapp.events.endings import unsubscribe
from webapp.events.outbox import write_cursor
from webapp.oauth.connections import disconnect
from webapp.records.responses.models import ResponseDeletion, ResponseSession
from webapp.voice.uploads import Bounds, add_recording

Call = Callable[[], Any]


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


def create(account_id: str) -> Call:
    return now(create_draft, account_id, {"title": "Rota"}, author=None)


def update(account_id: str) -> Call:
    return now(update_draft, account_id, make_draft(account_id).id, {"title": "New"}, author=None)


def discard(account_id: str) -> Call:
    draft = make_draft(account_id)
    now(update_draft, account_id, draft.id, {"title": "New"}, author=None)()
    return now(discard_draft, account_id, draft.id)


def confirm(account_id: str) -> Call:
    return now(confirm_draft, account_id, **as_shown(account_id))


def publish(account_id: str) -> Call:
    shown = as_shown(account_id)
    now(confirm_draft, account_id, **shown)()
    return now(publish_draft, account_id, shown["draft_id"])


def publish_now(account_id: str) -> Call:
    return now(confirm_and_publish, account_id, **as_shown(account_id))


def as_shown(account_id: str) -> dict[str, Any]:
    draft = make_draft(account_id)
    return {"draft_id": draft.id, "revision": draft.revision, "shown_hash": draft.content_hash}


def answer(account_id: str) -> Call:
    return answer_of(make_form(account_id), secrets.token_urlsafe(16))


def correct(account_id: str) -> Call:
    return answer_of(*answered(account_id))


def answer_of(form: Any, key: str, recording_id: str = "") -> Call:
    given = {"answer_text": "Robin", "answer_key": "render-1", "recording_id": recording_id}
    return now(answering.answer_question, form.share_token, key, position=0, **given)


def skip(account_id: str) -> Call:
    form, key = answered(account_id)
    return now(answering.skip_question, form.share_token, key, position=0)


def upload(account_id: str) -> Call:
    sent = {"upload_key": "recorder-1", "object_key": "o.webm", "media_type": "audio/webm"}
    form = make_voice_form(account_id)
    measured = {"size": 4000, "duration_ms": 1200, "named_host": "", "address_hash": None}
    at = {"at": QuestionNumber(1), "bounds": Bounds()}
    return now(add_recording, form.share_token, "a" * 32, **at, **sent, **measured)


def speak(account_id: str) -> Call:
    return answer_of(*uploaded(account_id))


def speak_again(account_id: str) -> Call:
    form, key = spoken(account_id)
    again: str = make_recording(form, key).id
    db.session.commit()
    return answer_of(form, key, again)


def type_instead(account_id: str) -> Call:
    return answer_of(*spoken(account_id))


def skip_spoken(account_id: str) -> Call:
    form, key = spoken(account_id)
    return now(answering.skip_question, form.share_token, key, position=0)


def uploaded(account_id: str) -> tuple[Any, str, str]:
    form, key = make_voice_form(account_id), secrets.token_urlsafe(16)
    recording_id: str = make_recording(form, key).id
    make_recording(form, key)
    db.session.commit()
    return form, key, recording_id


def spoken(account_id: str) -> tuple[Any, str]:
    form, key, recording_id = uploaded(account_id)
    make_answer(form, key, recording_id=recording_id)
    return form, key


def complete(account_id: str) -> Call:
    form, key = answered(account_id)
    make_subscription(form)
    return now(answering.complete_response, form.share_token, key, responder_name="Robin")


def withdraw(account_id: str) -> Call:
    form, key = answered(account_id)
    make_subscription(form)
    now(answering.complete_response, form.share_token, key, responder_name="")()
    return now(answering.withdraw_response, form.share_token, key)


def delete_one(account_id: str) -> Call:
    form = make_form(account_id)
    make_response(form)
    response_id = db.session.scalars(select(ResponseSession.id)).one()
    return now(delete_response, account_id, form.id, response_id)


def undo(account_id: str) -> Call:
    delete_one(account_id)()
    deleted = db.session.execute(select(ResponseDeletion.form_id, ResponseDeletion.id)).one()
    return now(undo_deletion, account_id, *deleted)


def subscribe(account_id: str) -> Call:
    form = make_form(account_id)
    make_response(form)
    cursor = write_cursor(KEY, form.id, 0)
    return partial(subscribe_now, asked_for(form, make_grant(account_id), cursor=cursor))


def subscribed(account_id: str) -> tuple[Any, str, str]:
    form, grant_id = make_form(account_id), make_grant(account_id)
    granted = subscribe_now(asked_for(form, grant_id))
    make_response(form)
    return form, grant_id, granted.subscription_id


def rotate(account_id: str) -> Call:
    form, grant_id, _ = subscribed(account_id)
    return partial(subscribe_now, asked_for(form, grant_id, secret="whsec_" + "B" * 32))


def end_subscription(account_id: str) -> Call:
    form, _, key = subscribed(account_id)
    return now(unsubscribe, account_id, form.id, key)


def disconnect_agent(account_id: str) -> Call:
    form, grant_id, _ = subscribed(account_id)
    make_agent_token(form, grant_id=grant_id)
    return now(disconnect, account_id, grant_id)


def answered(account_id: str) -> tuple[Any, str]:
    form, key = make_form(account_id), secrets.token_urlsafe(16)
    make_answer(form, key)
    return form, key


STEPS = (
    *(create, update, discard, confirm, publish, publish_now),
    *(answer, correct, skip, upload, speak, speak_again, type_instead, skip_spoken),
    *(complete, withdraw, delete_one, undo),
    *(subscribe, rotate, end_subscription, disconnect_agent),
)


@both_databases
@pytest.mark.parametrize("step", STEPS)
def test_a_cut_before_any_statement_leaves_no_half_row(
    app_context: None, step: Callable[[str], Call]
) -> None:
    call = step(make_account().id)
    before = dump()

    *cut, whole = dumps_after_cuts(call)

    assert len(cut) >= (2 if on_sqlite() else 1)  # PostgreSQL commits a lone statement itself
    assert [there for there in cut if there != before] == []
    assert whole != before


@both_databases
def test_an_answer_repeated_after_each_cut_is_stored_once(app: Flask, app_context: None) -> None:
    call = answer(make_account().id)

    *_, whole = dumps_after_cuts(call)

    assert (len(whole["answers"]), len(whole["response_sessions"])) == (1, 1)

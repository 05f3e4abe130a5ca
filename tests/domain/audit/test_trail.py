"""The audit trail: a row in the transaction of its use case, a log line after the commit."""

import logging
from datetime import timedelta

import pytest
from flask import Flask

from tests.conftest import Clock
from tests.databases import both_databases
from tests.factories import make_account
from webapp.base.database import db, write_transaction
from webapp.base.database.failures import may_have_stored
from webapp.oauth.tokens import purge_dead
from webapp.records.audit import Actor, ActorKind, AuditEvent, AuditKind, add_event, list_events

ANN = Actor(ActorKind.CREATOR, "203.0.113.5")


def add(
    account_id: str, clock: Clock, kind: AuditKind = AuditKind.SIGN_IN, *, fails: bool = False
) -> None:
    with write_transaction():
        add_event(kind, account_id, by=ANN, now=clock.now)
        if fails:
            raise ZeroDivisionError


@pytest.mark.usefixtures("app_context")
def test_the_end_of_a_savepoint_counts_as_no_commit(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "askback.audit")
    with write_transaction():
        add_event(AuditKind.SIGN_OUT, "acc_1", by=ANN, now=clock.now)
        with db.session.begin_nested():
            db.session.flush()
        before = (list(caplog.messages), may_have_stored())

    assert before == ([], False)
    assert (caplog.messages, may_have_stored()) == (["sign_out ok"], True)


@pytest.mark.usefixtures("app_context")
def test_a_rolled_back_event_leaves_neither_row_nor_log_line(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "askback.audit")
    with pytest.raises(ZeroDivisionError):
        add("acc_1", clock, fails=True)
    with write_transaction():
        add_event(AuditKind.SIGN_OUT, "acc_1", by=ANN, now=clock.now)
        told_before = list(caplog.messages)

    assert (told_before, caplog.messages) == ([], ["sign_out ok"])
    assert [event.kind for event in list_events("acc_1", limit=9)] == ["sign_out"]


@both_databases
def test_pages_of_events_neither_skip_nor_repeat_one(app: Flask, clock: Clock) -> None:
    with app.app_context():
        for number in range(7):
            add("acc_1", clock)
            clock.forward(milliseconds=number % 2)
        seen: list[AuditEvent] = []
        while page := list_events(
            "acc_1", limit=2, before=(seen[-1].at, seen[-1].id) if seen else None
        ):
            seen += page

    assert len({event.id for event in seen}) == len(seen) == 7
    assert [event.at for event in seen] == sorted((event.at for event in seen), reverse=True)


@pytest.mark.settings(audit_days=30)
@pytest.mark.usefixtures("app_context")
def test_events_are_kept_for_as_long_as_is_set(clock: Clock) -> None:
    account = make_account()
    add(account.id, clock)
    clock.forward(milliseconds=1)
    add(account.id, clock, AuditKind.SIGN_OUT)

    list(purge_dead(clock.now + timedelta(days=30)))

    assert [event.kind for event in list_events(account.id, limit=9)] == ["sign_out"]

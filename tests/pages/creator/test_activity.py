"""What is audited of drafts and forms, and the activity page of an account."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.oauth.flow import API, bearer
from tests.pages.creator_client import Creator
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account
from webapp.records.audit import SYSTEM, AuditEvent, AuditKind, event_values
from webapp.web import request_audit


def events(ann: Creator) -> list[AuditEvent]:
    with ann.context():
        request_audit.store()
        return list(db.session.scalars(select(AuditEvent).order_by(AuditEvent.at, AuditEvent.id)))


def events_of(ann: Creator, *kinds: str) -> list[tuple[str, str, str | None]]:
    """Kind, actor and subject of the events of these kinds."""
    found = [(event.kind, event.actor, event.subject) for event in events(ann)]
    return [event for event in found if event[0] in kinds]


@pytest.fixture
def token(app: Flask, account: Account) -> str:
    with app.app_context():
        return issue_token(account.id, [Scope.FORMS_WRITE], API, now=utc_now())


def test_publishing_is_audited_once(ann: Creator, token: str) -> None:
    by_hand, by_agent = ann.draft(), ann.draft()
    share = ann.confirm(by_hand, then="people").location
    ann.confirm(by_agent, then="agent")
    path = f"/api/drafts/{by_agent.id}/publish"
    agent = ann.client.application.test_client()

    statuses = [agent.post(path, headers=bearer(token)).status_code for _ in range(2)]

    assert statuses == [200, 200]
    *found, last = events_of(ann, "confirmed", "attested", "published")
    assert found == [
        ("confirmed", "creator", by_hand.id),
        ("published", "creator", share.split("/")[2]),
        ("confirmed", "creator", by_agent.id),
    ]
    assert last[:2] == ("published", "agent")
    event = next(event for event in events(ann) if event.actor == "agent")
    assert (event.client_name, event.address) == ("Askback command line", "127.0.0.1")


def test_events_of_one_step_of_the_clock_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 1)
    rows = [event_values(AuditKind.CLOSED, None, by=SYSTEM, now=utc_now()) for _ in range(20)]
    ids = [str(row["id"]) for row in rows]

    assert ids == sorted(ids)


def test_changes_of_a_form_are_audited(ann: Creator, form: Any) -> None:
    for what in [
        "close",
        "close",
        "reopen",
        "delete",
        "delete",
        "restore",
        "restore",
        "delete",
        "erase",
    ]:
        ann.post(f"/forms/{form.id}/{what}")

    kinds = ("closed", "reopened", "deleted", "restored", "erased")
    assert [event[0] for event in events_of(ann, *kinds)] == [
        *("closed", "reopened", "deleted", "restored", "deleted", "erased")
    ]
    assert {event[1:] for event in events_of(ann, *kinds)} == {("creator", form.id)}


def test_an_export_is_audited_without_a_write_of_its_own(ann: Creator, form: Any) -> None:
    ann.page(f"/forms/{form.id}/export.csv")
    with ann.context():
        stored_at_once = list(db.session.scalars(select(AuditEvent.kind)))

    assert "exported" not in stored_at_once
    assert events_of(ann, "exported") == [("exported", "creator", form.id)]

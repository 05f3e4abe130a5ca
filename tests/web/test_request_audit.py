"""Audit events of requests: failures and exports are stored later, floods get few rows."""

from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.conftest import Clock
from tests.oauth.flow import EMAIL, PASSWORD, sign_in
from webapp.base.database import db, utc_now
from webapp.records.accounts import invites
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditEvent, AuditKind
from webapp.web import request_audit
from webapp.web.limiter import limiter
from webapp.web.request_audit import Flood

HERE = "127.0.0.1"


@pytest.fixture
def creator(app: Flask) -> Account:
    limiter.reset()
    with app.app_context():
        return invites.create_account(EMAIL, "Ann", PASSWORD, now=utc_now())


def stored(app: Flask) -> list[AuditEvent]:
    """All rows, those that waited included, oldest first."""
    with app.app_context():
        request_audit.store()
        return list(db.session.scalars(select(AuditEvent).order_by(AuditEvent.at, AuditEvent.id)))


@pytest.mark.parametrize("known", [True, False])
def test_a_failed_sign_in_is_audited_without_what_was_typed(
    app: Flask,
    creator: Account,
    client: FlaskClient,
    caplog: pytest.LogCaptureFixture,
    *,
    known: bool,
) -> None:
    sign_in(client, email=EMAIL if known else "mistyped@example.com", password="wrong")

    event = stored(app)[-1]

    assert (event.account_id, event.kind) == (creator.id if known else None, "sign_in")
    assert (event.outcome, event.actor, event.address) == ("failed", "visitor", HERE)
    assert "mistyped" not in str(vars(event)) + caplog.text


@pytest.mark.parametrize(("networks", "tries", "rows"), [(1, 10_240, 20), (6400, 6400, 205)])
def test_a_flood_gets_few_rows_with_counts_until_an_hour_later(
    clock: Clock, networks: int, tries: int, rows: int
) -> None:
    flood = Flood()

    counts = [flood.stands_for(str(n % networks), now=clock.now) for n in range(tries)]

    assert networks > 1 or sum(counts) == tries
    assert sum(1 for count in counts if count) == rows
    assert flood.stands_for("0", now=clock.now + timedelta(hours=1)) == 1


def test_a_flood_hides_no_failure_of_another_account(
    app: Flask, creator: Account, client: FlaskClient
) -> None:
    with app.test_request_context("/login"):
        by, now = request_audit.visitor(), utc_now()
        for _ in range(19):
            request_audit.note_failure(AuditKind.SIGN_IN, None, by=by, now=now)
        request_audit.note_failure(AuditKind.SIGN_IN, creator.id, by=by, now=now)
        request_audit.note_failure(AuditKind.PASSWORD_CHANGED, creator.id, by=by, now=now)

    own = [event for event in stored(app) if event.account_id == creator.id]

    assert [(event.kind, event.count) for event in own if event.outcome == "failed"] == [
        ("sign_in", 1),
        ("password_changed", 1),
    ]


def test_rows_are_kept_if_storing_fails(
    app: Flask, creator: Account, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(client, password="wrong")

    def fail() -> None:
        raise OSError("disk full")

    with monkeypatch.context() as broken, app.app_context():
        broken.setattr(request_audit, "write_transaction", fail)
        with pytest.raises(OSError, match="disk full"):
            request_audit.store()

    assert [event.outcome for event in stored(app)][-1] == "failed"

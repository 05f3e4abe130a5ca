"""Attempts refused by a limit are audited, once per window."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.oauth.flow import EMAIL, csrf_token, sign_in
from tests.pages.respondent_client import storage_away
from tests.services import redis_server
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditEvent
from webapp.web import request_audit
from webapp.web.limiter import limiter

REFUSED = "too_many_tries"


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Iterator[Settings]:
    """Limits counted in this process; in the test of all processes, in Redis."""
    if "of_all_processes" not in request.node.name:
        yield settings
        return
    with redis_server() as url:
        yield settings.model_copy(update={"redis_url": url})


def refused(app: Flask) -> list[AuditEvent]:
    with app.app_context():
        request_audit.store()
        refused_events = (
            select(AuditEvent).where(AuditEvent.outcome == REFUSED).order_by(AuditEvent.id)
        )
        return list(db.session.scalars(refused_events))


def refused_events(app: Flask) -> list[tuple[str, str | None, str, str | None]]:
    return [(row.kind, row.account_id, row.actor, row.address) for row in refused(app)]


def test_a_flood_of_refused_tries_is_one_row_of_all_processes(
    app: Flask,
    creator: Account,
    client: FlaskClient,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "askback.audit")
    token = csrf_token(client.get("/login"))
    form = {"email": EMAIL, "password": "wrong", "csrf_token": token}

    statuses = [client.post("/login", data=form).status_code for _ in range(105)]
    # as if the next request came to another process with the same Redis
    limiter.storage._memory._windows.clear()  # type: ignore[union-attr]
    statuses += [client.post("/login", data=form).status_code for _ in range(50)]

    assert statuses == [422] * 5 + [429] * 150
    assert refused_events(app) == [("sign_in", creator.id, "visitor", "127.0.0.1")]
    assert caplog.messages.count(f"sign_in {REFUSED}") == 1


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/join/unknown", "link_used"),
        ("/account/password", "password_changed"),
        ("/account/delete", "account_deleted"),
    ],
)
def test_each_kind_of_try_is_limited_and_audited(
    app: Flask,
    creator: Account,
    client: FlaskClient,
    path: str,
    kind: str,
    monkeypatch: Any,
) -> None:
    monkeypatch.setattr("webapp.pages.creator.sign_in.signed_in_recently", lambda: False)
    form = {"current": "wrong", "csrf_token": csrf_token(client.get("/login"))}
    by, most, status = (None, "visitor"), 30, 410
    if kind != "link_used":
        sign_in(client)
        form["csrf_token"] = csrf_token(client.get("/account"))
        by, most, status = (creator.id, "creator"), 5, 422

    statuses = [client.post(path, data=form).status_code for _ in range(most + 4)]

    assert statuses == [status] * most + [429] * 4
    assert refused_events(app) == [(kind, *by, "127.0.0.1")]
    if kind != "link_used":
        assert "event--alarm" in client.get("/account/activity").text


def test_a_refusal_needs_no_storage(app: Flask, creator: Account, client: FlaskClient) -> None:
    token = csrf_token(client.get("/login"))
    form = {"email": EMAIL, "password": "wrong", "csrf_token": token}
    for _ in range(5):
        client.post("/login", data=form)

    with storage_away(app):
        assert client.post("/login", data=form).status_code == 429

    assert refused_events(app) == [("sign_in", None, "visitor", "127.0.0.1")]

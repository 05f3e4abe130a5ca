"""Audit events of consents, tokens and revocations contain no secrets."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.oauth.flow import Flow, csrf_token
from webapp.base.database import db, utc_now
from webapp.oauth.models import OAuthToken
from webapp.records.audit import AuditEvent
from webapp.web import request_audit


def events(app: Flask) -> list[AuditEvent]:
    """All rows, those that waited included, oldest first."""
    with app.app_context():
        request_audit.store()
        return list(db.session.scalars(select(AuditEvent).order_by(AuditEvent.at, AuditEvent.id)))


def events_after_sign_in(app: Flask) -> list[tuple[str, str, str]]:
    """Without the sign-in that every test begins with."""
    return [(event.kind, event.outcome, event.actor) for event in events(app)[1:]]


def press(flow: Flow, path: str, **form: Any) -> None:
    token = csrf_token(flow.browser.get("/account"))
    assert flow.browser.post(path, data={"csrf_token": token} | form).status_code == 303


def test_connecting_and_refreshing_are_audited_with_the_client(app: Flask, flow: Flow) -> None:
    flow.refresh(flow.connect()["refresh_token"])

    assert events_after_sign_in(app) == [
        ("consent", "ok", "creator"),
        ("token_issued", "ok", "agent"),
        ("token_refreshed", "ok", "agent"),
    ]
    clients = {(event.client_id, event.client_name) for event in events(app)[1:]}
    assert clients == {(flow.client["client_id"], "Example agent")}
    assert {(event.address, event.account_id is None) for event in events(app)[1:]} == {
        ("127.0.0.1", False)
    }


def test_a_denied_consent_is_audited(app: Flask, flow: Flow) -> None:
    flow.decide(allow="no")

    assert events_after_sign_in(app) == [("consent", "denied", "creator")]


def test_reuse_of_a_code_is_audited_once(app: Flask, flow: Flow) -> None:
    code = flow.code()
    for _ in range(4):
        flow.redeem(code)

    assert events_after_sign_in(app)[1:] == [
        ("token_issued", "ok", "agent"),
        ("code_reused", "failed", "agent"),
    ]


def test_late_reuse_of_a_refresh_token_is_audited(app: Flask, flow: Flow) -> None:
    first = flow.connect()
    flow.refresh(first["refresh_token"])
    with app.app_context():
        long_ago = utc_now() - timedelta(minutes=5)
        db.session.execute(
            update(OAuthToken).where(OAuthToken.rotated_at.is_not(None)).values(rotated_at=long_ago)
        )
        db.session.commit()

    flow.refresh(first["refresh_token"])

    assert events_after_sign_in(app)[-1] == ("token_reused", "failed", "agent")


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_a_revocation_is_audited_once(app: Flask, flow: Flow, kind: str) -> None:
    body = flow.connect()
    for _ in range(2):
        flow.machine.post("/oauth/revoke", data=flow.authenticated(token=body[kind]))

    assert events_after_sign_in(app)[2:] == [("token_revoked", "ok", "agent")]


def test_actions_of_the_creator_on_a_connection_are_audited(app: Flask, flow: Flow) -> None:
    flow.connect()
    grant = events(app)[1].subject
    press(flow, f"/connections/{grant}/trust", trust="on")
    press(flow, f"/connections/{grant}/trust")
    for _ in range(2):
        press(flow, f"/connections/{grant}/disconnect")

    assert events_after_sign_in(app)[2:] == [
        ("trust_given", "ok", "creator"),
        ("trust_ended", "ok", "creator"),
        ("disconnected", "ok", "creator"),
    ]
    assert {event.subject for event in events(app)[1:]} == {grant}


def test_muting_an_agent_and_unmuting_it_are_audited(app: Flask, flow: Flow) -> None:
    flow.connect()
    grant = events(app)[1].subject
    press(flow, f"/connections/{grant}/mute")
    for _ in range(2):
        press(flow, f"/connections/{grant}/unmute")

    assert events_after_sign_in(app)[2:] == [
        ("muted", "ok", "creator"),
        ("unmuted", "ok", "creator"),
    ]
    assert {(event.subject, event.client_name) for event in events(app)[3:]} == {
        (grant, "Example agent")
    }


def test_ending_every_connection_is_one_event(app: Flask, flow: Flow) -> None:
    flow.connect()
    for _ in range(2):
        press(flow, "/connections/disconnect-all")

    assert events_after_sign_in(app)[2:] == [("disconnected", "ok", "creator")]

"""Audit events of consents, tokens and connections."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.oauth.flow import Flow, change, csrf_token
from webapp.base.database import db, utc_now
from webapp.oauth.models import OAuthGrant, OAuthToken
from webapp.records.audit import AuditEvent
from webapp.web import request_audit


def reuse_a_code(flow: Flow) -> None:
    code = flow.code()
    for _ in range(2):
        flow.redeem(code)


def reuse_a_refresh_token(flow: Flow) -> None:
    first = flow.connect()
    flow.refresh(first["refresh_token"])
    long_ago = utc_now() - timedelta(minutes=5)
    spent = OAuthToken.rotated_at.is_not(None)
    change(flow.machine.application, update(OAuthToken).where(spent).values(rotated_at=long_ago))
    flow.refresh(first["refresh_token"])


def trust_and_disconnect(flow: Flow) -> None:
    flow.connect()
    with flow.machine.application.app_context():
        grant = db.session.scalars(select(OAuthGrant.id)).one()
    token = {"csrf_token": csrf_token(flow.browser.get("/account"))}
    for action, form in (("trust", {"trust": "on"}), ("trust", {}), *[("disconnect", {})] * 2):
        path = f"/connections/{grant}/{action}"
        assert flow.browser.post(path, data=token | form).status_code == 303


TRUST = ("trust_given", "trust_ended", "disconnected")
CONNECTED = ("consent ok creator", "token_issued ok agent")


@pytest.mark.parametrize(
    ("act", "events"),
    [
        (lambda flow: flow.decide(allow="no"), ["consent denied creator"]),
        (reuse_a_code, [*CONNECTED, "code_reused failed agent"]),
        (
            reuse_a_refresh_token,
            [*CONNECTED, "token_refreshed ok agent", "token_reused failed agent"],
        ),
        (
            lambda flow: flow.revoke(token=flow.connect()["access_token"]),
            [*CONNECTED, "token_revoked ok agent"],
        ),
        (trust_and_disconnect, [*CONNECTED, *(f"{kind} ok creator" for kind in TRUST)]),
    ],
)
def test_each_action_is_audited_once_with_its_client(
    act: Callable[[Flow], object], events: list[str], app: Flask, flow: Flow
) -> None:
    act(flow)

    with app.app_context():
        request_audit.store()
        newest = select(AuditEvent).order_by(AuditEvent.at, AuditEvent.id)
        _sign_in, *found = db.session.scalars(newest)
        grants = set(db.session.scalars(select(OAuthGrant.id)))
    assert [f"{each.kind} {each.outcome} {each.actor}" for each in found] == events
    assert {each.address for each in found} == {"127.0.0.1"}
    assert {(each.client_id, each.client_name) for each in found} == {
        (flow.client["client_id"], "Example agent")
    }
    assert {each.subject for each in found} == (grants or {None})

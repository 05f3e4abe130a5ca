"""Audit events of consents, tokens and connections."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.oauth.flow import Flow, change, csrf_token
from webapp.base.database import db, utc_now
from webapp.oauth.models import OAuthGrant, OAuthToken
from webapp.records.audit import AuditEvent
from webapp.web import request_audit


def press(flow: Flow, action: str, **form: Any) -> None:
    """A button on the page of connections."""
    with flow.machine.application.app_context():
        grant = db.session.scalars(select(OAuthGrant.id)).one()
    token = csrf_token(flow.browser.get("/account"))
    path = f"/connections/{action.format(grant)}"
    assert flow.browser.post(path, data={"csrf_token": token} | form).status_code == 303


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


def pressing(*buttons: str) -> Callable[[Flow], None]:
    def act(flow: Flow) -> None:
        flow.connect()
        for button in buttons:
            press(flow, button.strip("+"), **({"trust": "on"} if "+" in button else {}))

    return act


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
        (
            pressing("{}/trust+", "{}/trust", *["{}/disconnect"] * 2),
            [*CONNECTED, *(f"{kind} ok creator" for kind in TRUST)],
        ),
        (
            pressing("{}/mute", *["{}/unmute"] * 2),
            [*CONNECTED, "muted ok creator", "unmuted ok creator"],
        ),
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

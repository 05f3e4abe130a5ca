"""Clients that the operator switches off."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.event_factories import make_agent_token, make_subscription
from tests.factories import make_form
from tests.oauth.flow import Flow, bearer, register
from webapp.base.database import db, utc_now
from webapp.base.errors import NotFound, StateConflict
from webapp.base.vocabulary import DeliveryKind, Scope
from webapp.oauth.connections import disable_client, enable_client
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import COMMAND_LINE_CLIENT, issue_token
from webapp.records.audit import OPERATOR, AuditEvent
from webapp.records.events import EventDelivery, EventSubscription
from webapp.records.forms import AgentToken

pytestmark = both_databases


def disable(app: Flask, flow: Flow) -> int:
    with app.app_context():
        return disable_client(flow.client["client_id"], now=utc_now(), by=OPERATOR)


def enable(app: Flask, flow: Flow) -> None:
    with app.app_context():
        enable_client(flow.client["client_id"], now=utc_now(), by=OPERATOR)


def status(flow: Flow, body: dict[str, str]) -> int:
    headers = bearer(body["access_token"])
    return flow.machine.get("/api/forms", headers=headers).status_code


def another(flow: Flow) -> Flow:
    client = register(flow.browser, client_name="Another", token_endpoint_auth_method="none")
    return Flow(flow.browser, flow.machine, client)


def test_disabling_ends_the_connections_with_what_they_made(app: Flask, flow: Flow) -> None:
    flow.connect()
    other = another(flow).connect()
    with app.app_context():
        newest = select(OAuthGrant).order_by(OAuthGrant.created_at)
        mine, others = db.session.scalars(newest).all()
        form, ids = make_form(mine.account_id), (mine.id, others.id)
        for grant_id in ids:
            make_subscription(form, grant_id=grant_id)
            make_agent_token(form, grant_id=grant_id)

    assert disable(app, flow) == 1

    with app.app_context():
        for model in (EventSubscription, AgentToken, OAuthGrant):
            column = model.id if model is OAuthGrant else model.grant_id
            ended = model.ended_at if model is EventSubscription else model.revoked_at
            found = dict(db.session.execute(select(column, ended)).all())
            assert [found[each] is not None for each in ids] == [True, False]
        kinds = db.session.scalars(select(EventDelivery.kind)).all()
        assert kinds == [DeliveryKind.TERMINATED]
    assert status(flow, other) == 200


def test_a_disabled_client_is_let_in_by_no_door(app: Flask, flow: Flow) -> None:
    body = flow.connect()

    disable(app, flow)

    assert status(flow, body) == 401
    assert flow.refresh(body["refresh_token"]).json["error"] == "invalid_client"
    assert flow.ask().status_code == 400


def test_enabled_again_it_asks_for_consent_anew(app: Flask, flow: Flow) -> None:
    before = flow.connect()
    disable(app, flow)

    enable(app, flow)

    assert status(flow, before) == 401
    assert flow.refresh(before["refresh_token"]).status_code == 400
    assert status(flow, flow.connect()) == 200


def test_it_is_told_once_in_the_audit_trail(app: Flask, flow: Flow) -> None:
    flow.connect()

    assert [disable(app, flow), disable(app, flow)] == [1, 0]
    enable(app, flow)
    enable(app, flow)

    with app.app_context():
        told = select(AuditEvent.kind, AuditEvent.account_id).order_by(AuditEvent.id)
        found = db.session.execute(
            told.where(
                AuditEvent.actor == "operator",
                AuditEvent.client_id == flow.client["client_id"],
                AuditEvent.at > utc_now() - timedelta(minutes=1),
            )
        ).all()
        account = db.session.scalars(select(OAuthGrant.account_id)).first()
    assert sorted(map(tuple, found), key=str) == [
        ("client_disabled", None),
        ("client_enabled", None),
        ("disconnected", account),
    ]
    said = flow.browser.get("/account/activity").text
    assert "Your administrator disconnected <bdi>" in said


def test_an_unknown_one_is_not_found(app: Flask) -> None:
    with app.app_context():
        for call in (disable_client, enable_client):
            with pytest.raises(NotFound, match="cli_unknown"):
                call("cli_unknown", now=utc_now())


def test_no_token_is_issued_that_would_not_work(app: Flask, flow: Flow) -> None:
    flow.connect()
    with app.app_context():
        account = db.session.scalars(select(OAuthGrant.account_id)).one()
        issue_token(account, [Scope.FORMS_READ], "http://127.0.0.1:8000/api", now=utc_now())
        disable_client(COMMAND_LINE_CLIENT, now=utc_now())

        with pytest.raises(StateConflict, match="switched off"):
            issue_token(account, [Scope.FORMS_READ], "http://127.0.0.1:8000/api", now=utc_now())

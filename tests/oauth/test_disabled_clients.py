"""Clients that the operator switches off."""

import pytest
from flask import Flask
from sqlalchemy import select

from tests.event_factories import make_agent_token, make_subscription
from tests.factories import make_form
from tests.oauth.flow import API, Flow, refused
from webapp.base.database import db, utc_now
from webapp.base.errors import StateConflict
from webapp.base.vocabulary import DeliveryKind, Scope
from webapp.oauth.connections import disable_client, enable_client
from webapp.oauth.models import OAuthClient, OAuthGrant
from webapp.oauth.tokens import COMMAND_LINE_CLIENT, add_grant, issue_token
from webapp.records.audit import OPERATOR
from webapp.records.events import EventDelivery, EventSubscription
from webapp.records.forms import AgentToken


def disable(app: Flask, flow: Flow) -> int:
    with app.app_context():
        return disable_client(flow.client["client_id"], now=utc_now(), by=OPERATOR)


def enable(app: Flask, flow: Flow) -> None:
    with app.app_context():
        enable_client(flow.client["client_id"], now=utc_now(), by=OPERATOR)


def test_disabling_ends_the_connections_with_what_they_made(app: Flask, flow: Flow) -> None:
    flow.connect()
    other = flow.other(client_name="Another").connect()
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
    assert flow.opens(other)


def test_a_disabled_client_opens_nothing_and_asks_anew_once_it_is_enabled(
    app: Flask, flow: Flow
) -> None:
    body, code = flow.connect(), flow.code()

    disable(app, flow)

    assert not flow.opens(body)
    refused(flow.refresh(body["refresh_token"]), "invalid_client", 401)
    refused(flow.redeem(code), "invalid_client", 401)
    assert flow.ask().status_code == 400
    enable(app, flow)
    assert not flow.opens(body)
    refused(flow.refresh(body["refresh_token"]), "invalid_grant")
    refused(flow.redeem(code), "invalid_grant")
    assert flow.opens(flow.connect())


def test_no_connection_is_added_behind_the_end_of_all(app: Flask, flow: Flow) -> None:
    flow.connect()
    with app.app_context():
        account = db.session.scalars(select(OAuthGrant.account_id)).one()
        issue_token(account, [Scope.FORMS_READ], API, now=utc_now())
        clients = db.session.scalars(select(OAuthClient)).all()
        for client in clients:
            disable_client(client.client_id, now=utc_now())

        for client in clients:
            with pytest.raises(StateConflict, match="switched off"):
                add_grant(account, client, "forms:read", "", now=utc_now())
        with pytest.raises(StateConflict, match=f"{COMMAND_LINE_CLIENT} is switched off"):
            issue_token(account, [Scope.FORMS_READ], API, now=utc_now())

"""Revocation by a client (RFC 7009)."""

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from tests.databases import both_databases
from tests.event_factories import make_agent_token, make_subscription
from tests.factories import make_form
from tests.oauth.flow import Flow, refused
from webapp.base.database import db
from webapp.oauth.models import OAuthGrant
from webapp.records.events import EventSubscription
from webapp.records.forms import AgentToken


def revoke(flow: Flow, **form: str | None) -> TestResponse:
    return flow.machine.post("/oauth/revoke", data=flow.authenticated(**form))


@pytest.mark.parametrize(("kind", "renewed"), [("access_token", 200), ("refresh_token", 400)])
def test_only_a_refresh_token_ends_a_lasting_connection(
    kind: str, renewed: int, flow: Flow
) -> None:
    body = flow.connect()

    response = revoke(flow, token=body[kind])

    assert response.status_code == 200
    assert not flow.opens(body)
    assert flow.refresh(body["refresh_token"]).status_code == renewed


@both_databases
@pytest.mark.parametrize(
    ("scope", "reason"),
    [("responses:read", "revoked_by_client"), ("responses:read offline_access", None)],
)
def test_revoking_the_last_token_ends_the_connection_and_what_it_made(
    scope: str, reason: str | None, app: Flask, flow: Flow
) -> None:
    body = flow.connect(scope=scope)
    with app.app_context():
        grant_id, account_id = db.session.execute(
            select(OAuthGrant.id, OAuthGrant.account_id)
        ).one()
        form = make_form(account_id)
        make_subscription(form, grant_id=grant_id)
        make_agent_token(form, grant_id=grant_id)

    response = revoke(flow, token=body["access_token"])

    assert response.status_code == 200
    with app.app_context():
        assert db.session.scalars(select(OAuthGrant.revoked_reason)).one() == reason
        ended = select(EventSubscription.ended_at, AgentToken.revoked_at)
        (row,) = db.session.execute(ended.join(AgentToken, AgentToken.grant_id == grant_id))
    assert [at is not None for at in row] == [reason is not None] * 2


@pytest.mark.parametrize("token", ["askat_unknown", "x" * 5000, "", "askat_" + "x" * 43])
def test_revoking_an_unknown_token_succeeds(token: str, flow: Flow) -> None:
    assert revoke(flow, token=token).status_code == 200


@pytest.mark.parametrize("hint", ["access_token", "refresh_token", "id_token", ""])
def test_a_token_type_hint_is_ignored(hint: str, flow: Flow) -> None:
    body = flow.connect()

    revoke(flow, token=body["access_token"], token_type_hint=hint)

    assert not flow.opens(body)


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_another_client_cannot_revoke_a_token(kind: str, flow: Flow) -> None:
    body = flow.connect()

    refused(revoke(flow.other(client_name="Another"), token=body[kind]), "invalid_grant")

    assert flow.opens(body)


def test_a_client_with_a_secret_must_authenticate(confidential: Flow) -> None:
    body = confidential.connect()

    response = revoke(confidential, token=body["access_token"], client_secret="askcs_wrong")

    refused(response, "invalid_client", 401)
    assert confidential.opens(body)


def test_the_token_is_read_from_the_form(flow: Flow) -> None:
    refused(revoke(flow), "invalid_request")
    address = flow.machine.post("/oauth/revoke?token=x", data=flow.authenticated())
    refused(address, "invalid_request")
    refused(revoke(flow, token="askrt_x", client_id="client_unknown"), "invalid_client", 401)

"""Revocation by a client (RFC 7009)."""

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from tests.databases import both_databases
from tests.event_factories import make_agent_token, make_subscription
from tests.factories import make_form
from tests.oauth.flow import Flow, bearer, register
from webapp.base.database import db
from webapp.oauth.models import OAuthGrant
from webapp.records.events import EventSubscription
from webapp.records.forms import AgentToken


def revoke(flow: Flow, **form: str | None) -> TestResponse:
    return flow.machine.post("/oauth/revoke", data=flow.authenticated(**form))


def opens(flow: Flow, body: dict[str, str]) -> bool:
    headers = bearer(body["access_token"])
    return flow.machine.get("/api/forms", headers=headers).status_code == 200


def test_revoking_an_access_token_revokes_nothing_else(flow: Flow) -> None:
    body = flow.connect()

    response = revoke(flow, token=body["access_token"])

    assert response.status_code == 200
    assert not opens(flow, body)
    assert flow.refresh(body["refresh_token"]).status_code == 200


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


def test_revoking_a_refresh_token_ends_the_connection(flow: Flow) -> None:
    body = flow.connect()

    response = revoke(flow, token=body["refresh_token"])

    assert response.status_code == 200
    assert not opens(flow, body)
    assert flow.refresh(body["refresh_token"]).status_code == 400


@pytest.mark.parametrize("token", ["askat_unknown", "x" * 5000, "", "askat_" + "x" * 43])
def test_revoking_an_unknown_token_succeeds(token: str, flow: Flow) -> None:
    assert revoke(flow, token=token).status_code == 200


@pytest.mark.parametrize("hint", ["access_token", "refresh_token", "id_token", "", "\x7f" * 3])
def test_a_token_type_hint_is_ignored(hint: str, flow: Flow) -> None:
    body = flow.connect()

    revoke(flow, token=body["access_token"], token_type_hint=hint if hint.isprintable() else "odd")

    assert not opens(flow, body)


def test_another_client_cannot_revoke_a_token(flow: Flow) -> None:
    body = flow.connect()
    other = Flow(
        flow.browser,
        flow.machine,
        register(flow.browser, client_name="Another", token_endpoint_auth_method="none"),
    )

    revoke(other, token=body["access_token"])
    revoke(other, token=body["refresh_token"])

    assert opens(flow, body)


def test_a_confidential_client_must_authenticate(confidential: Flow) -> None:
    body = confidential.connect()

    response = revoke(confidential, token=body["access_token"], client_secret="askcs_wrong")

    assert response.status_code == 401
    assert opens(confidential, body)


def test_without_a_token_it_is_refused(flow: Flow) -> None:
    assert revoke(flow).status_code == 400


def test_a_token_in_the_address_is_refused(flow: Flow) -> None:
    response = flow.machine.post("/oauth/revoke?token=x", data=flow.authenticated())

    assert response.status_code == 400

"""The same metadata without a secret is the same client, and each account has its own of it."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from tests.databases import both_databases
from tests.factories import make_account, make_form
from tests.oauth.flow import (
    REDIRECT,
    Flow,
    bearer,
    change,
    count,
    enter,
    location,
    refused,
    register,
    way_back,
)
from tests.races.threads import together
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth import connections
from webapp.oauth.connections import disable_client, enable_client
from webapp.oauth.models import OAuthClient, OAuthGrant
from webapp.oauth.registration import register_client
from webapp.oauth.tokens import purge_dead
from webapp.records.accounts.models import Account
from webapp.records.audit import OPERATOR

LOOPBACK = "http://127.0.0.1:4000/cb"
METADATA: dict[str, Any] = {
    "client_name": "Example agent",
    "redirect_uris": [REDIRECT, LOOPBACK],
    "token_endpoint_auth_method": "none",
}


def public(client: FlaskClient, **changed: Any) -> dict[str, Any]:
    return register(client, **METADATA | changed)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"redirect_uris": [REDIRECT, "http://127.0.0.1:4001/cb", "javascript:x"]},
        {"scope": "forms:read", "software_version": "2", "contacts": None},
        {"grant_types": ["refresh_token", "authorization_code", "implicit"]},
    ],
)
def test_the_same_metadata_is_the_same_client(
    changed: dict[str, Any], app: Flask, client: FlaskClient
) -> None:
    first, second = public(client), public(client, **changed)

    assert second["client_id"] == first["client_id"]
    assert second["redirect_uris"] == [
        uri for uri in (METADATA | changed)["redirect_uris"] if uri != "javascript:x"
    ]
    assert count(app, OAuthClient) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"client_name": "Example Agent"},
        {"redirect_uris": [REDIRECT]},
        {"redirect_uris": [REDIRECT, "http://localhost:4000/cb"]},
        {"redirect_uris": ["https://app.example:8443/callback", LOOPBACK]},
        {"grant_types": ["authorization_code"]},
    ],
)
def test_other_metadata_is_another_client(changed: dict[str, Any], client: FlaskClient) -> None:
    assert public(client, **changed)["client_id"] != public(client)["client_id"]


def test_the_port_of_another_install_is_no_default(flow: Flow) -> None:
    for port in (4000, 5000):
        flow.client = public(flow.browser, redirect_uris=[f"http://127.0.0.1:{port}/cb"])

    page = flow.ask(redirect_uri=None)

    assert (page.status_code, "127.0.0.1:4000" in page.text) == (400, False)
    assert flow.ask(redirect_uri="http://127.0.0.1:5000/cb").status_code == 200


@both_databases
def test_registrations_at_once_are_one_client(app: Flask) -> None:
    def call() -> object:
        return register_client(METADATA, now=utc_now())[0]["client_id"]

    assert len(set(together(app, [call] * 6))) == count(app, OAuthClient) == 1


def test_registered_again_it_is_young_again(app: Flask, client: FlaskClient) -> None:
    known = public(client)["client_id"]
    old = utc_now() - timedelta(hours=23, minutes=59)
    change(app, update(OAuthClient).values(created_at=old))

    again = public(client)["client_id"]

    with app.app_context():
        list(purge_dead(utc_now() + timedelta(hours=22)))
        assert db.session.scalars(select(OAuthClient.client_id)).all() == [known]
        list(purge_dead(utc_now() + timedelta(hours=25)))
    assert count(app, OAuthClient) == 0
    assert public(client)["client_id"] == again == known


def test_a_client_that_is_switched_off_stays_so(app: Flask, client: FlaskClient) -> None:
    known = public(client)["client_id"]
    with app.app_context():
        disable_client(known, now=utc_now(), by=OPERATOR)
        list(purge_dead(utc_now() + timedelta(days=400)))

    response = client.post("/oauth/register", json=METADATA)

    assert "switched this client off" in refused(response, "invalid_client_metadata")
    with app.app_context():
        enable_client(known, now=utc_now(), by=OPERATOR)
    assert public(client)["client_id"] == known


@pytest.fixture
def stranger(app: Flask) -> Flow:
    """Somebody else with the same app, signed in."""
    browser = app.test_client()
    with app.app_context():
        enter(browser, make_account(email="bob@example.com"))
    return Flow(browser, app.test_client(), public(browser))


@pytest.fixture
def both(flow: Flow, stranger: Flow) -> tuple[Flow, Flow]:
    flow.client = public(flow.browser)
    assert flow.client["client_id"] == stranger.client["client_id"]
    return flow, stranger


def grants(app: Flask) -> list[OAuthGrant]:
    """Of the creator, then of the stranger."""
    with app.app_context():
        return list(db.session.scalars(select(OAuthGrant).join(Account).order_by(Account.email)))


def test_tokens_belong_to_the_account_that_consented(app: Flask, both: tuple[Flow, Flow]) -> None:
    tokens = [flow.connect() for flow in both]
    with app.app_context():
        own = [make_form(grant.account_id).id for grant in grants(app)]

    for number, body in enumerate(tokens):
        seen = both[0].machine.get("/api/forms", headers=bearer(body["access_token"])).json
        assert [form["formId"] for form in seen["forms"]] == [own[number]]
    with app.app_context():
        grant, _ = grants(app)
        connections.disconnect(grant.account_id, grant.id, now=utc_now())
    refreshed = [
        flow.refresh(body["refresh_token"]) for flow, body in zip(both, tokens, strict=True)
    ]
    assert [response.status_code for response in refreshed] == [400, 200]


def test_failures_of_one_install_do_not_lock_out_another(both: tuple[Flow, Flow]) -> None:
    mine, theirs = both
    tokens = theirs.connect()

    responses = [mine.refresh("askrt_" + "x" * 43) for _ in range(11)]

    refused(responses[-1], "temporarily_unavailable", 429)
    assert theirs.refresh(tokens["refresh_token"]).status_code == 200
    revoked = [mine.revoke(token="askrt_" + "x" * 43).status_code for _ in range(200)]
    assert set(revoked) == {200}  # an office shares the client of an app


@pytest.mark.parametrize("method", [None, "client_secret_basic", "client_secret_post"])
def test_a_client_with_a_secret_is_nobody_elses(method: str | None, client: FlaskClient) -> None:
    first, second = (public(client, token_endpoint_auth_method=method) for _ in range(2))

    assert first["client_id"] != second["client_id"]
    assert first["client_secret"] != second["client_secret"]


def test_the_consent_of_one_is_none_of_another(both: tuple[Flow, Flow]) -> None:
    mine, theirs = both
    mine.connect()

    assert location(mine.ask(prompt="none"))["error"] == "consent_required"
    assert way_back(theirs.ask(prompt="none"))["error"] == "consent_required"
    assert theirs.browser.get("/connections").text.count("Example agent") == 0


def test_trust_and_mutes_belong_to_one_account(app: Flask, both: tuple[Flow, Flow]) -> None:
    mine, theirs = both
    theirs.connect()
    mine.redeem(location(mine.decide(trust="on"))["code"])
    now = utc_now()
    own, other = grants(app)
    assert (own.attests_publish, other.attests_publish) == (True, False)

    with app.app_context():
        connections.set_muted(own.account_id, own.id, muted=True, now=now)
        connections.let_publish(other.account_id, other.id, allowed=False, now=now)

        assert connections.list_muted(own.account_id, now=now)
        assert not connections.list_muted(other.account_id, now=now)
        for account_id, trusted in ((own.account_id, True), (other.account_id, False)):
            (connection,) = connections.list_connections(account_id, now=now)
            assert connection.attests_publish == trusted
            assert Scope.FORMS_WRITE in connection.scopes

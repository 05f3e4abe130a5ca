"""Refresh tokens: rotation, a window for parallel use, the end of a copied one, revocation."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.databases import both_databases
from tests.oauth.flow import Flow, at_once, bearer, change, refused
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import RevokedReason
from webapp.oauth.models import OAuthGrant, OAuthToken


def spend_long_ago(app: Flask) -> None:
    """Past the window for parallel use."""
    moment = utc_now() - timedelta(seconds=121)
    spent = OAuthToken.rotated_at.is_not(None)
    change(app, update(OAuthToken).where(spent).values(rotated_at=moment))


def end_reason(app: Flask) -> str | None:
    with app.app_context():
        return db.session.scalars(select(OAuthGrant.revoked_reason)).one()


def test_a_spent_token_whose_successor_was_used_ends_the_connection(app: Flask, flow: Flow) -> None:
    first = flow.connect()
    second = flow.refresh(first["refresh_token"]).json
    third = flow.refresh(second["refresh_token"]).json

    refused(flow.refresh(first["refresh_token"]), "invalid_grant")

    assert not flow.opens(third)
    assert end_reason(app) == "refresh_reuse"


def test_reuse_after_the_window_ends_the_connection_with_a_notice(app: Flask, flow: Flow) -> None:
    first = flow.connect()
    second = flow.refresh(first["refresh_token"]).json
    spend_long_ago(app)

    refused(flow.refresh(first["refresh_token"]), "invalid_grant")

    assert not flow.opens(second)
    refused(flow.refresh(second["refresh_token"]), "invalid_grant")
    assert end_reason(app) == "refresh_reuse"
    page = flow.browser.get("/connections").text
    assert "its key was used twice" in page
    assert RevokedReason.REFRESH_REUSE not in page


def test_the_refresh_token_keeps_the_whole_scope(flow: Flow) -> None:
    smaller = flow.refresh(flow.connect()["refresh_token"], scope="forms:read").json
    assert smaller["scope"] == "forms:read"

    again = flow.refresh(smaller["refresh_token"]).json

    assert again["scope"] == "forms:read responses:read forms:write offline_access"


@pytest.mark.parametrize(
    ("asked", "granted"),
    [
        ("forms:read openid", "forms:read"),
        ("openid email", "forms:read offline_access"),
        ("", "forms:read offline_access"),
    ],
)
def test_the_scope_narrows_to_what_was_granted(asked: str, granted: str, flow: Flow) -> None:
    body = flow.connect(may=["forms:read", "offline_access"])

    refreshed = flow.refresh(body["refresh_token"], scope=asked).json

    assert refreshed["scope"] == granted
    used = flow.machine.post("/api/drafts", json={}, headers=bearer(refreshed["access_token"]))
    assert used.status_code == 401


@pytest.mark.parametrize("scope", ["forms:write", "forms:write offline_access everything"])
def test_the_scope_never_grows(scope: str, flow: Flow) -> None:
    body = flow.connect(may=["forms:read", "offline_access"])

    said = refused(flow.refresh(body["refresh_token"], scope=scope), "invalid_scope")

    assert "forms:read offline_access" in said
    assert flow.refresh(body["refresh_token"]).status_code == 200


@pytest.mark.parametrize(
    ("table", "values", "error"),
    [
        (OAuthGrant, {"resource": "https://old.example/api"}, "invalid_target"),
        (OAuthGrant, {"revoked_at": utc_now()}, "invalid_grant"),
        (OAuthGrant, {"expires_at": utc_now()}, "invalid_grant"),
        (OAuthToken, {"expires_at": utc_now()}, "invalid_grant"),
        (OAuthToken, {"revoked_at": utc_now()}, "invalid_grant"),
    ],
)
def test_what_has_ended_is_not_renewed(
    table: type[OAuthGrant | OAuthToken], values: dict[str, object], error: str, flow: Flow
) -> None:
    body = flow.connect()
    change(flow.machine.application, update(table).values(values))

    assert "ask for consent again" in refused(flow.refresh(body["refresh_token"]), error)
    assert not flow.opens(body)


def test_no_token_outlives_its_connection(app: Flask, flow: Flow) -> None:
    body = flow.connect()
    change(app, update(OAuthGrant).values(expires_at=utc_now() + timedelta(minutes=10)))

    refreshed = flow.refresh(body["refresh_token"]).json

    assert 590 <= refreshed["expires_in"] <= 600


@pytest.mark.parametrize("token", ["", "askrt_unknown", "askrt_" + "x" * 43, "x" * 5000, None])
def test_an_unknown_token_or_an_access_token_is_not_renewed(token: str | None, flow: Flow) -> None:
    sent = flow.connect()["access_token"] if token is None else token

    refused(flow.refresh(sent), "invalid_grant")


@both_databases
def test_parallel_refreshes_all_succeed_inside_the_window(app: Flask, flow: Flow) -> None:
    responses = at_once(app, [flow.renewal(flow.connect())] * 6)

    assert [response.status_code for response in responses] == [200] * 6
    assert all(flow.opens(response.json) for response in responses)


@pytest.mark.parametrize(("kind", "renewed"), [("access_token", 200), ("refresh_token", 400)])
def test_only_a_refresh_token_ends_a_lasting_connection(
    kind: str, renewed: int, flow: Flow
) -> None:
    body = flow.connect()

    response = flow.revoke(token=body[kind])

    assert response.status_code == 200
    assert not flow.opens(body)
    assert flow.refresh(body["refresh_token"]).status_code == renewed


@pytest.mark.parametrize(
    ("scope", "reason"),
    [("responses:read", "revoked_by_client"), ("responses:read offline_access", None)],
)
def test_revoking_the_last_token_ends_the_connection(
    scope: str, reason: str | None, app: Flask, flow: Flow
) -> None:
    body = flow.connect(scope=scope)

    assert flow.revoke(token=body["access_token"]).status_code == 200
    assert end_reason(app) == reason


@pytest.mark.parametrize("token", ["askat_unknown", "x" * 5000, "", "askat_" + "x" * 43])
def test_revoking_an_unknown_token_succeeds(token: str, flow: Flow) -> None:
    assert flow.revoke(token=token).status_code == 200


def test_the_token_is_read_from_the_form(flow: Flow) -> None:
    refused(flow.revoke(), "invalid_request")
    address = flow.machine.post("/oauth/revoke?token=x", data=flow.authenticated())
    refused(address, "invalid_request")
    refused(flow.revoke(token="askrt_x", client_id="client_unknown"), "invalid_client", 401)

"""Dynamic registration (RFC 7591) and clients made by the operator."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.oauth.flow import REDIRECT, Flow, register
from webapp.database import db, utc_now
from webapp.oauth.models import OAuthClient
from webapp.oauth.registration import Refused, create_client


def client_ids(app: Flask) -> set[str]:
    with app.app_context():
        return set(db.session.scalars(select(OAuthClient.client_id)))


def test_a_client_registers_itself(client: FlaskClient) -> None:
    body = register(client)

    assert body.pop("client_id").startswith("client_")
    assert body.pop("client_secret").startswith("askcs_")
    assert body.pop("client_id_issued_at") > 0
    assert body == {
        "client_name": "Example agent",
        "client_secret_expires_at": 0,
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic",
        "scope": "forms:read responses:read forms:write offline_access",
    }


def test_the_response_may_not_be_cached(client: FlaskClient) -> None:
    response = client.post("/oauth/register", json={"redirect_uris": [REDIRECT]})

    assert response.headers["Cache-Control"] == "no-store"


def test_a_public_client_gets_no_secret(client: FlaskClient) -> None:
    assert "client_secret" not in register(client, token_endpoint_auth_method="none")


def test_what_is_not_supported_is_dropped(client: FlaskClient) -> None:
    body = register(
        client,
        grant_types=["authorization_code", "implicit", "password"],
        response_types=["code", "token"],
        scope="forms:read",
        logo_uri="https://app.example/logo.png",
    )

    assert body["grant_types"] == ["authorization_code"]
    assert body["response_types"] == ["code"]
    assert body["scope"] == "forms:read responses:read forms:write offline_access"
    assert "logo_uri" not in body


def test_a_client_that_names_no_grant_types_may_stay_connected(client: FlaskClient) -> None:
    body = client.post("/oauth/register", json={"redirect_uris": [REDIRECT]}).json

    assert body is not None
    assert body["grant_types"] == ["authorization_code", "refresh_token"]


def test_without_a_name_it_is_called_after_its_address(client: FlaskClient) -> None:
    body = client.post("/oauth/register", json={"redirect_uris": [REDIRECT]}).json

    assert body is not None
    assert body["client_name"] == "app.example"


BAD: list[tuple[Any, str]] = [
    ([], "invalid_client_metadata"),
    ("text", "invalid_client_metadata"),
    (None, "invalid_client_metadata"),
    (7, "invalid_client_metadata"),
    ({}, "invalid_redirect_uri"),
    ({"redirect_uris": []}, "invalid_redirect_uri"),
    ({"redirect_uris": REDIRECT}, "invalid_redirect_uri"),
    ({"redirect_uris": [REDIRECT] * 21}, "invalid_redirect_uri"),
    ({"redirect_uris": ["javascript://x/%0aalert(1)"]}, "invalid_redirect_uri"),
    ({"redirect_uris": [REDIRECT, "http://evil.example/"]}, "invalid_redirect_uri"),
    ({"redirect_uris": [REDIRECT, None]}, "invalid_redirect_uri"),
    ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
    ({"token_endpoint_auth_method": 7}, "invalid_client_metadata"),
    ({"token_endpoint_auth_method": ["none"]}, "invalid_client_metadata"),
    ({"grant_types": []}, "invalid_client_metadata"),
    ({"grant_types": ["implicit"]}, "invalid_client_metadata"),
    ({"grant_types": "authorization_code"}, "invalid_client_metadata"),
    ({"grant_types": [["authorization_code"]]}, "invalid_client_metadata"),
    ({"client_name": "x" * 81}, "invalid_client_metadata"),
    ({"client_name": ""}, "invalid_client_metadata"),
    ({"client_name": 7}, "invalid_client_metadata"),
    ({"client_name": "a\nb"}, "invalid_client_metadata"),
    ({"client_name": "a\u0000b"}, "invalid_client_metadata"),
    ({"client_name": "a\u202eb"}, "invalid_client_metadata"),
    ({"client_name": "a\ud800b"}, "invalid_client_metadata"),
]


@pytest.mark.parametrize(("body", "error"), BAD)
def test_bad_metadata_is_refused(body: Any, error: str, app: Flask, client: FlaskClient) -> None:
    usable = isinstance(body, dict) and body != {} and "redirect_uris" not in body
    sent = {"redirect_uris": [REDIRECT]} | body if usable else body

    response = client.post("/oauth/register", json=sent)

    assert response.status_code == 400
    assert response.json is not None
    assert response.json["error"] == error
    assert client_ids(app) == set()


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\xff\xfe", b"redirect_uris=x", b"[" * 8000, b'{"a": NaN']
)
def test_what_is_no_json_is_refused(data: bytes, client: FlaskClient) -> None:
    response = client.post("/oauth/register", data=data, content_type="application/json")

    assert response.status_code == 400
    assert response.json is not None
    assert response.json["error"] == "invalid_client_metadata"


def test_a_huge_body_is_refused(client: FlaskClient) -> None:
    response = client.post("/oauth/register", json={"client_name": "x" * 20_000})

    assert response.status_code == 413


def test_an_address_may_register_ten_clients_an_hour(client: FlaskClient) -> None:
    for _ in range(10):
        register(client)

    response = client.post("/oauth/register", json={"redirect_uris": [REDIRECT]})

    assert response.status_code == 429
    assert 1 <= int(response.headers["Retry-After"]) <= 3600


def test_the_operator_makes_a_client_with_a_secret(app: Flask) -> None:
    with app.app_context():
        client_id, secret = create_client("Ours", [REDIRECT], now=utc_now())

    assert client_id.startswith("client_")
    assert secret is not None
    assert secret.startswith("askcs_")


def test_the_operator_makes_a_public_client(app: Flask, flow: Flow) -> None:
    with app.app_context():
        client_id, secret = create_client("Ours", [REDIRECT], public=True, now=utc_now())
    flow.client = {"client_id": client_id}

    assert secret is None
    assert "refresh_token" in flow.connect()


def test_the_operator_too_cannot_register_a_bad_address(app: Flask) -> None:
    with app.app_context(), pytest.raises(Refused):
        create_client("Ours", ["http://app.example/"], now=utc_now())

"""Dynamic registration (RFC 7591) and clients made by the operator."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.oauth.flow import ALL_SCOPES, REDIRECT, Flow, refused, register
from webapp.base.database import db, utc_now
from webapp.oauth import endpoints
from webapp.oauth.models import OAuthClient
from webapp.oauth.registration import Refused, create_client


def test_a_client_registers_itself(client: FlaskClient) -> None:
    response = client.post("/oauth/register", json={"redirect_uris": [REDIRECT]})

    body = response.json
    assert body.pop("client_id").startswith("client_")
    assert body.pop("client_secret").startswith("askcs_")
    assert body.pop("client_id_issued_at") > 0
    assert body == {
        "client_name": "app.example",
        "client_secret_expires_at": 0,
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic",
        "scope": ALL_SCOPES,
    }
    assert response.headers["Cache-Control"] == "no-store"
    assert "client_secret" not in register(client, token_endpoint_auth_method="none")


BAD: list[tuple[Any, str]] = [
    *((body, "invalid_client_metadata") for body in ([], "text", None, 7)),
    ({}, "invalid_redirect_uri"),
    *(
        ({"redirect_uris": uris}, "invalid_redirect_uri")
        for uris in (
            *([], None, "", {"uri": REDIRECT}, ["javascript://x/%0aalert(1)"]),
            ["http://evil.example/", 7, [REDIRECT]],
        )
    ),
    *(
        ({"grant_types": types}, "invalid_client_metadata")
        for types in (["implicit"], "client_credentials", [["authorization_code"]])
    ),
]


@pytest.mark.parametrize(("body", "error"), BAD)
def test_bad_metadata_is_refused(body: Any, error: str, app: Flask, client: FlaskClient) -> None:
    usable = isinstance(body, dict) and body != {} and "redirect_uris" not in body
    sent = {"redirect_uris": [REDIRECT]} | body if usable else body

    refused(client.post("/oauth/register", json=sent), error)

    with app.app_context():
        assert db.session.scalars(select(OAuthClient)).all() == []


@pytest.mark.parametrize(
    ("data", "error", "status"),
    [
        *(
            (data, "invalid_client_metadata", 400)
            for data in (b"", b"{", b"\xff\xfe", b"redirect_uris=x", b"[" * 8000, b'{"a": NaN')
        ),
        (b'{"client_name": "%s"}' % (b"x" * 20_000), "invalid_request", 413),
    ],
)
def test_what_is_no_json_or_huge_is_refused(
    data: bytes, error: str, status: int, client: FlaskClient
) -> None:
    response = client.post("/oauth/register", data=data, content_type="application/json")

    refused(response, error, status)


@pytest.mark.parametrize(
    ("sent", "granted"),
    [
        ({"token_endpoint_auth_method": "private_key_jwt"}, "client_secret_basic"),
        ({"token_endpoint_auth_method": "client_secret_post"}, "client_secret_post"),
        ({"grant_types": ["authorization_code", "implicit", "password"]}, ["authorization_code"]),
        ({"scope": "forms:read"}, ALL_SCOPES),
        ({"redirect_uris": REDIRECT}, [REDIRECT]),
        ({"redirect_uris": [REDIRECT, None, "", REDIRECT]}, [REDIRECT]),
        ({"client_name": 7}, "app.example"),
        ({"client_name": "a\u0000\u202eb\ud800"}, "ab"),
        ({"client_name": "x" * 79 + "\U0001f468\u200d\U0001f469"}, "x" * 79 + "\U0001f468"),
        ({"client_name": " \u200d می\u200cخواهم \u200c"}, "می\u200cخواهم"),
    ],
)
def test_the_response_says_what_was_granted(
    sent: dict[str, Any], granted: object, client: FlaskClient
) -> None:
    assert register(client, **sent).get(next(iter(sent))) == granted


def test_addresses_that_are_not_taken_are_named(app: Flask, flow: Flow) -> None:
    bad = ["javascript:alert(1)", "http://evil.example/", "https://[::1/"]

    body = register(flow.browser, redirect_uris=[*bad, 7, [REDIRECT], REDIRECT])

    assert body["redirect_uris"] == [REDIRECT]
    refused = body["refused_redirect_uris"]
    assert [each["redirect_uri"] for each in refused] == [*bad, None, None]
    assert "javascript" in refused[0]["reason"]
    flow.client = body
    for uri in bad:
        page = flow.ask(redirect_uri=uri)
        assert (page.status_code, "Location" in page.headers) == (400, False)


def test_the_ceiling_counts_new_clients_only(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "REGISTRATION_RATE", "2/hour")
    for _ in range(4):
        register(client, token_endpoint_auth_method="none")
        assert client.post("/oauth/register", json={}).status_code == 400
    register(client)

    response = client.post("/oauth/register", json={"redirect_uris": [REDIRECT]})

    refused(response, "temporarily_unavailable", 429)
    assert 1 <= int(response.headers["Retry-After"]) <= 3600


def test_refusals_have_a_limit_of_their_own(client: FlaskClient) -> None:
    statuses = [client.post("/oauth/register", json={}).status_code for _ in range(61)]

    assert statuses == [400] * 60 + [429]
    register(client)  # of which somebody else at this address notices nothing


@pytest.mark.parametrize("public", [False, True])
def test_the_operator_makes_a_client(app: Flask, flow: Flow, *, public: bool) -> None:
    with app.app_context():
        client_id, secret = create_client("Ours", [REDIRECT], public=public, now=utc_now())
    flow.client = {"client_id": client_id, "client_secret": secret}

    assert (secret or "askcs_").startswith("askcs_")
    assert (secret is None) == public
    assert "refresh_token" in flow.connect()


@pytest.mark.parametrize(
    ("name", "uris"),
    [
        *(("Ours", [*more, "http://app.example/"]) for more in ([], [REDIRECT])),
        *((name, [REDIRECT]) for name in ("", "x" * 81, "a\nb")),
    ],
)
def test_the_operator_is_refused_what_would_be_changed(
    name: str, uris: list[str], app: Flask
) -> None:
    with app.app_context(), pytest.raises(Refused):
        create_client(name, uris, now=utc_now())

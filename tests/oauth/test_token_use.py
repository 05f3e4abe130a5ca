"""Access tokens at the API: what they open, and the challenge when they do not."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event, func, select, update

from tests.oauth.flow import API, MCP, Flow, bearer
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.models import OAuthClient, OAuthGrant, OAuthToken
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account

ALL = 'scope="forms:read forms:write responses:read"'
METADATA = 'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource/api"'
every_end = pytest.mark.parametrize(
    "statement",
    [
        lambda now: update(OAuthToken).values(expires_at=now),
        lambda now: update(OAuthToken).values(revoked_at=now),
        lambda now: update(OAuthGrant).values(revoked_at=now),
        lambda now: update(OAuthGrant).values(expires_at=now),
    ],
    ids=["expired", "revoked", "disconnected", "connection over"],
)


@pytest.fixture
def token(app: Flask, account: Account) -> str:
    """May read forms."""
    with app.app_context():
        return issue_token(account.id, [Scope.FORMS_READ], API, now=utc_now())


def changed(app: Flask, statement: object) -> None:
    with app.app_context():
        db.session.execute(statement)  # type: ignore[call-overload]
        db.session.commit()


def challenge(app: Flask, path: str = "/api/forms", **headers: str) -> str:
    """The challenge of a refused GET."""
    response = app.test_client().get(path, headers=headers)
    assert response.status_code == 401
    assert response.json is not None
    assert response.json["code"] == "authentication_required"
    value: str = response.headers["WWW-Authenticate"]
    assert "\n" not in value
    return value


def remedy(app: Flask, path: str = "/api/forms", **headers: str) -> str:
    """What the body of a refused GET says to do."""
    body = app.test_client().get(path, headers=headers).json
    assert body is not None
    assert body["code"] == "authentication_required"
    return str(body["resolution"])


def test_an_access_token_is_accepted(app: Flask, token: str) -> None:
    assert app.test_client().get("/api/forms", headers=bearer(token)).status_code == 200


def test_the_scheme_is_read_without_case(app: Flask, token: str) -> None:
    response = app.test_client().get("/api/forms", headers={"Authorization": f"bearer  {token}"})

    assert response.status_code == 200


def test_without_a_token_the_challenge_names_no_error(app: Flask) -> None:
    assert challenge(app) == f"Bearer {METADATA}, {ALL}"


@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer",
        "Bearer ",
        "Bearer garbage",
        "Bearer askat_" + "x" * 43,
        "Bearer " + "x" * 5000,
        "Bearer a b c",
        "Basic YTpi",
        "askat_x",
    ],
)
def test_garbage_is_an_invalid_token(authorization: str, app: Flask) -> None:
    value = challenge(app, Authorization=authorization)

    assert value.startswith('Bearer error="invalid_token", error_description="')
    assert value.endswith(f"{METADATA}, {ALL}")


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer garbage"}])
def test_what_to_do_without_a_token_names_the_scopes(headers: dict[str, str], app: Flask) -> None:
    expected = "header says, with the scope forms:read forms:write responses:read, and retry"

    assert expected in remedy(app, **headers)


def test_what_to_do_without_a_scope_names_the_granted_and_the_needed(
    app: Flask, token: str
) -> None:
    expected = remedy(app, "/api/forms/frm_x/responses", **bearer(token))

    assert expected.startswith("Complete OAuth")
    assert "with the scope forms:read responses:read" in expected


def test_a_token_in_the_address_has_its_own_remedy(app: Flask, token: str) -> None:
    assert remedy(app, f"/api/forms?token={token}").startswith("Take the token out of the address")


def test_a_token_for_mcp_has_its_own_remedy(app: Flask, account: Account) -> None:
    with app.app_context():
        token = issue_token(account.id, list(Scope), MCP, now=utc_now())

    assert f"resource={API}, or without it" in remedy(app, **bearer(token))


@pytest.mark.parametrize("name", ["access_token", "token"])
def test_a_token_in_the_address_is_refused(name: str, app: Flask, token: str) -> None:
    assert "invalid_request" in challenge(app, f"/api/forms?{name}={token}")


def test_a_token_in_the_address_is_refused_beside_a_header(app: Flask, token: str) -> None:
    assert "invalid_request" in challenge(app, f"/api/forms?access_token={token}", **bearer(token))


@every_end
def test_a_dead_token_is_invalid(statement: object, app: Flask, token: str) -> None:
    changed(app, statement(utc_now()))  # type: ignore[operator]

    assert 'error="invalid_token"' in challenge(app, **bearer(token))


def test_a_token_for_mcp_does_not_open_the_api(app: Flask, account: Account) -> None:
    with app.app_context():
        token = issue_token(account.id, list(Scope), MCP, now=utc_now())

    assert 'error="invalid_token"' in challenge(app, **bearer(token))


def test_a_missing_scope_asks_for_the_granted_and_the_needed(app: Flask, token: str) -> None:
    value = challenge(app, "/api/forms/frm_x/responses", **bearer(token))

    assert value == (
        'Bearer error="insufficient_scope", '
        'error_description="This access token lacks the permission responses:read.", '
        f'{METADATA}, scope="forms:read responses:read"'
    )


@pytest.mark.parametrize("scopes", [[], ["offline_access"], ["forms:write", "responses:read"]])
def test_other_scopes_do_not_replace_the_required_one(
    scopes: list[str], app: Flask, account: Account
) -> None:
    with app.app_context():
        token = issue_token(account.id, map(Scope, scopes), API, now=utc_now())

    assert "insufficient_scope" in challenge(app, **bearer(token))


def test_a_refresh_token_is_no_access_token(app: Flask, flow: Flow) -> None:
    refresh_token = flow.connect()["refresh_token"]

    assert 'error="invalid_token"' in challenge(app, **bearer(refresh_token))


def test_token_use_is_stored_at_most_once_a_minute(app: Flask, token: str) -> None:
    app.test_client().get("/api/forms", headers=bearer(token))
    with app.app_context():
        first = db.session.scalars(select(OAuthGrant.last_used_at)).one()

    app.test_client().get("/api/forms", headers=bearer(token))

    with app.app_context():
        assert db.session.scalars(select(OAuthGrant.last_used_at)).one() == first
    assert first is not None


def test_token_use_is_stored_again_after_a_minute(app: Flask, token: str) -> None:
    long_ago = utc_now() - timedelta(seconds=61)
    changed(app, update(OAuthGrant).values(last_used_at=long_ago))

    app.test_client().get("/api/forms", headers=bearer(token))

    with app.app_context():
        noted = db.session.scalars(select(OAuthGrant.last_used_at)).one()
    assert noted is not None
    assert noted > long_ago


@pytest.fixture
def read_only(app: Flask) -> Iterator[None]:
    """SQLite refuses every write, as on a disk that is full or mounted for reading."""

    def refuse_writes(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA query_only=ON")

    with app.app_context():
        engine = db.engine
        engine.dispose()
        event.listen(engine, "connect", refuse_writes)
        yield
        event.remove(engine, "connect", refuse_writes)
        engine.dispose()


def test_reads_succeed_on_a_read_only_database(app: Flask, token: str, read_only: None) -> None:
    statuses = [
        app.test_client().get("/api/forms", headers=bearer(token)).status_code for _ in range(2)
    ]

    assert statuses == [200, 200]


def test_a_read_only_database_is_reported_to_api_clients(app: Flask, read_only: None) -> None:
    metadata = {"redirect_uris": ["https://app.example/callback"]}

    response = app.test_client().post("/oauth/register", json=metadata)

    assert (response.status_code, response.json["error"]) == (500, "server_error")


def test_issuing_tokens_makes_one_client(app: Flask, account: Account) -> None:
    with app.app_context():
        tokens = {issue_token(account.id, [], API, now=utc_now()) for _ in range(3)}
        clients = db.session.scalar(select(func.count()).select_from(OAuthClient))

    assert (len(tokens), clients) == (3, 1)

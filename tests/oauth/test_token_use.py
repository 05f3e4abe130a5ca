"""Access tokens at the API: what they open, and the challenge when they do not."""

from collections.abc import Iterable

import pytest
from flask import Flask
from sqlalchemy import update

from tests.oauth.flow import API, Flow, bearer, change
from webapp.base.database import utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.models import OAuthGrant, OAuthToken
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account

ALL = 'scope="forms:read forms:write responses:read"'
METADATA = 'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource/api"'


every_end = pytest.mark.parametrize(
    "statement",
    [
        lambda now, table=table, column=column: update(table).values({column: now})
        for table in (OAuthToken, OAuthGrant)
        for column in ("expires_at", "revoked_at")
    ],
)


def issue(app: Flask, account: Account, scopes: Iterable[Scope]) -> str:
    with app.app_context():
        return issue_token(account.id, scopes, API, now=utc_now())


@pytest.fixture
def token(app: Flask, account: Account) -> str:
    """May read forms."""
    return issue(app, account, [Scope.FORMS_READ])


def refusal(app: Flask, path: str = "/api/forms", **headers: str) -> tuple[str, str]:
    """The challenge of a refused GET, and what its body says to do."""
    response = app.test_client().get(path, headers=headers)
    assert response.status_code == 401
    assert response.json is not None
    assert response.json["code"] == "authentication_required"
    return response.headers["WWW-Authenticate"], response.json["resolution"]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer "])
def test_an_access_token_is_accepted(scheme: str, app: Flask, token: str) -> None:
    headers = {"Authorization": f"{scheme} {token}"}

    assert app.test_client().get("/api/forms", headers=headers).status_code == 200


def test_without_a_token_the_challenge_names_no_error(app: Flask) -> None:
    challenge, remedy = refusal(app)

    assert challenge == f"Bearer {METADATA}, {ALL}"
    assert "with the scope forms:read forms:write responses:read, and retry" in remedy


@pytest.mark.parametrize(
    "authorization",
    [
        *("Bearer", "Bearer ", "Bearer garbage", "Bearer a b c", "Basic YTpi", "askat_x"),
        *("Bearer askat_" + "x" * 43, "Bearer " + "x" * 5000),
    ],
)
def test_garbage_is_an_invalid_token(authorization: str, app: Flask) -> None:
    challenge, remedy = refusal(app, Authorization=authorization)

    assert challenge.startswith('Bearer error="invalid_token", error_description="')
    assert challenge.endswith(f"{METADATA}, {ALL}")
    assert "with the scope forms:read forms:write responses:read, and retry" in remedy


@pytest.mark.parametrize("name", ["access_token", "token"])
@pytest.mark.parametrize("also_sent", [False, True])
def test_a_token_in_the_address_is_refused(
    name: str, app: Flask, token: str, *, also_sent: bool
) -> None:
    path = f"/api/forms?{name}={token}"
    challenge, remedy = refusal(app, path, **(bearer(token) if also_sent else {}))

    assert 'error="invalid_request"' in challenge
    assert remedy.startswith("Take the token out of the address")


@every_end
def test_a_dead_token_is_invalid(statement: object, app: Flask, token: str) -> None:
    change(app, statement(utc_now()))  # type: ignore[operator]

    assert 'error="invalid_token"' in refusal(app, **bearer(token))[0]


def test_a_missing_scope_asks_for_the_granted_and_the_needed(app: Flask, token: str) -> None:
    challenge, remedy = refusal(app, "/api/forms/frm_x/responses", **bearer(token))

    assert challenge == (
        'Bearer error="insufficient_scope", '
        'error_description="This access token lacks the permission responses:read.", '
        f'{METADATA}, scope="forms:read responses:read"'
    )
    assert remedy.startswith("Complete OAuth")
    assert "with the scope forms:read responses:read" in remedy


def test_a_refresh_token_is_no_access_token(app: Flask, flow: Flow) -> None:
    refresh_token = flow.connect()["refresh_token"]

    assert 'error="invalid_token"' in refusal(app, **bearer(refresh_token))[0]

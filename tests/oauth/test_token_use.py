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


@every_end
def test_a_dead_token_is_invalid(statement: object, app: Flask, token: str) -> None:
    change(app, statement(utc_now()))  # type: ignore[operator]

    assert 'error="invalid_token"' in refusal(app, **bearer(token))[0]


def test_a_refresh_token_is_no_access_token(app: Flask, flow: Flow) -> None:
    refresh_token = flow.connect()["refresh_token"]

    assert 'error="invalid_token"' in refusal(app, **bearer(refresh_token))[0]

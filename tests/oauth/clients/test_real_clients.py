"""Clients that other people wrote, against a served installation."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from requests_oauthlib import OAuth2Session as OauthlibSession

from tests.oauth.flow import ALL_SCOPES, REDIRECT
from tests.oauth.live import Installation, Person, installation
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.oauth.registration import create_client
from webapp.web.limiter import limiter


@pytest.fixture
def running(settings: Settings, tmp_path: Path) -> Iterator[Installation]:
    own = settings.model_copy(update={"database_url": f"sqlite:///{tmp_path}/clients.sqlite3"})
    with installation(own) as running:
        limiter.reset()
        yield running


@pytest.fixture
def person(running: Installation) -> Person:
    return running.person()


@pytest.fixture
def client(running: Installation) -> tuple[str, str]:
    """Id and secret of a client that the operator made."""
    with running.app.app_context():
        client_id, secret = create_client("Rota sync", [REDIRECT], now=utc_now())
    return client_id, str(secret)


def test_authlib_connects_and_refreshes_by_itself(
    running: Installation, person: Person, client: tuple[str, str]
) -> None:
    refreshed: list[dict[str, Any]] = []
    session = AuthlibSession(
        *client,
        scope=ALL_SCOPES,
        redirect_uri=REDIRECT,
        code_challenge_method="S256",
        token_endpoint=f"{running.origin}/oauth/token",
        update_token=lambda token, **_: refreshed.append(token),
    )
    address, _ = session.create_authorization_url(
        f"{running.origin}/oauth/authorize", code_verifier="v" * 43
    )
    token = session.fetch_token(
        authorization_response=person.allow(address), code_verifier="v" * 43
    )
    session.token = token | {"expires_at": 1}

    response = session.get(f"{running.origin}/api/forms")

    assert response.status_code == 200
    assert len(refreshed) == 1
    assert refreshed[0]["refresh_token"] != token["refresh_token"]


def test_requests_oauthlib_connects(
    running: Installation,
    person: Person,
    client: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # that library refuses plain http even on loopback
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    client_id, secret = client
    session = OauthlibSession(
        client_id, scope=["forms:read", "forms:write"], redirect_uri=REDIRECT, pkce="S256"
    )
    address, _ = session.authorization_url(f"{running.origin}/oauth/authorize")

    session.fetch_token(
        f"{running.origin}/oauth/token",
        authorization_response=person.allow(address),
        client_secret=secret,
    )

    draft = session.post(f"{running.origin}/api/drafts", json={"title": "Rota"})
    assert draft.status_code == 201
    assert session.get(f"{running.origin}/api/forms").status_code == 200

"""Clients that other people wrote, against a served installation."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from requests_oauthlib import OAuth2Session as OauthlibSession

from tests.oauth.clients.documents import CLIENT_ID, document, running_site
from tests.oauth.clients.official import Storage, official_provider
from tests.oauth.flow import ALL_SCOPES, REDIRECT
from tests.oauth.live import Installation, Person, installation
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.oauth import registration
from webapp.oauth.registration import create_client
from webapp.web.limiter import limiter


@pytest.fixture
def running(settings: Settings, tmp_path: Path) -> Iterator[Installation]:
    own = settings.model_copy(update={"database_url": f"sqlite:///{tmp_path}/clients.sqlite3"})
    with installation(own) as running:
        limiter.reset()
        registration.failures.clear()
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


def connected(running: Installation, person: Person, **changed: Any) -> Storage:
    """What the official client remembers after a call of the REST API."""
    storage = Storage()
    provider = official_provider(f"{running.origin}/api", storage, person.allow, **changed)

    async def run() -> int:
        async with httpx2.AsyncClient(auth=provider, trust_env=False) as http:
            return (await http.get(f"{running.origin}/api/forms")).status_code

    assert asyncio.run(run()) == 200
    assert storage.client is not None
    return storage


def test_the_mcp_client_finds_registers_and_connects(running: Installation, person: Person) -> None:
    storage = connected(running, person, method="client_secret_basic")

    assert person.consents == 1
    assert storage.client.token_endpoint_auth_method == "client_secret_basic"
    assert storage.scopes == {*ALL_SCOPES.split()}
    assert storage.tokens.refresh_token is not None


def test_the_mcp_client_connects_by_its_document(
    running: Installation, person: Person, tmp_path: Path
) -> None:
    with running_site(tmp_path) as site:
        site.serve(document(redirect_uris=["http://127.0.0.1:3000/callback"]))
        running.app.config["PINNED_HOSTS"] = site.pinned
        storage = connected(running, person, client_metadata_url=CLIENT_ID)

    assert storage.client.client_id == CLIENT_ID


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

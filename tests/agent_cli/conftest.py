"""An installation, and a user in front of it who is signed in or not."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select, update

from tests.agent_cli.site import Site, site
from tests.agent_cli.terminal import User
from webapp.agent_cli import connections
from webapp.agent_cli.sign_in import REDIRECT, SCOPES
from webapp.base.config import Settings
from webapp.base.database import db, utc_now, write_transaction
from webapp.base.vocabulary import TokenKind
from webapp.oauth.models import OAuthClient, OAuthGrant
from webapp.oauth.registration import register_client
from webapp.oauth.tokens import add_grant, add_token
from webapp.records.accounts.models import Account
from webapp.web.limiter import limiter

HOUR = 3600


@pytest.fixture
def running(settings: Settings, tmp_path: Path) -> Iterator[Site]:
    own = settings.model_copy(update={"database_url": f"sqlite:///{tmp_path}/agents.sqlite3"})
    with site(own) as running:
        limiter.reset()
        yield running


@pytest.fixture
def stranger(running: Site, tmp_path: Path) -> Iterator[User]:
    with closing(User(running, tmp_path / "home")) as user:
        yield user


@pytest.fixture
def user(stranger: User, monkeypatch: pytest.MonkeyPatch) -> User:
    """Signed in an hour ago, at the cost of a few rows."""
    monkeypatch.setenv("HOME", str(stranger.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    with stranger.running.app.app_context():
        connections.store(connected(stranger.running.origin))
    return stranger


@pytest.fixture
def trusted(user: User) -> User:
    """The creator has let this connection publish."""
    with user.running.app.app_context():
        db.session.execute(update(OAuthGrant).values(attests_publish=True))
        db.session.commit()
    return user


def connected(origin: str) -> connections.Connection:
    """What a sign-in leaves: a registered client, a consent and its tokens."""
    now = utc_now()
    metadata = {"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"}
    client_id = register_client(metadata | {"client_name": "Command line"}, now=now)[0]["client_id"]
    account = db.session.scalars(select(Account)).one()
    client = db.session.scalars(select(OAuthClient)).one()
    with write_transaction():
        grant = add_grant(account.id, client, SCOPES, f"{origin}/api", now=now)
        db.session.flush()
        tokens = {
            "access_token": add_token(grant, TokenKind.ACCESS, SCOPES, now=now),
            "refresh_token": add_token(grant, TokenKind.REFRESH, SCOPES, now=now),
        }
    return connections.Connection(
        server=origin,
        client_id=client_id,
        expires_at=time.time() + HOUR,
        **tokens,
    )

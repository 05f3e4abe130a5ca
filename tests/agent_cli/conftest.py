"""An installation, and a user in front of it who is signed in or not."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.agent_cli.site import Site, site
from tests.agent_cli.terminal import User
from webapp.config import Settings
from webapp.web.rate_limits.limiter import limiter


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
def user(stranger: User) -> User:
    assert stranger.sign_in().code == 0
    return stranger

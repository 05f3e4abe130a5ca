"""Installations and agents for journeys."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journey.installation import Installation, embedded, production
from tests.services import postgresql_database


@pytest.fixture(params=["embedded", "production"])
def installation(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    """Both run modes, each with an empty database."""
    if request.param == "embedded":
        with embedded(tmp_path) as running:
            yield running
        return
    with postgresql_database(request.getfixturevalue("postgresql_url")) as database_url:
        redis_url = request.getfixturevalue("redis_url")
        with production(tmp_path, database_url, redis_url) as running:
            yield running


@pytest.fixture(autouse=True)
def plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client library of the agent refuses http, even on this machine, unless it is told."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")

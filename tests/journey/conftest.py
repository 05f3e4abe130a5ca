"""Installations and agents for journeys."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journey.installation import Installation, embedded, production
from tests.services import postgresql_database
from tests.tls import certified


@pytest.fixture(params=["embedded", pytest.param("production", marks=pytest.mark.prove)])
def installation(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    """Both run modes, each with an empty database."""
    if request.param == "embedded":
        with embedded(tmp_path) as running:
            yield running
        return
    authority = certified(tmp_path, "127.0.0.1")
    request.getfixturevalue("monkeypatch").setenv("REQUESTS_CA_BUNDLE", str(authority.ca_file))
    redis_url = request.getfixturevalue("redis_url")
    with (
        postgresql_database(request.getfixturevalue("postgresql_url")) as database_url,
        production(tmp_path, authority, database_url, redis_url) as running,
    ):
        yield running


@pytest.fixture(autouse=True)
def plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client library refuses to come back to http, even on this machine, unless it is told."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")

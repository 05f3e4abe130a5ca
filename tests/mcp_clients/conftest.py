"""A running installation, its creators, and respondents, for clients that other people wrote."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass

import pytest

from tests.command import askback_here
from tests.journey.installation import Installation, embedded
from tests.mcp_clients.people import Creator
from tests.oauth.flow import EMAIL, PASSWORD
from tests.services import free_port

ALL_SCOPES = "forms:read forms:write responses:read"
CALLBACK_PORT = free_port()  # where an agent of the tests takes webhooks


@dataclass
class Place:
    """`askback run` with accounts in it."""

    installation: Installation
    people: ExitStack

    @property
    def mcp_url(self) -> str:
        return f"{self.installation.url}/mcp/app"

    def creator(self, email: str = EMAIL) -> Creator:
        """The browser of somebody with an account."""
        return self.people.enter_context(closing(Creator(self.installation.url, email)))

    def join(self, email: str) -> None:
        """One more account."""
        command = ["creator", "create", "--email", email, "--password-stdin"]
        made = askback_here(*command, typed=PASSWORD, **self.installation.variables)
        assert made.returncode == 0, made.stderr

    def token(self, scope: str = ALL_SCOPES, email: str = EMAIL) -> str:
        """An access token for the MCP endpoint, by the command line."""
        command = ["token", "issue", "--email", email, "--scope", scope, "--resource", "mcp"]
        issued = askback_here(*command, **self.installation.variables)
        assert issued.returncode == 0, issued.stderr
        return issued.stdout.strip()


@pytest.fixture(scope="package")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    changed = {
        "WRITE_LIMITS": "off",
        "MCP_EVENTS_CALLBACK_ALLOWLIST": f"http://127.0.0.1:{CALLBACK_PORT}",
    }
    with embedded(tmp_path_factory.mktemp("place"), **changed) as running, ExitStack() as people:
        place = Place(running, people)
        place.join(EMAIL)
        yield place


@pytest.fixture(scope="package")
def creator(place: Place) -> Creator:
    """Signed in."""
    return place.creator()


@pytest.fixture(scope="package")
def token(place: Place) -> str:
    """With every scope."""
    return place.token()


@pytest.fixture(params=["auto", "legacy"])
def mode(request: pytest.FixtureRequest) -> str:
    """Of the official clients: the newest protocol, and the handshake of the earlier ones."""
    found: str = request.param
    return found

"""The site of a client with a metadata document."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oauth.clients.documents import Site, document, running_site
from tests.pinning import pinning


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("site")
    with running_site(folder) as site:
        yield site


@pytest.fixture
def site(running: Site) -> Iterator[Site]:
    """The client's site with a good document; `agent.example` leads there."""
    pinned = running.pinned
    running.__init__(pinned=pinned)  # type: ignore[misc]
    running.serve(document())
    with pinning(pinned):
        yield running

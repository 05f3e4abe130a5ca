"""A served installation for the commands of the documents."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oauth.live import Installation, installation
from webapp.base.config import Settings
from webapp.web.limiter import limiter


@pytest.fixture
def running(settings: Settings, tmp_path: Path) -> Iterator[Installation]:
    own = settings.model_copy(update={"database_url": f"sqlite:///{tmp_path}/installation.sqlite3"})
    with installation(own) as running:
        limiter.reset()
        yield running

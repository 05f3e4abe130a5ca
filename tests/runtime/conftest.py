"""A server whose streams are sent numbers."""

from collections.abc import Iterator

import pytest

from tests.numbered_streams import Numbers, Served, leave
from tests.serving import new_app, serving
from webapp.config import Settings


@pytest.fixture
def served(settings: Settings) -> Iterator[Served]:
    app = new_app(settings)
    feed = app.extensions["feed"] = Numbers()
    app.add_url_rule("/test/stream", "stream", leave)
    with serving(app) as server:
        yield Served(app, feed, server)

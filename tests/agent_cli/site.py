"""An installation whose server can be away for a while."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from tests.oauth.live import Installation, new_installation
from tests.serving import serving
from webapp.base.config import Settings


@dataclass
class Site(Installation):
    """The same address and the same data each time it starts."""

    server: ExitStack = field(default_factory=ExitStack)

    def start(self) -> None:
        self.server.enter_context(serving(self.app))

    def stop(self) -> None:
        self.server.close()


@contextmanager
def site(settings: Settings) -> Iterator[Site]:
    """`settings` on an empty database and a free port, with one creator."""
    app = new_installation(settings)
    with ExitStack() as people:
        running = Site(app, app.config["SETTINGS"].public_url, people)
        running.start()
        try:
            yield running
        finally:
            running.stop()

"""An application that may call loopback, and what delivers for it."""

from collections.abc import Callable

import pytest
from flask import Flask

from jobs.deliver import Deliverer

Allow = Callable[..., None]


@pytest.fixture
def allow(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Allow:
    """Let the application call these origins."""

    def let(*origins: str) -> None:
        config = app.config["SETTINGS"]
        allowed = {"mcp_events_callback_allowlist": frozenset(origins)}
        monkeypatch.setitem(app.config, "SETTINGS", config.model_copy(update=allowed))

    return let


@pytest.fixture
def deliverer(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Deliverer:
    """One of its own, with the threads of a process."""
    made = Deliverer(app, threads=16)
    monkeypatch.setitem(app.extensions, "deliverer", made)
    return made

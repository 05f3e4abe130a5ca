"""An application that may call loopback, and what delivers for it."""

from collections.abc import Callable, Iterator

import pytest
from flask import Flask

from jobs.deliver import Deliverer
from tests.api.conftest import Agent
from tests.factories import make_form
from tests.jobs.way import Way
from tests.webhook_receiver import Webhook, webhook_receiver
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account

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
def deliverer(app: Flask) -> Deliverer:
    """One of its own, with the threads of a process."""
    return Deliverer(app, threads=16)


@pytest.fixture
def place(allow: Allow) -> Iterator[Webhook]:
    """Receivers that may be called."""
    with webhook_receiver() as found:
        allow(found.origin)
        yield found


@pytest.fixture
def way(
    app: Flask, settings: Settings, account: Account, deliverer: Deliverer, allow: Allow
) -> Iterator[Way]:
    with app.app_context():
        form = make_form(account.id)
        token = issue_token(account.id, [Scope.RESPONSES_READ], settings.api_url, now=utc_now())
    with webhook_receiver() as receiver:
        allow(receiver.origin)
        yield Way(app, form, Agent(app, token), receiver, deliverer)

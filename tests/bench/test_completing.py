"""What an event costs the respondent whose response it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from flask import Flask

from tests.bench.figures import Requests, Side, Table, compare
from tests.bench.servers import running
from tests.bench.work import CONNECTIONS, Work, connected, new_form, respondent
from tests.databases import both_databases
from tests.event_factories import make_subscription
from tests.factories import make_answer
from webapp.config import Settings
from webapp.pages.respondent.session_cookie import new_session_key

pytestmark = [pytest.mark.bench, both_databases]
SENT = 25  # by each connection in a round
SUBSCRIBERS = {"no subscriber": 0, "three subscribers": 3}
GOALS = {"no subscriber": "≥ 95 %", "three subscribers": "≥ 85 %"}


@dataclass(frozen=True)
class Processes:
    """Where the same application listens with and without events, delivering nothing itself."""

    work: Work
    queueing: list[int]
    before: list[int]
    table: Table


@pytest.fixture
def processes(app: Flask, settings: Settings) -> Iterator[Processes]:
    on_sqlite = settings.database_url.startswith("sqlite")
    count, name = (1, "SQLite") if on_sqlite else (2, "PostgreSQL")
    off = settings.model_copy(update={"mcp_events_enabled": False})
    with running("web", count, settings) as queueing, running("web", count, off) as before:
        yield Processes(connected(app, settings.api_url), queueing, before, Table(name))


@pytest.mark.parametrize("name", SUBSCRIBERS)
def test_completing_a_response(app: Flask, processes: Processes, name: str) -> None:
    links = [new_form(processes.work) for _ in range(CONNECTIONS)]
    with app.app_context():
        for form in links * SUBSCRIBERS[name]:
            make_subscription(form)
    sends = partial(completions, processes.work, links)
    pair = compare(Side(processes.before, sends), Side(processes.queueing, sends))
    processes.table.add_pair(f"completing a response, {name}, to none queued", pair, GOALS[name])


def completions(work: Work, forms: list[Any]) -> Requests:
    """Each connection sends the responses of people who have answered one question."""
    with work.app.app_context():
        return [[_ready(form) for _ in range(SENT)] for form in forms]


def _ready(form: Any) -> bytes:
    session = new_session_key()
    make_answer(form, session)
    (send,) = respondent(
        form.share_token, "HX-Request: true", session=session, questions=0, sends=True
    )
    return send

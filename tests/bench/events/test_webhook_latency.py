"""From a respondent's Send to a verified webhook, beside the shortest way through RQ.

Twenty a second on each side, in turn, to one receiver in a process of its own. The clock of ours
begins when the request is sent, that of the bare hop when its route begins to enqueue; the detail
tells of it from its request, too, which commits one row.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from flask import Flask
from sqlalchemy import select

from tests.bench.ceiling import make_table
from tests.bench.events.receiving import Receiver, receiving
from tests.bench.figures import Table, quantile
from tests.bench.servers import answers, served, started
from tests.bench.work import answered, connected, new_form
from tests.command import DATA_KEYS, askback_here
from tests.jobs.receiving import new_secret, subscribe
from tests.proof.killing import ANSWERED, Target, exchange
from tests.services import free_port, postgresql_database, wait_until
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.base.text import token_hash
from webapp.events.outbox import event_id_of
from webapp.records.responses.models import ResponseSession

pytestmark = pytest.mark.bench

BLOCKS, BLOCK = 4, 100
PAUSE_SECONDS = 0.05


class Sent(NamedTuple):
    """When the request was sent; ours: when it was answered, bare: when enqueuing began."""

    event_id: str
    at: float
    then: float


def test_embedded(app: Flask, settings: Settings) -> None:
    """One process on SQLite with a Redis inside, as `askback run`."""
    secret = new_secret()
    with (
        receiving(secret) as receiver,
        served("askback", 1, settings, MCP_EVENTS_CALLBACK_ALLOWLIST=receiver.origin) as ours,
        bare_hop(app, receiver, secret, "both") as bare,
    ):
        measure(app, receiver, secret, *ours, bare, Table("SQLite"))


def test_in_production(
    postgresql_url: str, redis_url: str, settings: Settings, tmp_path: Path
) -> None:
    """`askback web` and `askback worker` on PostgreSQL and Redis, beside two bare processes."""
    secret = new_secret()
    with (
        receiving(secret) as receiver,
        installation(postgresql_url, redis_url, receiver, settings, tmp_path) as (app, port),
        bare_hop(app, receiver, secret, "web", "worker", redis_url=redis_url) as bare,
    ):
        measure(app, receiver, secret, port, bare, Table("PostgreSQL"))


@contextmanager
def installation(
    postgresql_url: str, redis_url: str, receiver: Receiver, settings: Settings, folder: Path
) -> Iterator[tuple[Flask, int]]:
    """An application for this process, and where `askback web` listens; a worker runs."""
    with postgresql_database(postgresql_url) as url:
        target = Target({})
        public_url = f"http://127.0.0.1:{target.port}"
        target.variables |= {
            "DATABASE_URL": url,
            "REDIS_URL": redis_url,
            "SECRET_KEY": settings.secret_key,
            "DATA_KEYS": DATA_KEYS,
            "PUBLIC_URL": public_url,
            "ASKBACK_DATA": str(folder),
            "MCP_EVENTS_CALLBACK_ALLOWLIST": receiver.origin,
        }
        assert askback_here("migrate", **target.variables).returncode == 0
        here = {"database_url": url, "port": target.port, "public_url": public_url}
        app = create_app(settings.model_copy(update=here))
        with target.up(command="web"), started("webapp", "worker", **target.variables):
            yield app, target.port
        with app.app_context():
            db.engine.dispose()


@contextmanager
def bare_hop(
    app: Flask, receiver: Receiver, secret: str, *parts: str, redis_url: str = ""
) -> Iterator[int]:
    """The port of the bare route, on the same database; each part is a process."""
    with app.app_context():
        make_table(db.engine)
        database_url = db.engine.url.render_as_string(hide_password=False)
    port = free_port()
    arguments = [str(port), receiver.origin, secret, database_url]
    with ExitStack() as stack:
        for part in parts:
            stack.enter_context(started("tests.bench.events.bare_hop", *arguments, part, redis_url))
        wait_until(lambda: answers(port), "starting the bare hop")
        yield port


Block = tuple[Callable[[str], Sent], list[str]]


def measure(
    app: Flask, receiver: Receiver, secret: str, ours: int, bare: int, table: Table
) -> None:
    """Add the lines of both quantiles."""
    form = new_form(connected(app, "http://127.0.0.1/api"))
    with app.app_context():
        subscribe(form, f"{receiver.origin}/ours", secret)
    time.sleep(3)  # until the threads of both have begun
    mine: list[Sent] = []
    hops: list[Sent] = []
    for _ in range(BLOCKS + 1):
        for found, block in ((mine, sends(app, ours, form)), (hops, hops_to(bare))):
            sent = paced(*block)
            ids = {each.event_id for each in sent}
            wait_until(lambda ids=ids: ids <= receiver.arrivals.keys(), "delivering")
            found += sent
    page = [each.then - each.at for each in mine]
    whole = [receiver.arrivals[each.event_id] - each.at for each in mine]
    hop = [receiver.arrivals[each.event_id] - each.then for each in hops]
    requested = [receiver.arrivals[each.event_id] - each.at for each in hops]
    for share, goal in ((0.5, "≤ 2×"), (0.99, "≤ 3×")):
        took, shown, least, bare_whole = (
            1000 * quantile(sorted(each[BLOCK:]), share)  # the first block warms up
            for each in (whole, page, hop, requested)
        )
        detail = (
            f"{took:.1f} ms, the page answered after {shown:.1f} ms; bare {least:.1f} ms,"
            f" {bare_whole:.1f} ms with a request and its row ({took / bare_whole:.2f}×)"
        )
        label = f"submit → verified webhook, p{share * 100:.0f}, to the bare RQ hop"
        table.add(label, f"{took / least:.2f}×", goal, detail)


def sends(app: Flask, port: int, form: Any) -> Block:
    """A block of responses to one form."""
    with app.app_context():
        keys = answered(form, BLOCK)
        hashes = {token_hash(key): key for key in keys}
        found = select(ResponseSession.key_hash, ResponseSession.id).where(
            ResponseSession.key_hash.in_(hashes)
        )
        events = {hashes[each]: event_id_of(row_id) for each, row_id in db.session.execute(found)}
    target = Target({}, port)

    def send(key: str) -> Sent:
        began = time.monotonic()
        fields = {"lang": "en", "website": "", "name": "Robin"}
        assert target.post(f"/r/{form.share_token}/check", key, **fields) in ANSWERED
        return Sent(events[key], began, time.monotonic())

    return send, keys


def hops_to(port: int) -> Block:
    """A block of bare hops."""

    def send(event_id: str) -> Sent:
        began = time.monotonic()
        answer = exchange(port, "POST", f"/hop/{event_id}")
        assert answer.status == 200
        return Sent(event_id, began, float(answer.body))

    moment = time.monotonic_ns()
    return send, [f"evt_{moment + number}" for number in range(BLOCK)]


def paced(send: Callable[[str], Sent], names: list[str]) -> list[Sent]:
    """One each PAUSE_SECONDS, later if the answer takes longer."""
    sent = []
    for name in names:
        due = time.monotonic() + PAUSE_SECONDS
        sent.append(send(name))
        time.sleep(max(0.0, due - time.monotonic()))
    return sent

"""Wake-ups reach the other processes on the same PostgreSQL, and come back after it was away."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from flask import Flask
from sqlalchemy import text

from tests.api.conftest import Agent
from tests.databases import on_postgresql
from tests.factories import make_draft
from tests.pages.creator_client import creator, hidden
from tests.services import wait_until
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account
from webapp.web import wakeups
from webapp.web.wakeups import Wakeups, shared_wakeups


@dataclass
class Process:
    """An application with its wake-ups and the keys that they were called with."""

    app: Flask
    wakeups: Wakeups
    woken: list[str]


@contextmanager
def process(app: Flask) -> Iterator[Process]:
    found: Wakeups = app.extensions["wakeups"]
    woken: list[str] = []
    wake = found.wake

    def wake_and_note(key: str | None) -> None:
        if key:
            woken.append(key)
        wake(key)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(found, "wake", wake_and_note)
        with shared_wakeups(app):
            yield Process(app, found, woken)


@pytest.fixture
def two(app: Flask, settings: Settings) -> Iterator[tuple[Process, Process]]:
    other = create_app(settings)
    with process(app) as first, process(other) as second:
        wait_until(lambda: listening(app) == 2, "listening")
        yield first, second
    with other.app_context():
        db.engine.dispose()


def listening(app: Flask) -> int:
    query = text(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND query LIKE 'LISTEN%'"
    )
    with app.app_context(), db.engine.connect() as connection:
        return int(connection.execute(query).scalar_one())


@on_postgresql
def test_a_process_is_woken_once_by_its_own_wake_up(two: tuple[Process, Process]) -> None:
    first, second = two

    first.wakeups.notify("frm_1")
    wait_until(lambda: bool(second.woken), "waking the other", seconds=5)
    second.wakeups.notify("frm_2")
    wait_until(lambda: "frm_2" in first.woken, "waking the first", seconds=5)

    assert first.woken == ["frm_1", "frm_2"]


@on_postgresql
def test_the_creators_confirmation_wakes_an_agent_in_another_process(
    two: tuple[Process, Process], account: Account, settings: Settings
) -> None:
    first, second = two
    ann = creator(first.app, account)
    with second.app.app_context():
        draft_id = make_draft(account.id).id
        token = issue_token(account.id, [*Scope], settings.api_url, now=utc_now())
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(Agent(second.app, token).get, f"/drafts/{draft_id}?wait=20")
        wait_until(lambda: second.wakeups._held, "waiting")
        page = ann.page(f"/drafts/{draft_id}/confirm")
        shown = {name: hidden(page, name) for name in ("revision", "shown_hash")}
        ann.post(f"/drafts/{draft_id}/confirm", then="publish", **shown)
        answer = waits.result(10)

    assert answer.json["status"] == "published"
    wait_until(lambda: draft_id in second.woken, "waking the other", seconds=5)


@on_postgresql
def test_a_connection_that_ended_is_made_again_and_its_waits_look_again(
    two: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakeups, "RECONNECT_SECONDS", 0.05)
    first, second = two
    end = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        " AND (query LIKE 'LISTEN%' OR query LIKE '%pg_notify%') AND pid != pg_backend_pid()"
    )

    def told() -> bool:
        first.wakeups.notify("frm_after")
        time.sleep(0.05)
        return "frm_after" in second.woken

    first.wakeups.notify("frm_before")
    wait_until(lambda: "frm_before" in second.woken, "telling", seconds=5)
    looks_again = threading.Event()
    with second.wakeups.listening("frm_1", looks_again.set):
        with first.app.app_context(), db.engine.begin() as connection:
            ended = connection.execute(end).rowcount
        assert looks_again.wait(10)
    wait_until(told, "telling again", seconds=10)

    assert ended == 3  # two listen, one has told


@on_postgresql
def test_a_database_that_hangs_delays_neither_the_notification_nor_the_stop(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with process(app) as one, app.app_context(), db.engine.begin() as connection:
        wait_until(lambda: listening(app) == 1, "listening")
        # NOTIFY waits for this lock, as it would for a server that says nothing
        connection.execute(text("LOCK TABLE pg_class IN ACCESS EXCLUSIVE MODE"))
        for number in range(100):
            one.wakeups.notify(f"frm_{number}")  # while the lock is held
        began = time.monotonic()
    stopped = time.monotonic() - began

    assert stopped < 10

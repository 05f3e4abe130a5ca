"""`askback worker` and `askback run` as processes: what they refuse, send and survive."""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
from flask import Flask
from sqlalchemy import select

from jobs.deliver import Deliverer
from tests.command import DATA_KEYS, PROGRAM, ROOT, askback_here, environment, start
from tests.databases import empty_postgresql_first
from tests.event_factories import make_delivery
from tests.factories import make_account, make_form
from tests.jobs.receiving import subscribe
from tests.proof.killing import Respondents, Target, kill_again_and_again
from tests.services import wait_until
from tests.webhook_receiver import Webhook, webhook_receiver
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.config_readers import data_keys
from webapp.base.database import db, schema
from webapp.base.vocabulary import DeliveryState, SessionStatus
from webapp.records.events import EventDelivery
from webapp.records.responses.models import ResponseSession

SECRET = "kX3vQ9wLz7Bn2Rt5Yh8Mj4Gf6Pd1Sc0Ae"
THREE_QUESTIONS = ["Who changed it?", "What went wrong?", "What did you do?"]
POSTGRESQL = pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)


@pytest.fixture
def place() -> Iterator[Webhook]:
    with webhook_receiver() as found:
        yield found


@pytest.fixture
def variables(empty_database_url: str, tmp_path: Path, place: Webhook) -> dict[str, str]:
    return {
        "DATABASE_URL": empty_database_url,
        "ASKBACK_DATA": str(tmp_path),
        "SECRET_KEY": SECRET,
        "DATA_KEYS": DATA_KEYS,
        "MCP_EVENTS_CALLBACK_ALLOWLIST": place.origin,
        "LIMIT_ANSWER_ADDRESS": "1000000/minute",
    }


@pytest.fixture
def beside(variables: dict[str, str], tmp_path: Path) -> Iterator[Flask]:
    """An application of this process on the database of those that are tested."""
    app = create_app(
        Settings(
            public_url="http://127.0.0.1:8000",
            database_url=variables["DATABASE_URL"],
            secret_key=SECRET,
            data_keys=data_keys(DATA_KEYS),
            data_folder=tmp_path,
        )
    )
    with app.app_context():
        schema.upgrade()
    yield app
    with app.app_context():
        db.engine.dispose()


def states(app: Flask) -> Counter[str]:
    with app.app_context():
        return Counter(db.session.scalars(select(EventDelivery.state)))


def all_delivered(app: Flask) -> bool:
    return set(states(app)) <= {DeliveryState.DELIVERED}


def due(app: Flask, place: Webhook, count: int) -> None:
    with app.app_context():
        form = make_form(make_account().id)
        for number in range(count):
            make_delivery(subscribe(form, f"{place.origin}/{number}"))


@POSTGRESQL
def test_a_worker_sends_and_stops(
    beside: Flask, variables: dict[str, str], redis_url: str, place: Webhook
) -> None:
    due(beside, place, count=20)
    worker = start("worker", **variables | {"REDIS_URL": redis_url})
    try:
        wait_until(lambda: all_delivered(beside), "delivering")
    finally:
        worker.send_signal(signal.SIGTERM)
        out, errors = worker.communicate(timeout=12)

    assert (worker.returncode, errors) == (0, "")
    assert orjson.loads(out.splitlines()[-1])["message"].startswith("Askback has stopped")
    assert len(place.posted) == 20


@contextmanager
def killed_at_the_end(command: str, **variables: str) -> Iterator[None]:
    process = start(command, **variables)
    try:
        yield
    finally:
        process.kill()
        process.communicate()


@dataclass
class Production(Target):
    """One web process and one worker, killed at their own moments."""

    redis_url: str = ""

    @contextmanager
    def up(self) -> Iterator[None]:
        own = {"PORT": str(self.port), "PUBLIC_URL": f"http://127.0.0.1:{self.port}"}
        seen = environment(self.variables | own | {"REDIS_URL": self.redis_url})
        with ExitStack() as stack:
            for command in ("web", "worker"):
                process = subprocess.Popen(
                    [*PROGRAM, command],
                    cwd=ROOT,
                    env=seen,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                stack.callback(_kill, process)
            wait_until(self.answers, "starting the server")
            yield


def _kill(process: subprocess.Popen[bytes]) -> None:
    time.sleep(random.uniform(0, 0.3))  # noqa: S311
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


rounds = pytest.mark.parametrize(
    ("kills", "answers"),
    [
        pytest.param(2, 60, marks=pytest.mark.timeout(300)),
        pytest.param(30, 3_000, marks=pytest.mark.prove),
    ],
)


@empty_postgresql_first
@rounds
def test_what_was_completed_reaches_its_subscriber_whatever_is_killed(
    beside: Flask,
    variables: dict[str, str],
    place: Webhook,
    request: pytest.FixtureRequest,
    kills: int,
    answers: int,
) -> None:
    target: Target = Target(variables)
    if not variables["DATABASE_URL"].startswith("sqlite"):
        target = Production(variables, redis_url=request.getfixturevalue("redis_url"))
    with beside.app_context():
        form: Any = make_form(make_account().id, questions=THREE_QUESTIONS)
        subscribe(form, f"{place.origin}/all")
    respondents = Respondents(target, form.share_token)

    killed = kill_again_and_again(respondents, kills=kills, answers=answers)
    with target.up():
        wait_until(lambda: all_delivered(beside), "delivering the rest", seconds=90)

    got = Counter(orjson.loads(each.body)["eventId"] for each in place.posted)
    with beside.app_context():
        completed = select(ResponseSession.id).where(
            ResponseSession.status == SessionStatus.COMPLETED
        )
        wanted = {f"evt_{each.partition('_')[2]}" for each in db.session.scalars(completed)}
    print(f"{killed} kills, {len(wanted)} responses, {got.total() - len(got)} sent again")
    assert wanted
    assert set(got) == wanted


def test_after_a_restore_what_was_delivered_since_is_delivered_again(
    beside: Flask,
    variables: dict[str, str],
    place: Webhook,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allowed = {"mcp_events_callback_allowlist": frozenset({place.origin})}
    monkeypatch.setitem(
        beside.config, "SETTINGS", beside.config["SETTINGS"].model_copy(update=allowed)
    )
    due(beside, place, count=1)
    backup = str(tmp_path / "backup")
    assert askback_here("backup", backup, **variables).returncode == 0
    Deliverer(beside, threads=1).work()
    assert all_delivered(beside)
    with beside.app_context():
        db.engine.dispose()

    assert askback_here("restore", "--yes", backup, **variables).returncode == 0
    Deliverer(beside, threads=1).work()

    assert all_delivered(beside)
    first, again = (each.headers["webhook-id"] for each in place.posted)
    assert first == again

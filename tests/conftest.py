"""Fixtures for every test: an application per database, rows deleted after each test."""

import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from redis.exceptions import RedisError
from sqlalchemy import delete

from tests.command import DATA_KEYS
from tests.factories import make_account
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.records.accounts.models import Account
from webapp.web import request_audit
from webapp.web.limiter import limiter

pytest_plugins = [
    "tests.pages.compiled_once",
    "tests.services",
    "tests.programs",
    "tests.webhook_receiver",
]


def _refuse_outside(event: str, arguments: tuple[Any, ...]) -> None:
    """Tests talk to this machine only; servers, browsers and Node are processes of their own."""
    if event != "socket.connect" or not isinstance(arguments[1], tuple):
        return
    host = arguments[1][0]
    if host != "localhost" and not ip_address(host.partition("%")[0]).is_loopback:
        arguments[0].close()  # nobody expects more than an OSError: it would stay open
        raise RuntimeError(f"a test opened a connection to {host}")


sys.addaudithook(_refuse_outside)


def pytest_configure() -> None:
    """Let SIGINT reach what tests start: shells ignore it for all that runs in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


LONG = (
    "tests/agent_cli/",
    "tests/api/agent/",
    "tests/browser/",
    "tests/contract/",
    "tests/database/",
    "tests/docs/",
    "tests/jobs/",
    "tests/journey/",
    "tests/mcp_clients/test_sdk_versions.py",
    "tests/runtime/",
    "tests/webapp/test_cli.py",
)
# a third of the time of all: what is killed, raced, or sent by strangers; every page in every state
SLOW = (
    "tests/agent_cli/test_killed.py",
    "tests/browser/respondent/test_cross_site_posts.py",
    "tests/browser/respondent/test_embedding.py",
    "tests/browser/respondent/voice/test_frames.py",
    "tests/browser/respondent/voice/test_states.py",
    "tests/browser/test_accessibility.py",
    "tests/contract/test_fuzz.py",
    "tests/docs/test_operate.py",
    "tests/jobs/test_processes.py",
    "tests/journey/test_attacks.py",
    "tests/journey/test_flooded_uploads.py",
    "tests/journey/test_recordings_of_every_kind.py",
    "tests/oauth/test_hostile",
    "tests/proof/",
    "tests/races/",
    "tests/webapp/test_hostile",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Thousands of tests stay to the end: collecting garbage never finds any among them."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(700, 10, 100)  # each look at everything takes a third of a second
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the long ones first, so that all processes end at about the same time."""
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker("slow")
    items.sort(key=lambda item: not item.nodeid.startswith((*LONG, *SLOW)))


@dataclass
class Clock:
    """A moment under the control of the test; pass `clock.now` as `now=`."""

    now: datetime = field(default_factory=utc_now)

    def forward(self, **duration: float) -> datetime:
        self.now += timedelta(**duration)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def database_url(request: pytest.FixtureRequest, data_folder: Path) -> str:
    """A database of this test run, shared by its tests; SQLite unless the test is marked."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return f"sqlite:///{data_folder}/tests.sqlite3"
    url: str = request.getfixturevalue("postgresql_url")
    return url


@pytest.fixture(scope="session")
def read_settings() -> dict[str, Settings]:
    """The settings made so far, by the values they were made of: reading them takes a while."""
    return {}


@pytest.fixture(autouse=True)
def _constants(request: pytest.FixtureRequest) -> Iterator[None]:
    """`@pytest.mark.constants("a.module", NAME=value)` changes single constants for a test."""
    with pytest.MonkeyPatch.context() as changed:
        for marker in request.node.iter_markers("constants"):
            for name, value in marker.kwargs.items():
                changed.setattr(f"{marker.args[0]}.{name}", value)
        yield


@pytest.fixture
def settings(
    request: pytest.FixtureRequest,
    database_url: str,
    data_folder: Path,
    read_settings: dict[str, Settings],
) -> Settings:
    """Embedded settings; `@pytest.mark.settings(name=value)` changes single ones."""
    values: dict[str, Any] = {
        "public_url": "http://127.0.0.1:8000",
        "database_url": database_url,
        "secret_key": "only-for-tests-only-for-tests-only-for-tests",
        "data_keys": DATA_KEYS,
        "data_folder": data_folder,
    }
    marker = request.node.get_closest_marker("settings")
    values |= marker.kwargs if marker else {}
    known = repr(values)
    if known not in read_settings:
        read_settings[known] = Settings(**values)
    return read_settings[known]


@dataclass
class Made:
    """An application, and the limiter as it was bound to it: there is one for all of them."""

    app: Flask
    limiter_state: dict[str, Any]


@pytest.fixture(scope="session")
def applications() -> Iterator[dict[Settings, Made]]:
    """One application per settings, so that the schema of a database is made once."""
    made: dict[Settings, Made] = {}
    yield made
    for one in made.values():
        with one.app.app_context():
            db.engine.dispose()


class SettledClient(FlaskClient):
    """A client whose calls end after their deferred writes."""

    def open(self, *args: Any, **kwargs: Any) -> Any:
        answer = super().open(*args, **kwargs)
        self.application.extensions["deferred_writes"].settle(10)
        return answer


@pytest.fixture
def app(settings: Settings, applications: dict[Settings, Made]) -> Iterator[Flask]:
    """The application on an empty database. No context is pushed: requests make their own."""
    if settings not in applications:
        made = create_app(settings)
        made.test_client_class = SettledClient
        applications[settings] = Made(made, vars(limiter).copy())
        with made.app_context():
            db.create_all()
    found = applications[settings]
    vars(limiter).update(found.limiter_state)
    yield found.app
    delete_rows(found.app)
    request_audit.init_app(found.app)
    with suppress(RedisError):  # the test may have ended its Redis
        limiter.reset()


def delete_rows(app: Flask) -> None:
    """Empty every table, children first. By the driver itself, at a third of the cost."""
    app.extensions["deferred_writes"].settle(10)
    with app.app_context(), db.engine.begin() as connection:
        cursor = connection.connection.cursor()
        for statement in _emptying():
            cursor.execute(statement)
        cursor.close()


@cache
def _emptying() -> list[str]:
    return [str(delete(table)) for table in reversed(db.metadata.sorted_tables)]


@pytest.fixture
def app_context(app: Flask) -> Iterator[None]:
    """For tests that call use cases directly. Not together with `client`, which would share `g`."""
    with app.app_context():
        yield


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def account(app: Flask) -> Account:
    """A creator; the row is detached, its columns are loaded."""
    with app.app_context():
        return make_account()


@pytest.fixture
def empty_app(empty_database_url: str, tmp_path: Path) -> Iterator[Flask]:
    """An application on a database without any table and a folder of its own; in its context."""
    app = create_app(
        Settings(
            public_url="http://127.0.0.1:8000",
            database_url=empty_database_url,
            secret_key="only-for-tests-only-for-tests-only-for-tests",
            data_folder=tmp_path,
        )
    )
    with app.app_context():
        yield app
        db.session.remove()
        db.engine.dispose()

"""A server whose streams are sent numbers, and installations of the command line."""

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from api import agents
from tests.numbered_streams import Numbers, Served, leave
from tests.runtime.installations import Installation
from tests.services import copy_database, postgresql_database
from tests.serving import new_app, serving
from webapp.base.config import Settings
from webapp.drafts import agent_tokens


@pytest.fixture
def served(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    app, feed = new_app(settings), Numbers()
    monkeypatch.setattr(agents, "read_updates", feed.read)
    monkeypatch.setattr(agent_tokens, "ended_tokens", lambda holders, now: feed.ended(holders))
    app.add_url_rule("/test/stream", "stream", leave)
    with serving(app) as server:
        thread = next(each for each in threading.enumerate() if each.name == "server")
        yield Served(app, feed, server, thread)


@pytest.fixture(scope="module")
def migrated(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Installation]]:
    """By the kind of the database: a migrated one that has an account, made once."""
    made: dict[str, Installation] = {}
    with ExitStack() as kept:

        def once(kind: str) -> Installation:
            if kind not in made:
                folder = tmp_path_factory.mktemp(kind)
                url = f"sqlite:///{folder}/migrated.sqlite3"
                if kind != "sqlite":
                    server = request.getfixturevalue("postgresql_url")
                    url = kept.enter_context(postgresql_database(server))
                made[kind] = Installation(folder / "data", url)
                assert made[kind]("migrate").exit_code == 0
                made[kind].add("ann@example.com")
            return made[kind]

        yield once


@pytest.fixture
def installation(
    empty_database_url: str,
    tmp_path: Path,
    migrated: Callable[[str], Installation],
) -> Installation:
    original = migrated(empty_database_url.partition(":")[0])
    shutil.copytree(original.data, tmp_path / "data")
    copy_database(original.database_url, empty_database_url)
    return Installation(tmp_path / "data", empty_database_url)

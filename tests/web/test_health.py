"""What supervisors and load balancers ask."""

from collections.abc import Callable, Iterator

import pytest
from flask import Flask
from sqlalchemy import text

from tests.databases import both_empty_databases
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db, schema

Make = Callable[..., Flask]


@pytest.fixture
def make(settings: Settings) -> Iterator[Make]:
    """Applications on other databases and another Redis, disposed afterwards."""
    made: list[Flask] = []

    def make(database_url: str, redis_url: str | None = None) -> Flask:
        app = create_app(
            settings.model_copy(update={"database_url": database_url, "redis_url": redis_url})
        )
        made.append(app)
        return app

    yield make
    for app in made:
        with app.app_context():
            db.engine.dispose()


@pytest.fixture
def fresh(empty_database_url: str, make: Make) -> Flask:
    """An application on a database without a schema."""
    return make(empty_database_url)


@pytest.fixture
def migrated(fresh: Flask) -> Flask:
    with fresh.app_context():
        schema.upgrade()
    return fresh


def readiness(app: Flask) -> tuple[int, dict[str, str]]:
    answer = app.test_client().get("/readyz")
    return answer.status_code, answer.json


@both_empty_databases
def test_a_migrated_database_is_ready_until_the_server_stops(migrated: Flask) -> None:
    ready = {"status": "ok", "database": "ok", "redis": "not used"}
    assert readiness(migrated) == (200, ready)

    migrated.extensions["wakeups"].stop()

    assert readiness(migrated) == (503, ready | {"status": "unavailable"})


@both_empty_databases
@pytest.mark.parametrize(
    ("revision", "what"),
    [
        (None, "it has no tables yet; run: askback migrate"),
        ("0001", "older than the first release"),
        ("9999", "newer than this"),
    ],
)
def test_the_schema_of_another_version_is_not_ready(
    revision: str | None, what: str, fresh: Flask
) -> None:
    if revision:
        change = text("UPDATE alembic_version SET version_num = :r")
        with fresh.app_context():
            schema.upgrade()
            with db.engine.begin() as connection:
                connection.execute(change, {"r": revision})

    status, said = readiness(fresh)

    assert (status, said["status"]) == (503, "unavailable")
    assert what in said["database"]


@pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)
def test_an_unavailable_database_is_not_ready(make: Make, empty_database_url: str) -> None:
    status, said = readiness(make(empty_database_url.replace("host=", "host=/nowhere")))

    assert (status, said["database"]) == (503, "unreachable")


@both_empty_databases
def test_a_read_only_database_is_not_ready(
    migrated: Flask, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with migrated.app_context():
        if empty_database_url.startswith("postgresql"):
            name = db.engine.url.database
            change = text(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
            with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(change)
        else:
            # as root every file may be written
            monkeypatch.setattr("webapp.base.database.os.access", lambda *_: False)
        db.engine.dispose()

    status, said = readiness(migrated)

    assert (status, said["database"]) == (503, "it is read-only")

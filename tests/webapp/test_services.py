"""The provided servers are real and this suite never leaves the machine."""

import shutil
import socket
import subprocess
from pathlib import Path

import psycopg
import pytest
import redis
from flask import Flask
from flask.testing import FlaskClient
from playwright.sync_api import Browser
from sqlalchemy import func, select

from tests import services
from tests.databases import both_databases
from tests.factories import make_account
from webapp.base.database import db
from webapp.records.accounts.models import Account


def libpq(url: str) -> str:
    return url.replace("postgresql+psycopg", "postgresql")


def test_postgresql_syncs_each_commit_to_disk(postgresql_url: str) -> None:
    with psycopg.connect(libpq(postgresql_url)) as connection:
        shown = {
            name: connection.execute(f"SHOW {name}").fetchone()
            for name in ("fsync", "synchronous_commit", "full_page_writes")
        }

    assert set(shown.values()) == {("on",)}


def test_the_postgresql_of_the_wheel_runs_too() -> None:
    with services._server_folder("wheel") as (folder, user):
        programs = services._programs_of_the_wheel(folder, user)
        with (
            services._postgresql(programs, folder, user) as url,
            psycopg.connect(libpq(url)) as connection,
        ):
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_redis_answers(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as connection:
        assert connection.ping()


def test_chromium_opens_a_page(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("<h1>Good morning</h1>")

    assert page.locator("h1").inner_text() == "Good morning"


def test_node_is_new_enough_for_the_protocol_clients(node: Path) -> None:
    script = "process.stdout.write(process.versions.node)"
    shown = subprocess.run(
        [node / "node", "-e", script], capture_output=True, text=True, check=True
    )

    assert int(shown.stdout.split(".")[0]) >= 22


def test_a_connection_to_another_machine_is_refused() -> None:
    with socket.socket() as opened, pytest.raises(RuntimeError, match="opened a connection"):
        opened.connect(("192.0.2.1", 80))


def test_a_missing_server_fails_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(services, "find_spec", lambda name: None)

    with pytest.raises(pytest.fail.Exception, match="apt-get install redis-server"):
        services._redis_program()


@both_databases
@pytest.mark.parametrize("name", ["first", "second"])
def test_each_test_starts_on_empty_tables(app: Flask, name: str) -> None:
    with app.app_context():
        make_account(name=name)

        assert db.session.scalar(select(func.count()).select_from(Account)) == 1


def test_the_client_gets_an_answer(client: FlaskClient) -> None:
    assert client.get("/nowhere").status_code == 404

"""One set of migrations makes, checks and unmakes the schema on both databases."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import flask_migrate
from flask import Flask
from sqlalchemy import inspect, text

from tests.command import ROOT, askback
from tests.databases import both_empty_databases
from tests.factories import make_account, make_answer, make_form
from tests.voice.factories import make_recording, make_spoken_answer, make_voice_form
from webapp.database import db, release_connections, schema, to_millis, utc_now
from webapp.domain.accounts.browser_sessions import find_session_account, list_sessions
from webapp.domain.forms.models import get_form


def tables() -> list[str]:
    return sorted(set(inspect(db.engine).get_table_names()) - {"alembic_version"})


@both_empty_databases
def test_an_upgrade_makes_every_table(empty_app: Flask) -> None:
    schema.upgrade()

    assert tables() == sorted(db.metadata.tables)
    assert schema.present() == schema.newest()


@both_empty_databases
def test_the_migrations_say_what_the_models_say(empty_app: Flask) -> None:
    schema.upgrade()

    flask_migrate.check(directory=str(schema.MIGRATIONS))


@both_empty_databases
def test_a_downgrade_leaves_nothing(empty_app: Flask) -> None:
    schema.upgrade()
    flask_migrate.downgrade(directory=str(schema.MIGRATIONS), revision="base")

    assert tables() == []
    assert schema.present() is None


@both_empty_databases
def test_processes_may_upgrade_at_once(empty_database_url: str, tmp_path: Path) -> None:
    variables = {"DATABASE_URL": empty_database_url, "ASKBACK_DATA": str(tmp_path)}
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(askback, "migrate", **variables) for _ in range(3)]
        ended = [run.result() for run in runs]

    assert [(run.returncode, run.stderr) for run in ended] == [(0, "")] * 3


@both_empty_databases
def test_an_upgrade_keeps_what_is_stored(empty_app: Flask) -> None:
    schema.prepare()
    flask_migrate.upgrade(directory=str(schema.MIGRATIONS), revision="0001")
    with db.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO accounts VALUES ('acc_1', 'a@example.com', 'A', '!', 0, 1, 'en', NULL)"
            )
        )
    schema.upgrade()

    with db.engine.connect() as connection:
        assert connection.scalar(text("SELECT email FROM accounts")) == "a@example.com"


@both_empty_databases
def test_an_upgrade_counts_the_bytes_of_stored_answers(empty_app: Flask) -> None:
    schema.upgrade()
    forms = [make_form(make_account().id) for _ in range(2)]
    make_answer(forms[0], "a" * 32, text="Zoë")
    make_answer(forms[0], "a" * 32, text="Zoë, corrected")
    release_connections()
    flask_migrate.downgrade(directory=str(schema.MIGRATIONS), revision="0005")

    schema.upgrade()

    sizes = [get_form(form.account_id, form.id).answer_bytes for form in forms]
    release_connections()
    asked = len(forms[0].questions[0]["text"].encode())
    assert sizes == [4 + 15 + 2 * asked, 0]


@both_empty_databases
def test_an_upgrade_counts_the_bytes_of_recordings_that_answers_have(empty_app: Flask) -> None:
    schema.upgrade()
    forms = [make_voice_form() for _ in range(2)]
    make_spoken_answer(forms[0], "a" * 32, size=5000)
    make_recording(forms[0], "b" * 32)
    make_recording(forms[1], "b" * 32)
    db.session.commit()
    release_connections()
    flask_migrate.downgrade(directory=str(schema.MIGRATIONS), revision="0020")
    with db.engine.begin() as connection:
        connection.execute(text("UPDATE forms SET answer_bytes = 7"))

    schema.upgrade()

    sizes = [get_form(form.account_id, form.id).answer_bytes for form in forms]
    release_connections()
    assert sizes == [7 + 5000, 7]


@both_empty_databases
def test_an_upgrade_keeps_browsers_signed_in(empty_app: Flask) -> None:
    schema.prepare()
    flask_migrate.upgrade(directory=str(schema.MIGRATIONS), revision="0004")
    now = utc_now()
    signed_in, ends = to_millis(now - timedelta(days=20)), to_millis(now + timedelta(days=10))
    with db.engine.begin() as connection:
        for row in (
            "accounts VALUES ('acc_1', 'a@example.com', 'A', '!', 0, 1, 'en', NULL)",
            f"sign_ins VALUES ('session', 'acc_1', 0, {signed_in}, {ends})",
        ):
            connection.execute(text(f"INSERT INTO {row}"))  # noqa: S608
    schema.upgrade()

    found = find_session_account("session", now=now)

    assert found is not None
    assert [each.browser for each in list_sessions("acc_1", now=now)] == [""]


def test_a_server_begins_without_alembic_the_other_database_redis_and_rq() -> None:
    unused = {"alembic", "psycopg", "sqlalchemy.dialects.postgresql", "redis", "rq", "fakeredis"}
    code = f"import sys, webapp.cli; print({unused} & sys.modules.keys())"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)

    assert loaded.stdout == "set()\n"

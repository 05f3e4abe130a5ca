"""One set of migrations makes, checks and unmakes the schema on both databases."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from flask import Flask
from sqlalchemy import text

from tests.command import ROOT, askback
from tests.databases import both_empty_databases
from webapp.base.database import db, schema


@both_empty_databases
def test_the_migrations_say_what_the_models_say(empty_app: Flask) -> None:
    schema.upgrade()

    assert schema.present() == schema.newest()
    command.check(schema.alembic_config())


@both_empty_databases
def test_processes_may_upgrade_at_once(empty_database_url: str, tmp_path: Path) -> None:
    variables = {"DATABASE_URL": empty_database_url, "ASKBACK_DATA": str(tmp_path)}
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(askback, "migrate", **variables) for _ in range(3)]
        ended = [run.result() for run in runs]

    assert [run.returncode for run in ended] == [0] * 3


@both_empty_databases
def test_a_schema_of_early_development_is_refused_with_what_to_do(empty_app: Flask) -> None:
    schema.upgrade()
    with db.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0027'"))

    with pytest.raises(schema.NewerSchema, match="askback migrate"):
        schema.upgrade()


def test_a_server_begins_without_alembic_the_other_database_redis_and_rq() -> None:
    unused = {"alembic", "psycopg", "sqlalchemy.dialects.postgresql", "redis", "rq"}
    code = f"import sys, webapp.app.cli; print({unused} & sys.modules.keys())"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)

    assert loaded.stdout == "set()\n"

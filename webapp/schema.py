"""The state of the database schema against the migrations of this code.

Alembic is imported only when there is something to migrate: it would be an eighth of the memory
of a process and of the time of its start.
"""

import logging
import re
from functools import cache
from pathlib import Path

from flask import current_app
from sqlalchemy import Connection, create_engine, inspect, text

from webapp.database import db

MIGRATIONS = Path(__file__).parent / "migrations"
NAMED = re.compile(r'^(down_revision|revision)\b[^=]*= *"([^"]+)"', re.MULTILINE)


def upgrade() -> None:
    """Bring the database of the current application to the newest schema; raises SQLAlchemyError.

    Several processes may do this at once: on PostgreSQL the first one works, the others wait.
    """
    if present() == newest():
        return
    import flask_migrate

    prepare()
    logging.getLogger("alembic").setLevel(logging.WARNING)
    flask_migrate.upgrade(directory=str(MIGRATIONS))


def upgrade_on(connection: Connection, revision: str = "heads") -> None:
    """Bring another database to `revision`, in the transaction of `connection`."""
    from alembic import command

    prepare()
    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = current_app.extensions["migrate"].migrate.get_config(str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def shape(revision: str) -> dict[str, set[str]]:
    """The columns of every table at a revision, as the migrations up to it make them."""
    with create_engine("sqlite://").connect() as scratch:
        upgrade_on(scratch, revision)
        seen = inspect(scratch)
        return {
            table: {column["name"] for column in seen.get_columns(table)}
            for table in seen.get_table_names()
        }


def prepare() -> None:
    """Let the commands of Flask-Migrate work on the current application."""
    from flask_migrate import Migrate

    if "migrate" not in current_app.extensions:
        app = current_app._get_current_object()  # type: ignore[attr-defined]
        Migrate(app, db, directory=str(MIGRATIONS), render_as_batch=True)


def newest() -> str | None:
    """The revision that this code was written for: the one that no other one follows."""
    followed = set(revisions().values())
    return next((name for name in revisions() if name not in followed), None)


@cache
def revisions() -> dict[str, str | None]:
    """Every revision that this code knows, with the one it follows."""
    scripts = [path.read_text() for path in (MIGRATIONS / "versions").glob("*.py")]
    named = [dict(NAMED.findall(script)) for script in scripts]
    return {each["revision"]: each.get("down_revision") for each in named}


def refusal() -> str | None:
    """Why this code cannot work on its database, and what to do; None when the schema is current.

    raises  SQLAlchemyError when the database does not answer
    """
    found = present()
    if found == newest():
        return None
    if found is None:
        return "it has no tables yet; run: askback migrate"
    if found in revisions():
        return "its schema is older than this program; run: askback migrate"
    return "its schema is newer than this program; install that version of Askback"


def present() -> str | None:
    """The revision of the database; None when it has never been migrated."""
    with db.engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        found = connection.execute(text("SELECT version_num FROM alembic_version"))
        return found.scalar_one_or_none()

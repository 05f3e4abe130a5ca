"""The state of the database schema against the migrations of this code.

Alembic is imported only when there is something to migrate: it would be an eighth of the memory
of a process and of the time of its start.

A migration that only expands the schema says `expands = True`: programs written for the revision
before it go on working, so they stay ready until they are replaced. The schema carries a mark with
the oldest revision that it serves, for programs that do not know its migrations.
"""

import logging
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path

from flask import current_app
from sqlalchemy import (
    Column,
    Connection,
    String,
    Table,
    create_engine,
    delete,
    insert,
    inspect,
    select,
    text,
)

from webapp.database.engine import db

MIGRATIONS = Path(__file__).parent.parent / "migrations"
EXPANDS = re.compile(r"^expands = True$", re.MULTILINE)
NAMED = re.compile(r'^(down_revision|revision)\b[^=]*= *"([^"]+)"', re.MULTILINE)
MARKS = Table(
    "schema_marks",
    db.metadata,
    Column("revision", String(32), primary_key=True),  # that the schema has
    Column("serves", String(32), nullable=False),  # the oldest revision of programs
    Column("version", String(32), nullable=False),  # of the program that made this schema
)


class NewerSchema(Exception):
    """Another version of this program made the schema; the message says which one is needed."""


def upgrade() -> None:
    """Migrate the database of the current application to the newest schema.

    Several processes may call it at once: on PostgreSQL one migrates, the others wait.
    Nothing is done to a newer schema that serves this program. Raises NewerSchema, SQLAlchemyError.
    """
    found = present()
    if found == newest():
        return
    if found not in {None, *revisions()}:
        require_served()
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
    """Why this code cannot use its database, and what to do; None if it can.

    raises  SQLAlchemyError when the database does not answer
    """
    found = present()
    if found == newest():
        return None
    if found is None:
        return "it has no tables yet; run: askback migrate"
    if found in revisions():
        return "its schema is older than this program; run: askback migrate"
    serves, needed = _mark(found)
    if serves in revisions():
        return None
    return f"its schema is newer than this program ({version('askback')}); install Askback {needed}"


def require_served() -> None:
    """Raises NewerSchema when the schema is one that this code does not know and cannot serve."""
    if present() not in {None, *revisions()} and (reason := refusal()):
        raise NewerSchema(f"Askback cannot work on this database: {reason}")


def require_known() -> None:
    """The same for whoever changes tables, which have to be known even where they can be served."""
    found = present()
    if found and found not in revisions():
        _, needed = _mark(found)
        raise NewerSchema(
            "Askback cannot change this database: its schema is newer than this program "
            f"({version('askback')}); install Askback {needed}"
        )


def _mark(revision: str) -> tuple[str | None, str]:
    """The oldest revision that the schema serves, and in words the version that it needs."""
    marks = select(MARKS.c.serves, MARKS.c.version).where(MARKS.c.revision == revision)
    with db.engine.connect() as connection:
        if inspect(connection).has_table(MARKS.name):
            for serves, made_by in connection.execute(marks):
                return serves, f"{made_by} or newer"
    return None, "in the version that made it"


def write_mark(connection: Connection) -> None:
    """Let the newest schema say which programs it serves; nothing at another revision."""
    revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
    if revision == newest():
        by = version("askback")
        connection.execute(delete(MARKS))
        connection.execute(
            insert(MARKS).values(revision=revision, serves=oldest_served(), version=by)
        )


def oldest_served() -> str | None:
    """The oldest revision whose programs can work on the newest schema."""
    oldest = newest()
    while oldest in _expanding() and revisions()[oldest]:
        oldest = revisions()[oldest]
    return oldest


@cache
def _expanding() -> set[str]:
    scripts = [path.read_text() for path in (MIGRATIONS / "versions").glob("*.py")]
    return {dict(NAMED.findall(each))["revision"] for each in scripts if EXPANDS.search(each)}


def present() -> str | None:
    """The revision of the database; None when it has never been migrated."""
    with db.engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        found = connection.execute(text("SELECT version_num FROM alembic_version"))
        return found.scalar_one_or_none()

"""The state of the database schema against the migrations of this code."""

import logging
from functools import cache
from pathlib import Path

import flask_migrate
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from webapp.database import db

MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade() -> None:
    """Bring the database of the current application to the newest schema; raises SQLAlchemyError.

    Several processes may do this at once: on PostgreSQL the first one works, the others wait.
    """
    logging.getLogger("alembic").setLevel(logging.WARNING)
    flask_migrate.upgrade(directory=str(MIGRATIONS))


@cache
def newest() -> str | None:
    """The revision that this code was written for."""
    return ScriptDirectory(str(MIGRATIONS)).get_current_head()


def present() -> str | None:
    """The revision of the database; None when it has never been migrated."""
    with db.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()

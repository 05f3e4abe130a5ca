"""Compares the database schema with the migrations of this code, and migrates it.

Alembic is imported only to migrate: it takes an eighth of the memory and of the start time of a
process.

A migration that only expands the schema sets `expands = True`: programs for the revision before it
keep working until they are replaced. A mark in the schema names the oldest revision that it
supports, for programs that do not know its migrations.
"""

import logging
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from webapp.base.database import db, on_sqlite
from webapp.base.database.failures import is_in_use
from webapp.base.database.sqlite import IMMEDIATE

VERSIONS = "alembic_version"  # the table of Alembic
MIGRATIONS = Path(__file__).parents[2] / "migrations"
EXPANDS = re.compile(r"^expands = True$", re.MULTILINE)
NAMED = re.compile(r'^(down_revision|revision)\b[^=]*= *"([^"]+)"', re.MULTILINE)
EARLY = {f"{number:04}" for number in range(1, 28)}  # of development; 0028 was the last one
MARKS = sa.Table(
    "schema_marks",
    db.metadata,
    sa.Column("revision", sa.String(32), primary_key=True),  # of the schema
    sa.Column("serves", sa.String(32), nullable=False),  # the oldest revision of a usable program
    sa.Column("version", sa.String(32), nullable=False),  # of the program that made this schema
)


log = logging.getLogger("askback.database")

UPGRADE_SECONDS = 60.0  # how long an upgrade tries to lock its tables
LOCKED_SECONDS = (0.5, 3.0)  # of the first try and of the longest one; requests wait meanwhile
LOOK_SECONDS = 0.1  # between two checks for deadlocks
PAUSE_SECONDS = (0.1, 1.0)  # between two tries; requests are served meanwhile
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(5716)"  # any number that nothing else locks
# processes that hold a lock on one of the tables, and wait for this transaction
END_DEADLOCKED = sa.text(
    "SELECT pg_terminate_backend(pid) FROM pg_locks"
    " WHERE relation = ANY (CAST(:tables AS regclass[])) AND granted"
    " AND :pid = ANY (pg_blocking_pids(pid))"
)
OLDEST_TRANSACTION = sa.text(
    "SELECT pid, application_name, extract(epoch FROM clock_timestamp() - xact_start)"
    " FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND xact_start < clock_timestamp() - interval '5 seconds' ORDER BY xact_start LIMIT 1"
)


class NewerSchema(Exception):
    """A newer program made the schema, and this one cannot use it; the message says which."""


class TablesInUse(Exception):
    """Other transactions held the tables for UPGRADE_SECONDS; nothing was changed."""


def upgrade(tell: Callable[[str], None] = log.warning) -> None:
    """Migrate the database of the current application to the newest schema in one transaction.

    Servers of the previous version may run meanwhile, and several processes may call this at once:
    on PostgreSQL one migrates, the others wait. `tell` gets a line for each try that found the
    tables locked. A newer schema that supports this program stays as it is. Raises NewerSchema,
    TablesInUse, SQLAlchemyError.
    """
    found = present()
    if found == newest():
        return
    if found not in {None, *revisions()}:
        require_served()
        return
    began, seconds = time.monotonic(), LOCKED_SECONDS[0]
    while True:
        try:
            _upgrade_once(seconds)
            return
        except DBAPIError as error:
            spent = time.monotonic() - began
            if not is_in_use(error):
                raise
            if spent > UPGRADE_SECONDS:
                raise TablesInUse(IN_USE.format(UPGRADE_SECONDS, _oldest_transaction())) from error
        tell(f"others use the tables, trying again ({spent:.0f} s of {UPGRADE_SECONDS:.0f})")
        time.sleep(random.uniform(*PAUSE_SECONDS))  # noqa: S311
        seconds = min(seconds * 2, LOCKED_SECONDS[1])


IN_USE = (
    "The schema was not changed: others used its tables for {:.0f} s{}. Nothing is half done. Wait "
    "for backups and long statements to end, then try again."
)


def _upgrade_once(seconds: float) -> None:
    """Migrate in one transaction; on PostgreSQL it waits so long for the locks of all tables."""
    engine = db.engine.execution_options(**{IMMEDIATE: True})
    with engine.begin() as connection:
        if not on_sqlite():
            connection.exec_driver_sql(ONE_AT_A_TIME)
            existing = sa.inspect(connection).get_table_names()
            # parents before children, the order in which most requests lock them
            tables = [each.name for each in db.metadata.sorted_tables if each.name in existing]
            if tables:
                _lock_tables(connection, tables, seconds)
        upgrade_on(connection)


def _lock_tables(connection: sa.Connection, tables: list[str], seconds: float) -> None:
    """Lock the tables in one statement; end transactions in a deadlock with this one.

    Their requests run again. PostgreSQL itself would act after a second, and might end this one.
    """
    names = ", ".join(f'"{name}"' for name in tables)
    pid = connection.scalar(sa.text("SELECT pg_backend_pid()"))
    with _deadlocks_ended(pid=pid, tables=tables):
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{seconds}s'")
        connection.exec_driver_sql(f"LOCK TABLE {names}")
        connection.exec_driver_sql("SET LOCAL statement_timeout TO DEFAULT")


@contextmanager
def _deadlocks_ended(**ours: object) -> Iterator[None]:
    """End deadlocked transactions from a second connection, because the first one waits."""
    engine, done = db.engine.execution_options(isolation_level="AUTOCOMMIT"), threading.Event()

    def watch() -> None:
        with engine.connect() as connection:
            while not done.wait(LOOK_SECONDS):
                with suppress(DBAPIError):  # only superusers may end superusers' connections
                    connection.execute(END_DEADLOCKED, ours)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()


def _oldest_transaction() -> str:
    if on_sqlite():
        return ""
    with db.engine.connect() as connection:
        found = connection.execute(OLDEST_TRANSACTION).first()
    return f"; process {found[0]} ({found[1]}) works since {found[2]:.0f} s" if found else ""


def upgrade_on(connection: sa.Connection, revision: str = "heads") -> None:
    """Migrate any database to `revision`, in the transaction of `connection`."""
    from alembic import command

    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def alembic_config() -> Any:
    """Return the configuration for Alembic's commands, which need an application context."""
    from alembic.config import Config

    config = Config(MIGRATIONS / "alembic.ini")
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


def shape(revision: str) -> dict[str, set[str]]:
    """Return the columns of every table, as the migrations up to `revision` create them."""
    with sa.create_engine("sqlite://").connect() as scratch:
        upgrade_on(scratch, revision)
        seen = sa.inspect(scratch)
        return {
            table: {column["name"] for column in seen.get_columns(table)}
            for table in seen.get_table_names()
        }


def newest() -> str | None:
    """Return the revision that this code was written for: the one without a successor."""
    followed = {follows for follows, _ in revisions().values()}
    return next((name for name in revisions() if name not in followed), None)


@cache
def revisions() -> dict[str, tuple[str | None, bool]]:
    """Return every known revision with its predecessor, and whether it only expands the schema."""
    scripts = [path.read_text() for path in (MIGRATIONS / "versions").glob("*.py")]
    named = [(dict(NAMED.findall(script)), bool(EXPANDS.search(script))) for script in scripts]
    return {each["revision"]: (each.get("down_revision"), expands) for each, expands in named}


def refusal() -> str | None:
    """Return why this code cannot use its database, and what to do; None if it can.

    raises  SQLAlchemyError when the database does not answer
    """
    found = present()
    if found == newest():
        return None
    if found is None:
        return "it has no tables yet; run: askback migrate"
    if found in revisions():
        return "its schema is older than this program; run: askback migrate"
    serves, _ = _mark(found)
    return None if serves in revisions() else _unknown(found)


def _unknown(revision: str) -> str:
    """Describe a schema that this program does not know, and say what to do."""
    if revision in EARLY:
        return (
            f"its schema ({revision}) is older than the first release; run `askback migrate` of "
            "the commit b5bcbced, then of this program"
        )
    _, needed = _mark(revision)
    return f"its schema is newer than this program ({version('askback')}); install Askback {needed}"


def require_served() -> None:
    """Raise NewerSchema if this code neither knows the schema nor is supported by it."""
    if present() not in {None, *revisions()} and (reason := refusal()):
        raise NewerSchema(f"Askback cannot work on this database: {reason}")


def require_known() -> None:
    """Raise NewerSchema unless this code knows the schema, as commands that change tables need."""
    found = present()
    if found and found not in revisions():
        raise NewerSchema(f"Askback cannot change this database: {_unknown(found)}")


def _mark(revision: str) -> tuple[str | None, str]:
    """Return the oldest revision that the schema supports, and in words the version it needs."""
    marks = sa.select(MARKS.c.serves, MARKS.c.version).where(MARKS.c.revision == revision)
    with db.engine.connect() as connection:
        if sa.inspect(connection).has_table(MARKS.name):
            for serves, made_by in connection.execute(marks):
                return serves, f"{made_by} or newer"
    return None, "in the version that made it"


def write_mark(connection: sa.Connection) -> None:
    """Store in the newest schema which programs it supports; do nothing at other revisions."""
    if (revision := revision_on(connection)) == newest():
        by = version("askback")
        connection.execute(sa.delete(MARKS))
        connection.execute(
            sa.insert(MARKS).values(revision=revision, serves=oldest_served(), version=by)
        )


def oldest_served() -> str | None:
    """Return the oldest revision whose programs can work on the newest schema."""
    oldest = newest()
    while oldest and all(revisions()[oldest]):
        oldest = revisions()[oldest][0]
    return oldest


def present() -> str | None:
    """Return the revision of the database; None if it has never been migrated."""
    with db.engine.connect() as connection:
        return revision_on(connection)


def revision_on(connection: sa.Connection) -> str | None:
    """Return the revision of any database; None if it has never been migrated."""
    if not sa.inspect(connection).has_table(VERSIONS):
        return None
    found: str | None = connection.scalar(sa.text(f"SELECT version_num FROM {VERSIONS}"))  # noqa: S608
    return found

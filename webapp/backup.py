"""Copies of the whole database in one file, taken beside running servers, and their way back.

SQLite is copied by SQLite itself, PostgreSQL by its own `pg_dump` and `pg_restore`.
"""

import os
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import URL, NullPool, Table, create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from webapp.database import db
from webapp.schema import revisions

TABLE = re.compile(r"^\d+; .* TABLE (?!DATA )\S+ (\S+) ", re.MULTILINE)  # of pg_restore --list
KEPT = "What was there before is kept as {}."
OTHER_CONNECTIONS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
)


class BackupFailed(Exception):
    """Nothing was changed; the message says why."""


def back_up(url: URL, file: Path) -> None:
    """Write the database behind `url` to a new file, for its owner alone. Raises BackupFailed."""
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise BackupFailed(f"{file}: {error.strerror}. Name a file that does not exist.") from error
    try:
        if url.get_backend_name() == "sqlite":
            _copy_sqlite(Path(url.database or ""), file)
        else:
            _run("pg_dump", url, "--format=custom", "--no-owner", f"--file={file}")
    except BackupFailed:
        file.unlink()
        raise


def restore(url: URL, file: Path, folder: Path) -> str:
    """Put the database back as it is in `file`; a line about where the old one is kept.

    No server may run on it: SQLite's is kept away by the lock of its folder, one on PostgreSQL is
    seen by its connections. The schema is that of the backup. Raises BackupFailed.
    folder  takes a dump of what PostgreSQL held; a file of SQLite is kept beside the new one
    """
    if not file.is_file():
        raise BackupFailed(f"There is no file {file}.")
    if url.get_backend_name() == "sqlite":
        return _restore_sqlite(Path(url.database or ""), file)
    return _restore_postgresql(url, file, folder)


def _restore_postgresql(url: URL, file: Path, folder: Path) -> str:
    """Tables that came after the backup go first: they hold on to those that it replaces."""
    replaced = set(TABLE.findall(_run("pg_restore", url, "--list", str(file))))
    if "alembic_version" not in replaced:
        raise BackupFailed(f"{file} is no backup of Askback.")
    _check_nobody_is_connected(url)
    kept = _free_name(folder / (url.database or "postgresql"))
    back_up(url, kept)
    try:
        _drop(url, [table for name, table in db.metadata.tables.items() if name not in replaced])
        _replace(url, file)
    except BackupFailed:
        _replace(url, kept)
        kept.unlink()
        raise
    return KEPT.format(kept)


def _replace(url: URL, file: Path) -> None:
    """Everything that a dump holds, in one transaction."""
    _run(
        "pg_restore", url, "--clean", "--if-exists", "--no-owner", "--single-transaction",
        f"--dbname={url.database}", str(file),
    )  # fmt: skip


def _drop(url: URL, tables: list[Table]) -> None:
    engine = create_engine(url, poolclass=NullPool)
    try:
        db.metadata.drop_all(engine, tables=tables)
    except SQLAlchemyError as error:
        raise BackupFailed(f"The database refused: {getattr(error, 'orig', error)}") from error


def _check_nobody_is_connected(url: URL) -> None:
    engine = create_engine(url, poolclass=NullPool)
    try:
        with engine.connect() as connection:
            others = connection.scalar(OTHER_CONNECTIONS)
    except SQLAlchemyError as error:
        raise BackupFailed(
            f"The database does not answer: {getattr(error, 'orig', error)}"
        ) from error
    if others:
        raise BackupFailed(f"The database is in use, by others ({others}). Stop all servers first.")


def _copy_sqlite(source: Path, target: Path) -> None:
    if not source.exists():
        raise BackupFailed(f"There is no database at {source} yet.")
    try:
        with closing(sqlite3.connect(source, isolation_level=None)) as connection:
            connection.execute("VACUUM INTO ?", [str(target)])
    except sqlite3.Error as error:
        raise BackupFailed(f"The copy failed: {error}.") from error
    with target.open("rb") as written:
        os.fsync(written.fileno())


def _restore_sqlite(database: Path, file: Path) -> str:
    _check_sqlite(file)
    arriving = database.with_name(f"{database.name}.arriving")
    arriving.unlink(missing_ok=True)
    _copy_sqlite(file, arriving)
    arriving.chmod(0o600)
    kept = _set_aside(database) if database.exists() else None
    arriving.rename(database)
    return KEPT.format(kept) if kept else "The database was made."


def _check_sqlite(file: Path) -> None:
    try:
        with closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            intact = connection.execute("PRAGMA integrity_check").fetchone()
            revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error as error:
        raise BackupFailed(f"{file} is no backup of Askback: {error}.") from error
    if intact != ("ok",) or revision is None:
        raise BackupFailed(f"{file} is damaged.")
    if revision[0] not in revisions():
        raise BackupFailed(f"{file} comes from a newer Askback; install that one first.")


def _set_aside(database: Path) -> Path:
    """Fold the log of the old database into it, then move it to a name that is free."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for ending in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            database.with_name(database.name + ending).unlink()
    return database.rename(_free_name(database))


def _free_name(database: Path) -> Path:
    number = 1
    while (kept := database.with_name(f"{database.name}.before-restore-{number}")).exists():
        number += 1
    return kept


def _run(program: str, url: URL, *arguments: str) -> str:
    """What a program of PostgreSQL prints; the password goes through its environment."""
    found = shutil.which(program)
    if found is None:
        raise BackupFailed(f"{program} is missing. Install the PostgreSQL client programs.")
    query = {name: value for name, value in url.query.items() if isinstance(value, str)}
    place = {
        "PGHOST": query.get("host") or url.host,
        "PGPORT": query.get("port") or (str(url.port) if url.port else None),
        "PGUSER": url.username,
        "PGPASSWORD": url.password,
        "PGDATABASE": url.database,
        "PGSSLMODE": query.get("sslmode"),
    }
    environment = os.environ | {name: value for name, value in place.items() if value}
    ended = subprocess.run(  # noqa: S603
        [found, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise BackupFailed(f"{program} said: {ended.stderr.strip()}")
    return ended.stdout

"""Backs up the whole database into one file alongside running servers, and restores it.

A backup is a zip file: `manifest.json`, `tables/{name}.jsonl` with one row per line, and
`recordings/{key}`. A restore inserts the rows into tables that our own migrations create, so a
backup of SQLite can be restored on PostgreSQL, and the other way round.
"""

import base64
import os
import re
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Literal
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import orjson
import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.exc import SQLAlchemyError

from webapp.base.data_folder import spool_folder, sync
from webapp.base.database import db, schema
from webapp.voice.audio_store import AudioStore, AudioStoreUnavailable, FolderStore

MANIFEST = "manifest.json"
ROWS_AT_ONCE = 1_000
COMPRESSION = 1  # of zlib: half the time of its default
RECORDING = re.compile(r"recordings/[A-Za-z0-9_-]+/[A-Za-z0-9_-]+\.[a-z0-9]+")
KEPT = "What was there before is kept as {}."
BEYOND_REPAIR = (
    " Nothing was replaced. If the database is beyond repair, move it away together with its -wal "
    "and -shm files, then restore again."
)
NOT_INCLUDED = "Recordings are not included: back up {} by itself."
NOT_FOUND = "Recordings that were not found in {} and are not included: {}."
COUNTED = sa.text(
    "SELECT table_name AS of, column_name AS named,"
    " pg_get_serial_sequence(quote_ident(table_name), column_name) AS counter"
    " FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND column_default LIKE 'nextval(%'"
)
OTHER_CONNECTIONS = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
)


class BackupFailed(Exception):
    """The backup or restore failed and changed nothing; the message says why."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The table of contents of a backup.

    tables  columns and number of rows, by name
    """

    program: Literal["askback"]
    version: str
    revision: str
    tables: dict[str, tuple[list[str], int]]


def back_up(url: sa.URL, file: Path, store: AudioStore) -> list[str]:
    """Write the database at `url` and its recordings to a new file with mode 0600.

    Returns notes for the operator about recordings that the file lacks. Raises BackupFailed.
    """
    with _transaction(url) as connection:
        return _write(connection, file, store)


def restore(url: sa.URL, file: Path, folder: Path, store: AudioStore) -> str:
    """Restore the database from `file`; returns a line that says where the old one is kept.

    No server may use it: on SQLite the lock of the data folder prevents that, on PostgreSQL other
    connections are detected. The result has the newest schema. One transaction changes all tables,
    so a killed process leaves the old database; recordings are stored first, and no row refers to
    them before it commits. Raises BackupFailed; needs an application context.
    folder  for the backup of the replaced database
    """
    with _opened(file) as archive:
        manifest = _checked(archive, file)
        with _transaction(url, alone=True) as connection:
            replaced = _lock(connection)
            kept = _free_name(folder, url) if replaced else None
            if kept:
                _write(connection, kept, store)
            try:
                _put_back(archive, store, folder)
                seen = sa.MetaData()
                seen.reflect(connection, only=replaced)
                seen.drop_all(connection)
                schema.upgrade_on(connection, manifest.revision)
                _load(connection, archive, manifest, file)
                schema.upgrade_on(connection)
            except BaseException:
                if kept:
                    kept.unlink()
                raise
            connection.commit()
    return KEPT.format(kept) if kept else "The database was made."


# --- Writing ---


def _write(connection: sa.Connection, file: Path, store: AudioStore) -> list[str]:
    """Write the backup from a transaction that sees one state of the database."""
    writing = file.with_name(f"{file.name}.part")
    try:
        if file.exists():
            raise BackupFailed(f"{file}: File exists. Name a file that does not exist.")
        opened = os.open(writing, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise BackupFailed(f"{writing}: {error.strerror}. Name another file.") from error
    try:
        with (
            os.fdopen(opened, "w+b") as raw,
            ZipFile(raw, "w", ZIP_DEFLATED, compresslevel=COMPRESSION) as archive,
        ):
            notes = _write_all(connection, archive, store)
        sync(writing)
        writing.rename(file)
    except BaseException:
        writing.unlink()
        raise
    return notes


def _write_all(connection: sa.Connection, archive: ZipFile, store: AudioStore) -> list[str]:
    revision = schema.revision_on(connection)
    if revision is None:
        raise BackupFailed("There is no database of Askback yet; run: askback migrate")
    known = schema.shape(revision) if revision in schema.revisions() else None
    seen = sa.MetaData()
    seen.reflect(connection)
    tables: dict[str, tuple[list[str], int]] = {}
    for name in sorted((known or seen.tables).keys() - {schema.VERSIONS}):
        if name not in seen.tables:
            raise BackupFailed(f"The database is no longer one of Askback: it lacks {name}.")
        columns = [c for c in seen.tables[name].columns if known is None or c.name in known[name]]
        # JSON as the text that is stored
        asked = [c.cast(sa.Text) if isinstance(c.type, sa.JSON) else c for c in columns]
        rows = connection.execute(sa.select(*asked), execution_options={"yield_per": ROWS_AT_ONCE})
        count = 0
        with archive.open(_member(name), "w", force_zip64=True) as lines:
            for row in rows:
                count += 1
                lines.write(orjson.dumps(list(row), default=_as_json) + b"\n")
        tables[name] = [column.name for column in columns], count
    notes = list(_write_recordings(connection, archive, store, seen))
    manifest = Manifest("askback", version("askback"), revision, tables)
    archive.writestr(MANIFEST, orjson.dumps(manifest))
    return notes


def _as_json(value: object) -> dict[str, str]:
    if isinstance(value, bytes | memoryview):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(type(value))


def _write_recordings(
    connection: sa.Connection, archive: ZipFile, store: AudioStore, seen: sa.MetaData
) -> Iterator[str]:
    """Copy recordings of a folder, except those withdrawn meanwhile; yields notes."""
    if not isinstance(store, FolderStore):
        yield NOT_INCLUDED.format(store.place)
        return
    lost = 0
    keys = sa.select(seen.tables["recordings"].c.object_key)
    for key in connection.scalars(keys).all():
        try:
            content = store.read(key, 0, sys.maxsize)
        except AudioStoreUnavailable:
            lost += 1
            continue
        described = ZipInfo(f"recordings/{key}")
        described.compress_type = ZIP_STORED
        with content, archive.open(described, "w", force_zip64=True) as target:
            shutil.copyfileobj(content, target)
    if lost:
        yield NOT_FOUND.format(store.place, lost)


# --- Reading ---


@contextmanager
def _opened(file: Path) -> Iterator[ZipFile]:
    """Open the archive; raise BackupFailed for damage, also when it is read later."""
    if not file.is_file():
        raise BackupFailed(f"There is no file {file}.")
    try:
        with ZipFile(file) as archive:
            yield archive
    except (BadZipFile, EOFError, zlib.error, RuntimeError, ValueError) as error:
        raise BackupFailed(f"{file} is damaged, or no backup of Askback: {error}") from error


def _checked(archive: ZipFile, file: Path) -> Manifest:
    """Return the manifest of a backup that has exactly the tables and columns of our schema."""
    try:
        manifest = TypeAdapter(Manifest).validate_json(archive.read(MANIFEST))
    except (KeyError, ValueError) as error:
        raise BackupFailed(
            f"{file} is no backup of Askback: it does not say what is in it."
        ) from error
    if manifest.revision not in schema.revisions():
        raise BackupFailed(
            f"{file} comes from a newer Askback ({manifest.version}); install that one first."
        )
    ours = schema.shape(manifest.revision)
    del ours[schema.VERSIONS]
    theirs = {name: columns for name, (columns, _) in manifest.tables.items()}
    wanted, found = (
        {f"{name}.{column}" for name, columns in tables.items() for column in columns}
        for tables in (ours, theirs)
    )
    if differing := wanted ^ found:
        raise BackupFailed(f"{file} is no backup of Askback: it has or lacks {min(differing)}.")
    members = [name for name in archive.namelist() if not RECORDING.fullmatch(name)]
    if sorted(members) != sorted([MANIFEST, *map(_member, manifest.tables)]):
        raise BackupFailed(f"{file} is damaged: it has other files than it says.")
    return manifest


def _lock(connection: sa.Connection) -> list[str]:
    """Return existing tables of Askback; on PostgreSQL, lock them against writes."""
    ours = {schema.VERSIONS, *db.metadata.tables}
    revision = schema.revision_on(connection)
    if revision in schema.revisions():
        ours |= schema.shape(revision).keys()
    found = [name for name in sa.inspect(connection).get_table_names() if name in ours]
    if found and connection.dialect.name == "postgresql":
        names = ", ".join(map(connection.dialect.identifier_preparer.quote, found))
        connection.execute(sa.text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))
    return found


def _free_name(folder: Path, url: sa.URL) -> Path:
    number, name = 1, Path(url.database or "postgresql").name
    while (kept := folder / f"{name}.before-restore-{number}").exists():
        number += 1
    return kept


def _put_back(archive: ZipFile, store: AudioStore, folder: Path) -> None:
    """Store the recordings that are not there yet, also in a bucket.

    Objects never change, and those without a row are erased after a day, so a restore that fails
    later has replaced nothing.
    """
    try:
        there = {each.key: each.size for each in store.list_objects()}
        for name in filter(RECORDING.fullmatch, archive.namelist()):
            with archive.open(name) as content, NamedTemporaryFile(dir=spool_folder(folder)) as f:
                shutil.copyfileobj(content, f)
                f.flush()
                key = name.removeprefix("recordings/")
                if there.get(key) != f.tell():
                    store.put(key, Path(f.name))
    except (AudioStoreUnavailable, OSError) as error:
        raise BackupFailed(f"Recordings cannot be stored in {store.place}: {error}") from error


def _load(connection: sa.Connection, archive: ZipFile, manifest: Manifest, file: Path) -> None:
    """Insert all rows into the empty tables of their revision, parents before children."""
    seen = sa.MetaData()
    seen.reflect(connection)
    tables = [table for table in seen.sorted_tables if table.name in manifest.tables]
    for table in reversed(tables):
        connection.execute(sa.delete(table))  # rows that migrations inserted
    for table in tables:
        columns, count = manifest.tables[table.name]
        with archive.open(_member(table.name)) as lines:
            inserted = _insert(connection, table.name, columns, map(_values, lines))
        if inserted != count:
            raise BackupFailed(f"{file} is damaged: {table.name} has {inserted} rows, not {count}.")
    if connection.dialect.name == "postgresql":
        for of, named, counter in connection.execute(COUNTED).all():
            last = sa.select(sa.func.max(seen.tables[of].c[named])).scalar_subquery()
            connection.execute(sa.select(sa.func.setval(counter, sa.func.coalesce(last, 1))))
    elif connection.exec_driver_sql("PRAGMA foreign_key_check").first():
        raise BackupFailed(f"{file} is damaged: its rows name others that are not in it.")


def _values(line: bytes) -> list[Any]:
    try:
        return [
            base64.b64decode(value["base64"]) if isinstance(value, dict) else value
            for value in orjson.loads(line)
        ]
    except (LookupError, TypeError) as error:
        raise ValueError("a row cannot be read") from error


def _insert(
    connection: sa.Connection, name: str, columns: list[str], rows: Iterator[list[Any]]
) -> int:
    """Insert the rows, and return how many there were."""
    quote = connection.dialect.identifier_preparer.quote
    into = f"{quote(name)} ({', '.join(map(quote, columns))})"
    cursor: Any = connection.connection.cursor()
    if connection.dialect.name == "postgresql":
        with cursor.copy(f"COPY {into} FROM stdin") as copy:
            for row in rows:
                copy.write_row(row)
    else:
        values = ", ".join("?" * len(columns))
        cursor.executemany(f"INSERT INTO {into} VALUES ({values})", rows)  # noqa: S608
    return int(cursor.rowcount)


def _member(name: str) -> str:
    return f"tables/{name}.jsonl"


@contextmanager
def _transaction(url: sa.URL, *, alone: bool = False) -> Iterator[sa.Connection]:
    """Open a transaction on one state of the database; roll back unless it was committed.

    Raises BackupFailed for errors of the database, and with `alone` if others use it.
    """
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    if engine.dialect.name == "sqlite" and not (alone or Path(url.database or "").exists()):
        raise BackupFailed(f"There is no database at {url.database} yet.")
    try:
        with engine.connect() as connection:
            if engine.dialect.name == "sqlite":
                driver: Any = connection.connection.driver_connection
                driver.isolation_level = None  # else Python commits before each change of a table
                for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
                    driver.execute(f"PRAGMA {pragma}")
                driver.execute("BEGIN EXCLUSIVE" if alone else "BEGIN")
            elif not alone:
                connection.execute(sa.text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
            elif others := connection.scalar(OTHER_CONNECTIONS):
                raise BackupFailed(
                    f"The database is in use, by others ({others}). Stop all servers first."
                )
            yield connection
    except (SQLAlchemyError, engine.dialect.loaded_dbapi.Error) as error:
        first_line, *_ = str(getattr(error, "orig", error)).splitlines()
        hint = BEYOND_REPAIR if alone and engine.dialect.name == "sqlite" else ""
        raise BackupFailed(f"The database refused: {first_line}.{hint}") from error

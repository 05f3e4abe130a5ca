"""Backs up and restores a SQLite file with SQLite's own backup API.

A restore is one transaction: readers see all of the old content or all of the new, also after a
crash. Only SQLite itself moves database files or changes their logs.
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

from sqlalchemy import NullPool, create_engine

from webapp.app.backup_files import (
    VERSIONS,
    BackupFailed,
    BackupRecordings,
    Contents,
    check,
    check_counts,
    check_recording,
    digest,
    free_name,
    mark,
    not_ours,
    read_mark,
)
from webapp.base.data_folder import sync
from webapp.base.database import schema

MARK = "askback_backup"  # a table with one row of JSON
RECORDINGS = "askback_recordings"  # a table with a row for each file
APPLICATION_ID = 0x41534B42  # "ASKB", as `file` and SQLite show it
OWN = {MARK, RECORDINGS}
SQLITES = {"sqlite_sequence", "sqlite_stat1", "sqlite_stat4"}  # tables of statistics and counters
EXPRESSION = -2  # instead of the number of a column
BUSY_SECONDS = 5.0


def write(database: Path, target: Path, recordings: BackupRecordings) -> None:
    """Copy the committed content into the empty file `target`; add recordings and description."""
    if not database.exists():
        raise BackupFailed(f"There is no database at {database} yet.")
    with _opened(database) as source:
        source.execute("VACUUM INTO ?", [str(target)])
    with _opened(target) as copy:
        _write_recordings(copy, recordings)
        _write_mark(copy)
    sync(target)


def replace(database: Path, file: Path, recordings: BackupRecordings) -> Path | None:
    """Restore `file` in the newest schema; returns the backup of the replaced database.

    None if there was no database. Raises BackupFailed, with nothing replaced.
    """
    _check_objects(file, check(file, survey(file)))
    arriving = database.with_name(f"{database.name}.arriving")
    arriving.unlink(missing_ok=True)
    try:
        _copy_file(file, arriving)
        _migrate(arriving)
        with _opened(file, mode="ro") as backup:
            recordings.put_back(_recordings(backup))
        return _swap(database, arriving, recordings)
    finally:
        arriving.unlink(missing_ok=True)


def survey(file: Path) -> Contents:
    """The contents of a file, after an integrity check of all its pages."""
    try:
        with closing(_connected(file, "ro")) as connection:
            return _survey(file, connection)
    except sqlite3.Error as error:
        raise BackupFailed(f"{file} is no backup of Askback: {error}.") from error


def _survey(file: Path, connection: sqlite3.Connection) -> Contents:
    if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
        raise BackupFailed(f"{file} is damaged.")
    columns = {table: _columns(connection, table) for table in _tables(connection)}
    revision = None
    if VERSIONS in columns:
        (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone() or (
            None,
        )
    if MARK not in columns:
        raise BackupFailed(NO_MARK.format(file))
    (text,) = connection.execute(f"SELECT mark FROM {MARK}").fetchone() or ("",)  # noqa: S608
    carried = read_mark(file, text)
    for key, content, sha256 in _recordings(connection):
        check_recording(file, key, content, sha256)
    rows = _rows(connection)
    return Contents(
        revision, {each: columns[each] for each in columns if each not in OWN}, rows, carried
    )


NO_MARK = (
    "{} is no backup of Askback: it does not say what is in it. A plain copy of a database is "
    "brought back by putting it in its place, and then by: askback migrate"
)


def _check_objects(file: Path, revision: str) -> None:
    """Raises BackupFailed if objects of the file differ from those of our schema."""
    with schema.at(revision) as scratch, _opened(file, mode="ro") as backup:
        driver = cast(sqlite3.Connection, scratch.connection.driver_connection)
        wanted, found = set(_objects(driver)), set(_objects(backup))
    for what, _ in sorted(found - wanted):
        raise not_ours(file, f"the {what}")
    for what, _ in sorted(wanted - found):
        raise BackupFailed(f"{file} is no backup of Askback: it lacks the {what}.")


def _objects(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Name and definition of what could run something or refuse rows.

    Tables by their columns: their text depends on the versions that made and changed them.
    """
    master = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master"
    for kind, name, table, sql in connection.execute(master).fetchall():
        if kind in {"trigger", "view"} or " ".join(sql.split()[:2]).upper() == "CREATE VIRTUAL":
            yield f"{kind} {name}", f"{table} {' '.join(sql.split())}"
        elif kind == "table" and name not in OWN | SQLITES:
            for column in connection.execute("SELECT * FROM pragma_table_xinfo(?)", [name]):
                yield f"column {column[1]} of {name}", repr(column[2:])
        elif kind == "index" and sql and _computes(connection, name):
            yield f"index {name}", f"{table} {' '.join(sql.split())}"


def _computes(connection: sqlite3.Connection, index: str) -> bool:
    """Whether an index has an expression or a condition, or is unique."""
    found = connection.execute("SELECT cid FROM pragma_index_xinfo(?)", [index]).fetchall()
    unique = "SELECT 1 FROM pragma_index_list((SELECT tbl_name FROM sqlite_master WHERE name = ?1))"
    refuses = connection.execute(
        f'{unique} WHERE name = ?1 AND ("unique" OR partial)', [index]
    ).fetchone()
    return bool(refuses) or EXPRESSION in {cid for (cid,) in found}


def _tables(connection: sqlite3.Connection) -> list[str]:
    listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return [name for (name,) in listed if name not in SQLITES]


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    listed = connection.execute("SELECT name FROM pragma_table_info(?)", [table])
    return {name for (name,) in listed}


def _rows(connection: sqlite3.Connection) -> dict[str, int]:
    tables = [table for table in _tables(connection) if table != MARK]
    count = 'SELECT count(*) FROM "{}"'
    return {each: connection.execute(count.format(each)).fetchone()[0] for each in tables}


def _write_recordings(copy: sqlite3.Connection, recordings: BackupRecordings) -> None:
    """Add the files of the recordings that this copy of the database names."""
    if "recordings" not in _tables(copy) or not recordings.included:
        return
    copy.execute(f"CREATE TABLE {RECORDINGS} (object_key TEXT, sha256 TEXT, content BLOB)")
    keys = [key for (key,) in copy.execute("SELECT object_key FROM recordings")]
    adding = f"INSERT INTO {RECORDINGS} VALUES (?, ?, zeroblob(?))"  # noqa: S608
    copy.execute("BEGIN")
    for key, file in recordings.opened(keys):
        sha256, size = digest(file), file.tell()
        number = copy.execute(adding, [key, sha256, size]).lastrowid or 0
        file.seek(0)
        with copy.blobopen(RECORDINGS, "content", number) as content:
            for chunk in file:
                content.write(chunk)
    copy.execute("COMMIT")


def _recordings(backup: sqlite3.Connection) -> Iterator[tuple[str, sqlite3.Blob, str]]:
    """Key, content and SHA-256 of each; the content is open for its turn."""
    if RECORDINGS in _tables(backup):
        listed = f"SELECT rowid, object_key, sha256 FROM {RECORDINGS}"  # noqa: S608
        for number, key, sha256 in backup.execute(listed).fetchall():
            content = backup.blobopen(RECORDINGS, "content", number, readonly=True)
            yield key, content, sha256
            content.close()  # else the connection does


def _write_mark(connection: sqlite3.Connection) -> None:
    tables = _tables(connection)
    revision = None
    if VERSIONS in tables:
        (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"DROP TABLE IF EXISTS {MARK}")
    connection.execute(f"CREATE TABLE {MARK} (mark TEXT NOT NULL)")
    text = json.dumps(mark(revision, _rows(connection)))
    connection.execute(f"INSERT INTO {MARK} VALUES (?)", [text])  # noqa: S608


def _copy_file(file: Path, arriving: Path) -> None:
    """Copy into a file with mode 0600, without recordings and description."""
    os.close(os.open(arriving, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with _opened(file) as source, _opened(arriving) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute(f"DROP TABLE IF EXISTS {MARK}")
        if RECORDINGS in _tables(copy):
            copy.execute(f"DROP TABLE {RECORDINGS}")
            copy.execute("VACUUM")  # it would stay as large as with the recordings


def _migrate(arriving: Path) -> None:
    engine = create_engine(f"sqlite:///{arriving}", poolclass=NullPool)
    with engine.begin() as connection:
        schema.upgrade_on(connection)


def _swap(database: Path, arriving: Path, recordings: BackupRecordings) -> Path | None:
    """Replace the content under one exclusive lock, so that nothing is written in between."""
    os.close(os.open(database, os.O_WRONLY | os.O_CREAT, 0o600))
    with _held(database) as live:
        kept = _keep(live, free_name(database), recordings) if _tables(live) else None
        with _opened(arriving) as source:
            source.backup(live)
        live.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return kept


@contextmanager
def _held(database: Path) -> Iterator[sqlite3.Connection]:
    """The database under an exclusive lock, with its log checkpointed into it."""
    with _opened(database) as live:
        live.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
        live.execute("PRAGMA locking_mode = EXCLUSIVE")
        live.execute("PRAGMA synchronous = FULL")
        live.execute("BEGIN EXCLUSIVE")
        live.execute("COMMIT")
        (busy, *_) = live.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise BackupFailed(IN_USE.format(database))
        yield live


IN_USE = "{} is in use by another program. Stop everything that reads it first."


def _keep(live: sqlite3.Connection, kept: Path, recordings: BackupRecordings) -> Path:
    """Back up the replaced database; the file gets its name after its rows were counted."""
    writing = kept.with_name(f"{kept.name}.part")
    writing.unlink(missing_ok=True)
    os.close(os.open(writing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with _opened(writing) as copy:
            live.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            _write_recordings(copy, recordings)
            _write_mark(copy)
        check_counts(writing, _rows(live), survey(writing).rows)
    except BackupFailed as error:
        writing.unlink()
        raise BackupFailed(NOT_KEPT.format(error)) from error
    sync(writing)
    writing.rename(kept)
    sync(kept.parent)
    return kept


NOT_KEPT = (
    "What is there cannot be kept, so nothing was replaced. {} If the database is beyond repair, "
    "move it away together with its -wal and -shm files, then restore again."
)


@contextmanager
def _opened(file: Path, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    """A connection in autocommit mode; raises BackupFailed for its errors."""
    try:
        with closing(_connected(file, mode)) as connection:
            yield connection
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            raise BackupFailed(IN_USE.format(file)) from error
        raise BackupFailed(f"{file}: {error}.") from error


def _connected(file: Path, mode: str) -> sqlite3.Connection:
    address = f"{file.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None)
    connection.execute("PRAGMA trusted_schema = OFF")  # of a file that others may have made
    return connection

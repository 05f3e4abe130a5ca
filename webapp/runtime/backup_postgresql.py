"""Dumps a PostgreSQL database, and restores it in one transaction.

A backup is a tar file; a bare dump, as earlier versions wrote it, can be restored, too.
"""

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, cast

import psycopg
from sqlalchemy import URL, Connection, NullPool, create_engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from webapp.database import db, schema
from webapp.runtime.backup_archive import (
    DUMP,
    MANIFEST,
    RECORDINGS,
    add_json,
    append_recordings,
    dump_begins,
    manifest_of,
    recordings_in,
)
from webapp.runtime.backup_contents import (
    VERSIONS,
    BackupFailed,
    Contents,
    check,
    check_counts,
    mark,
)
from webapp.runtime.backup_recordings import BackupRecordings, check_recording

COPIED_BYTES = 1024 * 1024
# in the output of pg_restore, rows of data follow only these lines
DATA = re.compile(rb'^COPY (?:\S+\.)?"?(\w+)"? \((.*)\) FROM stdin;\n$')
END_OF_DATA = b"\\.\n"
OTHER_CONNECTIONS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
)


def write(url: URL, target: Path, recordings: BackupRecordings) -> None:
    """Dump one snapshot into the empty file `target`, with its row counts and its recordings."""
    with _connected(url) as connection:
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        snapshot = connection.scalar(text("SELECT pg_export_snapshot()"))
        keys = _object_keys(connection) if recordings.included else []
        manifest = mark(_revision(connection), _rows(connection)) | {RECORDINGS: bool(keys)}
        with target.open("w+b") as file:
            with tarfile.open(fileobj=file, mode="w") as archive:
                add_json(archive, MANIFEST, manifest)
                begins = archive.offset
            _append_dump(url, file, begins, str(snapshot))
            if keys:
                append_recordings(file, recordings.opened(keys))
            file.flush()
            os.fsync(file.fileno())


def _append_dump(url: URL, file: IO[bytes], begins: int, snapshot: str) -> None:
    """Append the dump; its tar header, which holds its size, is written last.

    pg_dump writes into a pipe, so it never seeks.
    """
    file.seek(begins + tarfile.BLOCKSIZE)
    file.truncate()
    with _running("pg_dump", url, "--format=custom", "--no-owner", f"--snapshot={snapshot}") as out:
        shutil.copyfileobj(out, file, COPIED_BYTES)
    described = tarfile.TarInfo(DUMP)
    described.size = file.tell() - begins - tarfile.BLOCKSIZE
    file.write(bytes(-described.size % tarfile.BLOCKSIZE + 2 * tarfile.BLOCKSIZE))
    file.seek(begins)
    file.write(described.tobuf(tarfile.GNU_FORMAT))  # one block, however large the dump


def replace(url: URL, file: Path, kept: Path, recordings: BackupRecordings) -> Path | None:
    """Restore `file` in the newest schema; returns the backup of the replaced database.

    Locks keep all writers out from the backup of the replaced database until the commit. None if
    the database was empty. Raises BackupFailed, with nothing replaced.
    """
    found = survey(url, file)
    check(file, found)
    with _connected(url) as connection:
        _check_nobody_is_connected(connection)
        tables = inspect(connection).get_table_names()
        if tables:
            _lock(connection, tables)
            _keep(url, connection, kept, recordings)
        recordings.put_back(recordings_in(file))
        db.metadata.drop_all(connection)
        _run_script(url, file, connection)
        check_counts(file, found.rows, _rows(connection))
        schema.upgrade_on(connection)
        connection.commit()
    return kept if tables else None


def _lock(connection: Connection, tables: list[str]) -> None:
    """Lock out all writers; a dump may still read."""
    names = ", ".join(connection.dialect.identifier_preparer.quote(name) for name in tables)
    connection.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))


def _keep(url: URL, connection: Connection, kept: Path, recordings: BackupRecordings) -> None:
    """Back up the replaced database; the file gets its name after its rows were counted."""
    writing = kept.with_name(f"{kept.name}.part")
    writing.unlink(missing_ok=True)
    os.close(os.open(writing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        write(url, writing, recordings)
        check_counts(writing, _rows(connection), survey(url, writing).rows)
        writing.rename(kept)
    finally:
        writing.unlink(missing_ok=True)


def survey(url: URL, file: Path) -> Contents:
    """The contents of a backup, after reading all of it."""
    columns: dict[str, set[str]] = {}
    rows: dict[str, int] = {}
    revision = None
    with _script(url, file) as script:
        for line in script:
            if begins := DATA.match(line):
                table = begins[1].decode()
                columns[table] = {name.strip('" ') for name in begins[2].decode().split(",")}
                data = list(_data(script)) if table == VERSIONS else _data(script)
                if table == VERSIONS:
                    revision = next(iter(data), b"").decode().strip() or None
                rows[table] = sum(1 for _ in data)
    for key, content, sha256 in recordings_in(file):
        check_recording(file, key, content, sha256)
    return Contents(revision, columns, rows, manifest_of(file))


def _run_script(url: URL, file: Path, connection: Connection) -> None:
    """Run all statements and insert all rows of a dump in the transaction of `connection`."""
    driver = cast(psycopg.Connection[Any], connection.connection.driver_connection)
    with driver.cursor() as cursor, _script(url, file, "--clean", "--if-exists") as script:
        statements: list[bytes] = []
        for line in script:
            if DATA.match(line):
                cursor.execute(b"".join(statements))
                statements.clear()
                with cursor.copy(line) as copy:
                    for row in _data(script):
                        copy.write(row)
            elif not line.startswith(b"\\"):  # a command of psql
                statements.append(line)
        cursor.execute(b"".join(statements))
        cursor.execute("RESET ALL")


def _data(script: IO[bytes]) -> Iterator[bytes]:
    for line in script:
        if line == END_OF_DATA:
            return
        yield line


@contextmanager
def _script(url: URL, file: Path, *options: str) -> Iterator[IO[bytes]]:
    """The lines of a backup as SQL; raises BackupFailed when it cannot be read to its end."""
    with file.open("rb") as opened:
        os.lseek(opened.fileno(), dump_begins(file), os.SEEK_SET)
        arguments = ("--no-owner", "--file=-", *options)
        with _running("pg_restore", url, *arguments, stdin=opened) as script:
            yield script


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSIONS):
        return None
    found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return found


def _object_keys(connection: Connection) -> list[str]:
    if not inspect(connection).has_table(RECORDINGS):
        return []
    return list(connection.scalars(text("SELECT object_key FROM recordings")))


def _rows(connection: Connection) -> dict[str, int]:
    tables = inspect(connection).get_table_names()
    quote = connection.dialect.identifier_preparer.quote
    count = "SELECT count(*) FROM {}"
    return {each: connection.scalar(text(count.format(quote(each)))) or 0 for each in tables}


def _check_nobody_is_connected(connection: Connection) -> None:
    if others := connection.scalar(OTHER_CONNECTIONS):
        raise BackupFailed(f"The database is in use, by others ({others}). Stop all servers first.")


@contextmanager
def _connected(url: URL) -> Iterator[Connection]:
    """One transaction, rolled back unless it was committed; raises BackupFailed for its errors."""
    try:
        with create_engine(url, poolclass=NullPool).connect() as connection:
            yield connection
    except (SQLAlchemyError, psycopg.Error) as error:
        raise BackupFailed(f"The database refused: {getattr(error, 'orig', error)}") from error


@contextmanager
def _running(
    program: str, url: URL, *arguments: str, stdin: IO[bytes] | None = None
) -> Iterator[IO[bytes]]:
    """The output of a program of PostgreSQL; the password is passed in its environment."""
    found = shutil.which(program)
    if found is None:
        raise BackupFailed(f"{program} is missing. Install the PostgreSQL client programs.")
    with TemporaryFile() as errors:
        with subprocess.Popen(  # noqa: S603
            [found, *arguments],
            env=_environment(url),
            stdin=stdin or subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process:
            try:
                yield cast(IO[bytes], process.stdout)
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            errors.seek(0)
            output = errors.read().decode(errors="replace").strip()
            raise BackupFailed(f"{program} said: {output}")


def _environment(url: URL) -> dict[str, str]:
    query = {name: value for name, value in url.query.items() if isinstance(value, str)}
    variables = {
        "PGHOST": query.get("host") or url.host,
        "PGPORT": query.get("port") or (str(url.port) if url.port else None),
        "PGUSER": url.username,
        "PGPASSWORD": url.password,
        "PGDATABASE": url.database,
        "PGSSLMODE": query.get("sslmode"),
    }
    return os.environ | {name: value for name, value in variables.items() if value}

"""Dumps a PostgreSQL database, and restores its rows in one transaction.

Of a dump only rows are read, into tables that our own migrations make: no statement of it is run.
"""

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Set
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, cast

import psycopg
from sqlalchemy import (
    URL,
    Connection,
    NullPool,
    column,
    create_engine,
    delete,
    func,
    inspect,
    select,
    table,
    text,
)
from sqlalchemy.exc import SQLAlchemyError

from webapp.app.backup_files import (
    DUMP,
    MANIFEST,
    RECORDINGS,
    VERSIONS,
    BackupFailed,
    BackupRecordings,
    Contents,
    add_json,
    append_recordings,
    check,
    check_counts,
    check_recording,
    dump_begins,
    manifest_of,
    mark,
    not_ours,
    recordings_in,
)
from webapp.base.database import db, schema

COPIED_BYTES = 1024 * 1024
# in the output of pg_restore, rows of data follow only these lines
DATA = re.compile(rb'^COPY (?:\S+\.)?"?(\w+)"? \((.*)\) FROM stdin;\n$')
END_OF_DATA = b"\\.\n"
ENCODING = re.compile(rb"^SET client_encoding = '([\w-]+)';\n$")
# in the list of pg_restore: entries that every backup of ours may have
ENTRY = re.compile(r"^\d+; \d+ \d+ ([A-Z]+(?: [A-Z]+)*) (.*)$", re.MULTILINE)
KINDS = {"ACL", "COMMENT", "CONSTRAINT", "DEFAULT", "DEFAULT ACL", "FK CONSTRAINT", "INDEX"}
KINDS |= {"SCHEMA", "SEQUENCE", "SEQUENCE OWNED BY", "SEQUENCE SET", "TABLE", "TABLE DATA"}
GENERATED = b" GENERATED ALWAYS AS "
OF_RECORDINGS = {"FUNCTION note_object_deletion()", "TRIGGER recordings recordings_deleted"}
FOREIGN_KEYS = text(
    "SELECT conrelid::regclass::text AS of, quote_ident(conname) AS named,"
    " pg_get_constraintdef(oid) AS written FROM pg_constraint"
    " WHERE contype = 'f' AND connamespace = CAST(current_schema() AS regnamespace)"
)
COUNTED = text(
    "SELECT table_name AS of, column_name AS named,"
    " pg_get_serial_sequence(quote_ident(table_name), column_name) AS counter"
    " FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND column_default LIKE 'nextval(%'"
)
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
            space = connection.scalar(text("SELECT current_schema()"))
            _append_dump(url, file, begins, f"--snapshot={snapshot}", f'--schema="{space}"')
            if keys:
                append_recordings(file, recordings.opened(keys))
            file.flush()
            os.fsync(file.fileno())


def _append_dump(url: URL, file: IO[bytes], begins: int, *options: str) -> None:
    """Append the dump; its tar header, which holds its size, is written last.

    pg_dump writes into a pipe, so it never seeks.
    """
    file.seek(begins + tarfile.BLOCKSIZE)
    file.truncate()
    with _running("pg_dump", url, "--format=custom", "--no-owner", *options) as out:
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
    revision = check(file, found)
    _check_list(url, file, found.columns.keys())
    with _connected(url) as connection:
        _check_nobody_is_connected(connection)
        tables = inspect(connection).get_table_names()
        if tables:
            _lock(connection, tables)
            _keep(url, connection, kept, recordings)
        recordings.put_back(recordings_in(file))
        db.metadata.drop_all(connection)
        connection.execute(text(f"DROP TABLE IF EXISTS {VERSIONS}"))
        schema.upgrade_on(connection, revision)
        _load(url, file, connection)
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
    said = manifest_of(file)
    with _rows_of(url, file) as script:
        for line in script:
            if begins := DATA.match(line):
                table = begins[1].decode()
                columns[table] = set(_columns(begins[2]))
                data = list(_data(script)) if table == VERSIONS else _data(script)
                if table == VERSIONS:
                    revision = next(iter(data), b"").decode().strip() or None
                rows[table] = rows.get(table, 0) + sum(1 for _ in data)
    for key, content, sha256 in recordings_in(file):
        check_recording(file, key, content, sha256)
    return Contents(revision, columns, rows, said)


def _columns(listed: bytes) -> list[str]:
    return [name.strip('" ') for name in listed.decode().split(",")]


def _check_list(url: URL, file: Path, tables: Set[str]) -> None:
    """Raises BackupFailed if the dump has anything that our schema has not."""
    with _reading(url, file, "--list") as listed:
        entries = ENTRY.findall(listed.read().decode())
    spaces = {rest.split(" ")[0] for kind, rest in entries if kind == "TABLE"}
    for kind, rest in entries:
        space, *named, _owner = rest.split(" ")
        name = " ".join(named)
        ours = kind in KINDS or f"{kind} {name}" in OF_RECORDINGS
        if kind == "TABLE":
            ours = name in tables
        elif kind == "SCHEMA":
            ours, space = name in spaces, "-"
        if not ours or len(spaces) != 1 or space not in {*spaces, "-"}:
            raise not_ours(file, f"the {kind.lower()} {name}")
    with _reading(url, file, "--schema-only", "--file=-") as script:
        for line in script:
            if GENERATED in line:
                raise not_ours(file, f"the column {line.decode().split()[0]}")


def _load(url: URL, file: Path, connection: Connection) -> None:
    """Insert all rows of a dump into the empty tables of its revision."""
    keys = connection.execute(FOREIGN_KEYS).all()  # a dump has its tables in the order of names
    for key in keys:
        connection.execute(text(f"ALTER TABLE {key.of} DROP CONSTRAINT {key.named}"))
    quote = connection.dialect.identifier_preparer.quote
    driver = cast(psycopg.Connection[Any], connection.connection.driver_connection)
    with driver.cursor() as cursor, _rows_of(url, file) as script:
        for line in script:
            if encoding := ENCODING.match(line):
                code = encoding[1].decode()
                cursor.execute("SELECT set_config('client_encoding', %s, true)", [code])
            elif (begins := DATA.match(line)) and (name := begins[1].decode()) != VERSIONS:
                connection.execute(delete(table(name)))  # rows that migrations inserted
                columns = ", ".join(map(quote, _columns(begins[2])))
                with cursor.copy(f"COPY {quote(name)} ({columns}) FROM stdin") as copy:
                    for row in _data(script):
                        copy.write(row)
    for key in keys:
        connection.execute(text(f"ALTER TABLE {key.of} ADD CONSTRAINT {key.named} {key.written}"))
    for each in connection.execute(COUNTED).all():
        most = connection.scalar(select(func.max(column(each.named))).select_from(table(each.of)))
        connection.execute(select(func.setval(each.counter, most or 1)))


def _data(script: IO[bytes]) -> Iterator[bytes]:
    for line in script:
        if line == END_OF_DATA:
            return
        yield line


def _rows_of(url: URL, file: Path) -> AbstractContextManager[IO[bytes]]:
    """The rows of a dump, as lines of SQL."""
    return _reading(url, file, "--data-only", "--file=-")


@contextmanager
def _reading(url: URL, file: Path, *options: str) -> Iterator[IO[bytes]]:
    """The output of pg_restore for a backup; it connects to no database.

    Raises BackupFailed when it cannot be read to its end.
    """
    with file.open("rb") as opened:
        os.lseek(opened.fileno(), dump_begins(file), os.SEEK_SET)
        with _running("pg_restore", url, *options, stdin=opened) as output:
            yield output


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

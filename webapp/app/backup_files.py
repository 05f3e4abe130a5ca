"""Files of a backup: the manifest, recordings, and the archive."""

import hashlib
import json
import re
import sys
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from io import BytesIO, FileIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, Protocol, cast

from webapp.base.data_folder import spool_folder
from webapp.base.database import schema
from webapp.voice.audio_store import AudioStore, AudioStoreUnavailable, FolderStore

PROGRAM = "askback"
VERSIONS = "alembic_version"


class BackupFailed(Exception):
    """The backup or restore failed and changed nothing; the message says why."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The tables of a database or of a backup.

    columns  by table
    rows     number of rows by table
    mark     what `mark` wrote into the backup
    """

    revision: str | None
    columns: Mapping[str, set[str]]
    rows: Mapping[str, int]
    mark: Mapping[str, Any]


def mark(revision: str | None, rows: Mapping[str, int]) -> dict[str, Any]:
    """The description in a backup: program, version, schema revision and rows by table."""
    return {
        "program": PROGRAM,
        "version": version(PROGRAM),
        "revision": revision,
        "rows": dict(rows),
    }


def read_mark(file: Path, text: str | bytes) -> dict[str, Any]:
    """Parse what `mark` wrote, as JSON. Raises BackupFailed for anything else."""
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        found = json.loads(text)
        fits = [
            found["program"] == PROGRAM,
            isinstance(found["version"], str),
            isinstance(found["revision"], str | None),
            *(type(count) is int for count in found["rows"].values()),
        ]
        if all(fits):
            return dict(found)
    raise BackupFailed(f"{file} is damaged: what it says about itself cannot be read.")


def check(file: Path, found: Contents) -> str:
    """The revision of a backup that is whole and can be restored. Raises BackupFailed."""
    if found.revision is None:
        raise BackupFailed(f"{file} is no backup of Askback: it has no schema.")
    if (said := found.mark["revision"]) != found.revision:
        raise BackupFailed(
            f"{file} is damaged: it says that it has schema {said}, and has {found.revision}."
        )
    if found.revision not in schema.revisions():
        raise BackupFailed(
            f"{file} comes from a newer Askback ({found.mark['version']}); install that one first."
        )
    wanted = schema.shape(found.revision)
    for table, columns in wanted.items():
        if missing := columns - found.columns.get(table, set()):
            raise BackupFailed(
                f"{file} is no backup of Askback: its table {table} lacks {', '.join(missing)}."
            )
    for table, columns in found.columns.items():
        if table not in wanted:
            raise not_ours(file, f"the table {table}")
        for column in columns - wanted[table]:
            raise not_ours(file, f"the column {column} of {table}")
    check_counts(file, dict.fromkeys(found.rows, 0) | found.mark["rows"], found.rows)
    return found.revision


def not_ours(file: Path, what: str) -> BackupFailed:
    """The refusal of what the schema does not have: it could do more than hold data."""
    return BackupFailed(f"{file} has {what}, which is not part of Askback. Nothing was restored.")


def check_counts(file: Path, wanted: Mapping[str, int], found: Mapping[str, int]) -> None:
    """Raises BackupFailed when the number of rows of a table differs."""
    for table, count in wanted.items():
        if found.get(table, 0) != count:
            raise BackupFailed(
                f"{file} is damaged: {table} has {found.get(table, 0)} rows, not {count}."
            )


def free_name(database: Path) -> Path:
    """An unused name for the database that a restore replaces."""
    number = 1
    while (kept := database.with_name(f"{database.name}.before-restore-{number}")).exists():
        number += 1
    return kept


COPIED_BYTES = 256 * 1024
OBJECT_KEY = re.compile(r"[A-Za-z0-9_-]+/[A-Za-z0-9_-]+\.[a-z0-9]+")
NOT_INCLUDED = "Recordings are not included: back up {} by itself."
NOT_FOUND = "Recordings that were not found in {} and are not included: {}."


class Readable(Protocol):
    """Bytes of a file or of a database, read in order."""

    def read(self, size: int, /) -> bytes: ...


class BackupRecordings:
    """Takes recordings out of the store for a backup, and puts those of a backup back.

    lost  how many were not there
    """

    def __init__(self, store: AudioStore, data_folder: Path) -> None:
        self._store = store
        self._folder = data_folder
        self.lost = 0

    @property
    def included(self) -> bool:
        """Whether a backup holds them."""
        return isinstance(self._store, FolderStore)

    def opened(self, keys: Iterable[str]) -> Iterator[tuple[str, FileIO]]:
        """The recordings as files, each open for its turn; none of a bucket.

        One that is withdrawn while the backup is written may be gone: it counts as lost.
        """
        for key in keys if self.included else ():
            try:
                file = self._store.read(key, 0, sys.maxsize)
            except AudioStoreUnavailable:
                self.lost += 1
                continue
            with file:
                yield key, file

    def put_back(self, found: Iterable[tuple[str, Readable, str]]) -> None:
        """Store what is not there yet, also in a bucket; of keys, contents and checksums.

        Raises BackupFailed. Objects never change, and those that no row names go after a day:
        where the restore does not come to its end, nothing was replaced.
        """
        try:
            there = {each.key: each.size for each in self._store.list_objects()}
            for key, content, _ in found:
                with NamedTemporaryFile(dir=spool_folder(self._folder)) as file:
                    file.writelines(_chunks(content))
                    file.flush()
                    if there.get(key) != file.tell():
                        self._store.put(key, Path(file.name))
        except (AudioStoreUnavailable, OSError) as error:
            raise BackupFailed(
                f"Recordings cannot be stored in {self._store.place}: {error}"
            ) from error

    def notes(self) -> Iterator[str]:
        """What an operator should know of a backup that was written."""
        if not self.included:
            yield NOT_INCLUDED.format(self._store.place)
        if self.lost:
            yield NOT_FOUND.format(self._store.place, self.lost)


def digest(content: Readable) -> str:
    """SHA-256 of what is left to read."""
    found = hashlib.sha256()
    for chunk in _chunks(content):
        found.update(chunk)
    return found.hexdigest()


def _chunks(content: Readable) -> Iterator[bytes]:
    return iter(partial(content.read, COPIED_BYTES), b"")


def check_recording(file: Path, key: str, content: Readable, sha256: str) -> None:
    """Raises BackupFailed for a recording that is not the one that was backed up."""
    if not OBJECT_KEY.fullmatch(key) or digest(content) != sha256:
        raise BackupFailed(f"{file} is damaged: the recording {key} is not what it was.")


MANIFEST = "manifest.json"
DUMP = "database.dump"
RECORDINGS = "recordings"
CHECKSUMS = "recordings.json"


def append_recordings(file: IO[bytes], recordings: Iterable[tuple[str, FileIO]]) -> None:
    """Append the files, and at last what their checksums are."""
    checksums = {}
    file.seek(0)
    with tarfile.open(fileobj=file, mode="a") as archive:
        for key, content in recordings:
            described = tarfile.TarInfo(f"{RECORDINGS}/{key}")
            checksums[key], described.size = digest(content), content.tell()
            content.seek(0)
            archive.addfile(described, content)
        add_json(archive, CHECKSUMS, checksums)


def add_json(archive: tarfile.TarFile, name: str, content: Mapping[str, object]) -> None:
    """Add a file of JSON."""
    text = json.dumps(content).encode()
    described = tarfile.TarInfo(name)
    described.size = len(text)
    archive.addfile(described, BytesIO(text))


def recordings_in(file: Path) -> Iterator[tuple[str, IO[bytes], str]]:
    """Key, content and SHA-256 of each; the content is open for its turn. Raises BackupFailed."""
    said = manifest_of(file).get(RECORDINGS)  # older versions leave it out
    try:
        with tarfile.open(file, "r:") as archive:
            # tarfile would look through all of them for each
            members = {each.name: each for each in archive if each.isreg()}
            wanted, checksums = [MANIFEST, DUMP], {}
            if said:
                checksums = json.load(cast(IO[bytes], archive.extractfile(members[CHECKSUMS])))
                wanted += [CHECKSUMS, *(f"{RECORDINGS}/{key}" for key in checksums)]
            if sorted(each.name for each in archive) != sorted(wanted):
                raise ValueError
            for key, sha256 in checksums.items():
                content = archive.extractfile(members[f"{RECORDINGS}/{key}"])
                yield key, cast(IO[bytes], content), sha256
    except (tarfile.TarError, KeyError, ValueError, AttributeError, TypeError) as error:
        raise BackupFailed(f"{file} is damaged: its recordings cannot be read.") from error


def dump_begins(file: Path) -> int:
    """The offset of the dump. Raises BackupFailed."""
    return _member(file, DUMP)[0]


def manifest_of(file: Path) -> dict[str, Any]:
    """The manifest. Raises BackupFailed if it is missing or damaged."""
    return read_mark(file, _member(file, MANIFEST)[1])


def _member(file: Path, name: str) -> tuple[int, bytes]:
    """The offset of a member, and its first SMALL_BYTES; also in a tar file that is cut off."""
    with suppress(tarfile.TarError), tarfile.open(file, "r:") as archive:
        for each in archive:
            if each.name == name and each.isreg():
                content = cast(IO[bytes], archive.extractfile(each))
                return each.offset_data, content.read(SMALL_BYTES)
    raise BackupFailed(NO_MANIFEST.format(file, name))


SMALL_BYTES = 1024**2
NO_MANIFEST = (
    "{} is no backup of Askback on PostgreSQL: it has no {}. What pg_dump wrote by itself is "
    "brought back by pg_restore, into an empty database, and then by: askback migrate"
)

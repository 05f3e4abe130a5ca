"""The tar file of a PostgreSQL backup.

`manifest.json`, `database.dump` as `pg_dump` wrote it, and, unless recordings are in a bucket,
`recordings/` and `recordings.json`, their checksums.
"""

import json
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from io import BytesIO, FileIO
from pathlib import Path
from typing import IO, Any, cast

from webapp.runtime.backup_contents import BackupFailed, read_mark
from webapp.runtime.backup_recordings import digest

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

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
    if not (manifest_of(file) or {}).get(RECORDINGS):
        return
    try:
        with tarfile.open(file) as archive:
            # tarfile would look through all of them for each
            members = {each.name: each for each in archive}
            checksums = json.load(cast(IO[bytes], archive.extractfile(members[CHECKSUMS])))
            for key, sha256 in checksums.items():
                content = archive.extractfile(members[f"{RECORDINGS}/{key}"])
                yield key, cast(IO[bytes], content), sha256
    except (tarfile.TarError, KeyError, ValueError) as error:
        raise BackupFailed(f"{file} is damaged: its recordings cannot be read.") from error


def dump_begins(file: Path) -> int:
    """Where the dump is in the file: at its begin, if it is no tar file."""
    with suppress(tarfile.TarError), tarfile.open(file) as archive:
        if found := _member(archive, DUMP):
            return found.offset_data
    return 0


def manifest_of(file: Path) -> Any:
    """The description; None in backups of earlier versions. Raises BackupFailed."""
    with suppress(tarfile.TarError), tarfile.open(file) as archive:
        if found := _member(archive, MANIFEST):
            return read_mark(file, cast(IO[bytes], archive.extractfile(found)).read())
    return None


def _member(archive: tarfile.TarFile, name: str) -> tarfile.TarInfo | None:
    """Found also where the file is cut off behind it."""
    return next((each for each in archive if each.name == name), None)

"""The recordings in a backup: those of a folder are in it, those of a bucket are not."""

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from io import FileIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Protocol

from webapp.data_folder import spool_folder
from webapp.integrations.audio_store import AudioStore, AudioStoreUnavailable, FolderStore
from webapp.runtime.backup_contents import BackupFailed

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

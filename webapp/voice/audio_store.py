"""The store of recordings: a folder in the data folder, or a bucket with an S3 interface.

An object never changes. It is stored durably before its row is committed, and erased after its row
is gone. Its key is `{form id}/{random}.{extension}`.
"""

import asyncio
import errno
import os
import re
import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from io import FileIO
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple, TypeAlias

from flask import Flask, current_app

from webapp.base.config import Settings
from webapp.base.data_folder import RECORDINGS, open_folder, spool_folder, sync

CHUNK_BYTES = 256 * 1024  # in memory at a time, of an object in a folder
PART_BYTES = 5 * 1024**2  # of an upload to a bucket: the minimum of S3, except for the last part
RETRIES = 2  # of a request to a bucket
RETRY_SECONDS = 10
PUT_SECONDS = 6.0  # for a whole upload to a bucket; the respondent waits
ERASE_SECONDS = 4.0  # for a batch of objects in a bucket; the respondent may wait
# as a disk, a disk quota, a bucket or its server reports it
FULL = re.compile(
    rf"(?:Errno|os error) (?:{errno.ENOSPC}|{errno.EDQUOT})\b|\b507\b|StorageFull|QuotaExceeded"
)


class AudioStoreUnavailable(Exception):
    """The folder or bucket failed, or has no such object."""


def says_full(error: BaseException) -> bool:
    """Return whether an error, perhaps the message of another program, means that space ran out."""
    return bool(FULL.search(str(error)))


class StoredObject(NamedTuple):
    """One object; `size` in bytes."""

    key: str
    changed_at: datetime
    size: int


class ObjectPart(FileIO):
    """A file that reads from `start` to `end`; iteration yields chunks of CHUNK_BYTES.

    It closes when the iteration is complete, or when it is garbage-collected.
    """

    def __init__(self, file: Path | int, start: int, end: int) -> None:
        super().__init__(file)
        self.seek(start)
        self._end = end

    def __next__(self) -> bytes:
        chunk = self.read(min(CHUNK_BYTES, self._end - self.tell()))
        if not chunk:
            self.close()
            raise StopIteration
        return chunk

    def __del__(self) -> None:
        self.close()


class _Store:
    """Keeps recordings under their keys. All methods raise AudioStoreUnavailable.

    put           stores a file; once it returns, a loss of power does not lose the file
    read          returns the bytes from `start` up to, not including, `end` as an open file that
                  closes when it is read to its end; the server sends it without a thread
    copy_to       copies the whole object into a file
    delete        erases objects; a missing object counts as erased
    list_objects  yields all objects in no order, with the remains of interrupted uploads
    """

    def __init__(self, place: str, data_folder: Path, free_bytes: int) -> None:
        self.place = place  # for operators: a path, or the address of a bucket
        self._data_folder = data_folder
        self._free_bytes = free_bytes

    def has_room(self, size: int) -> bool:
        """Return whether AUDIO_FREE_BYTES stay free on the disk of the data folder and spool."""
        with _storage_failures():
            free = shutil.disk_usage(spool_folder(self._data_folder)).free
        return free - size >= self._free_bytes


class FolderStore(_Store):
    """Files in a folder that only its owner can read."""

    def __init__(self, data_folder: Path, free_bytes: int) -> None:
        self._folder = data_folder / RECORDINGS
        super().__init__(str(self._folder), data_folder, free_bytes)

    def put(self, key: str, path: Path) -> None:
        """Copy under another name, sync, and rename: under its key, a file is whole."""
        with _storage_failures():
            try:
                self._write(self._folder / key, path)
            except FileNotFoundError:  # an erasure removed the folder, which was empty
                self._write(self._folder / key, path)

    def _write(self, target: Path, path: Path) -> None:
        for folder in (self._data_folder, self._folder, target.parent):
            open_folder(folder)
        part = target.with_name(f"{target.name}.part")
        try:
            shutil.copyfile(path, part)
            part.chmod(0o600)
            sync(part)
            part.rename(target)
        finally:
            part.unlink(missing_ok=True)
        for folder in (target.parent, self._folder, self._data_folder):
            sync(folder)

    def read(self, key: str, start: int, end: int) -> ObjectPart:
        with _storage_failures():
            return ObjectPart(self._folder / key, start, end)

    def copy_to(self, key: str, path: Path) -> None:
        with _storage_failures():
            shutil.copyfile(self._folder / key, path)

    def delete(self, keys: Sequence[str]) -> None:
        with _storage_failures():
            for path in (self._folder / key for key in keys):
                path.unlink(missing_ok=True)
                with suppress(OSError):  # the folder has other objects
                    path.parent.rmdir()

    def list_objects(self) -> Iterator[StoredObject]:
        with _storage_failures():
            # a glob fails if files or folders are erased meanwhile
            for folder, _, names in os.walk(self._folder):
                for path in (Path(folder, name) for name in names):
                    if path.parents[1] == self._folder:
                        with suppress(FileNotFoundError):
                            found = path.stat()
                            changed_at = datetime.fromtimestamp(found.st_mtime, UTC)
                            key = str(path.relative_to(self._folder))
                            yield StoredObject(key, changed_at, found.st_size)


class BucketStore(_Store):
    """Objects of a bucket; obstore reads the usual AWS_ variables of the environment."""

    @cached_property
    def _objects(self) -> Any:
        from obstore.store import S3Store

        timeout = timedelta(seconds=RETRY_SECONDS)
        return S3Store.from_url(
            self.place, retry_config={"max_retries": RETRIES, "retry_timeout": timeout}
        )

    def put(self, key: str, path: Path) -> None:
        """Give up after PUT_SECONDS; an object that arrives later has no row, and is erased."""
        import obstore

        # the default keeps up to twelve parts in memory
        bounds = {"chunk_size": PART_BYTES, "max_concurrency": 1}
        self._in_time(PUT_SECONDS, obstore.put_async, key, path, **bounds)

    def read(self, key: str, start: int, end: int) -> ObjectPart:
        """Fetch all bytes before returning: a slow reader would outlast the connection."""
        with _storage_failures(), TemporaryFile(dir=spool_folder(self._data_folder)) as file:
            self._fetch(key, file, {"range": (start, end)})
            return ObjectPart(os.dup(file.fileno()), 0, end - start)

    def copy_to(self, key: str, path: Path) -> None:
        with _storage_failures(), path.open("wb") as file:
            self._fetch(key, file)

    def _fetch(self, key: str, file: IO[bytes], options: Any = None) -> None:
        import obstore

        found = obstore.get(self._objects, key, options=options)
        for chunk in found.stream(min_chunk_size=CHUNK_BYTES):
            file.write(chunk)
        file.flush()

    def delete(self, keys: Sequence[str]) -> None:
        import obstore

        self._in_time(ERASE_SECONDS, obstore.delete_async, list(keys))

    def _in_time(
        self, seconds: float, call: Callable[..., Awaitable[object]], *given: Any, **bounds: Any
    ) -> None:
        """Limit the total time of all requests of a call; obstore limits each request only."""

        async def answered() -> None:
            try:
                async with asyncio.timeout(seconds):
                    await call(self._objects, *given, **bounds)
            except TimeoutError as error:
                raise TimeoutError(f"{self.place} took longer than {seconds:.0f} s") from error

        with _storage_failures():
            asyncio.run(answered())

    def list_objects(self) -> Iterator[StoredObject]:
        import obstore

        with _storage_failures():
            for each in chain.from_iterable(obstore.list(self._objects)):
                yield StoredObject(each["path"], each["last_modified"], each["size"])


AudioStore: TypeAlias = FolderStore | BucketStore


@contextmanager
def _storage_failures() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        from obstore.exceptions import BaseError  # takes long to import

        if isinstance(error, OSError | ValueError | BaseError):
            raise AudioStoreUnavailable(str(error)) from error
        raise


def init_app(app: Flask, config: Settings) -> None:
    """Give the application its store; creates and connects nothing."""
    free = config.audio_free_bytes
    if config.audio_store:
        store: AudioStore = BucketStore(config.audio_store, config.data_folder, free)
    else:
        store = FolderStore(config.data_folder, free)
    app.extensions["audio_store"] = store


def audio_store() -> AudioStore:
    """Return the store of the current application."""
    store: AudioStore = current_app.extensions["audio_store"]
    return store

"""Where recordings are kept: a folder in the data folder, or a bucket that speaks S3.

An object never changes. It is stored for good before the row that names it is committed, and
erased after that row is gone. Its key is `{form id}/{random}.{extension}`.
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
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from flask import Flask, current_app

from webapp.base.config import Settings
from webapp.base.data_folder import RECORDINGS, open_folder, spool_folder, sync

if TYPE_CHECKING:
    from obstore import GetOptions
    from obstore.store import LocalStore, RetryConfig, S3Store

CHUNK_BYTES = 256 * 1024  # the most that is held of an object in a folder
PART_BYTES = 5 * 1024**2  # of an upload to a bucket: the least that S3 takes, except as the last
RETRIES = 2  # of a request to a bucket
RETRY_SECONDS = 10
PUT_SECONDS = 6.0  # of a whole recording to a bucket; the respondent waits
ERASE_SECONDS = 4.0  # of a batch of objects of a bucket; the respondent may wait
# in messages of a disk, its quota, a bucket or its server
FULL = re.compile(
    rf"(?:Errno|os error) (?:{errno.ENOSPC}|{errno.EDQUOT})\b|\b507\b|StorageFull|QuotaExceeded"
)


class AudioStoreUnavailable(Exception):
    """The folder or bucket did not do what was asked, or has no such object."""


def says_full(error: BaseException) -> bool:
    """Whether an error, perhaps the message of another program, says that there is no room."""
    return bool(FULL.search(str(error)))


class StoredObject(NamedTuple):
    """One object; `size` in bytes."""

    key: str
    changed_at: datetime
    size: int


class ObjectPart(FileIO):
    """A file that is read from `start` to `end`, in chunks of CHUNK_BYTES where it is iterated.

    It is closed when the iteration is complete, or nobody has it any more.
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

    put           stores a file; a loss of power after it returns does not lose it
    read          the bytes from `start` up to, not including, `end` as an open file, closed when it
                  is read to its end; the server sends it without a thread
    copy_to       writes the whole object into a file
    delete        erases; what is not there counts as erased
    list_objects  all of them, with what a killed process left of an upload, in no order
    """

    def __init__(self, place: str, data_folder: Path, free_bytes: int) -> None:
        self.place = place  # what an operator calls it: a path, or the address of a bucket
        self._data_folder = data_folder
        self._free_bytes = free_bytes

    def has_room(self, size: int) -> bool:
        """Whether AUDIO_FREE_BYTES stay free on the disk of the data folder, where uploads wait."""
        with _storage_failures():
            free = shutil.disk_usage(spool_folder(self._data_folder)).free
        return free - size >= self._free_bytes


class FolderStore(_Store):
    """Files in a folder that only its owner reads.

    obstore writes them; it hides and keeps what a killed process left of them, so that listing and
    erasing are done here.
    """

    def __init__(self, data_folder: Path, free_bytes: int) -> None:
        self._folder = data_folder / RECORDINGS
        super().__init__(str(self._folder), data_folder, free_bytes)

    @cached_property
    def _objects(self) -> "LocalStore":
        from obstore.store import LocalStore

        return LocalStore(self._folder)

    def put(self, key: str, path: Path) -> None:
        """obstore renames a complete file into place, but syncs nothing."""
        import obstore  # takes long to import

        target = self._folder / key
        with _storage_failures():
            for folder in (self._data_folder, self._folder, target.parent):
                open_folder(folder)
            obstore.put(self._objects, key, path, chunk_size=CHUNK_BYTES, max_concurrency=1)
            target.parent.chmod(0o700)  # obstore made it, if an erasure removed it meanwhile
            target.chmod(0o600)
            for each in (target, target.parent, self._folder, self._data_folder):
                sync(each)

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
                with suppress(OSError):  # there are others in it
                    path.parent.rmdir()

    def list_objects(self) -> Iterator[StoredObject]:
        with _storage_failures():
            # files and folders are erased meanwhile, which a glob does not expect
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
    def _objects(self) -> "S3Store":
        from obstore.store import S3Store

        timeout = timedelta(seconds=RETRY_SECONDS)
        retries: RetryConfig = {"max_retries": RETRIES, "retry_timeout": timeout}
        return S3Store.from_url(self.place, retry_config=retries)

    def put(self, key: str, path: Path) -> None:
        """Given up after PUT_SECONDS; an object that is stored later has no row, and is erased."""
        import obstore

        # by default up to twelve parts are held in memory
        bounds = {"chunk_size": PART_BYTES, "max_concurrency": 1}
        self._in_time(PUT_SECONDS, obstore.put_async, key, path, **bounds)

    def read(self, key: str, start: int, end: int) -> ObjectPart:
        """Fetched before the first byte is returned: a slow reader would outlast the connection."""
        with _storage_failures(), TemporaryFile(dir=spool_folder(self._data_folder)) as file:
            self._fetch(key, file, range=(start, end))
            return ObjectPart(os.dup(file.fileno()), 0, end - start)

    def copy_to(self, key: str, path: Path) -> None:
        with _storage_failures(), path.open("wb") as file:
            self._fetch(key, file)

    def _fetch(self, key: str, file: IO[bytes], **options: Any) -> None:
        import obstore

        found = obstore.get(self._objects, key, options=cast("GetOptions", options))
        for chunk in found.stream(min_chunk_size=CHUNK_BYTES):
            file.write(chunk)
        file.flush()

    def delete(self, keys: Sequence[str]) -> None:
        import obstore

        self._in_time(ERASE_SECONDS, obstore.delete_async, list(keys))

    def _in_time(
        self, seconds: float, call: Callable[..., Awaitable[object]], *given: Any, **bounds: Any
    ) -> None:
        """Bounds all requests of a call together; obstore bounds each alone."""

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
    """Give the application its store; nothing is made or connected."""
    free = config.audio_free_bytes
    if config.audio_store:
        store: AudioStore = BucketStore(config.audio_store, config.data_folder, free)
    else:
        store = FolderStore(config.data_folder, free)
    app.extensions["audio_store"] = store


def audio_store() -> AudioStore:
    """The store of the current application."""
    store: AudioStore = current_app.extensions["audio_store"]
    return store

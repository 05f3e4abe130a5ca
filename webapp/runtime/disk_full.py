"""Whether a failure comes from a disk without room."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

EXIT_TEMPORARY = 75  # sysexits.h, EX_TEMPFAIL
DISK_FULL = "53100"  # of PostgreSQL
# what SQLite says in place of SQLITE_FULL when it cannot make or lengthen a file beside its own
UNCLEAR = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
LITTLE_BYTES = 256 * 1024


def is_full(error: BaseException, folder: Path) -> bool:
    """Whether `error`, or what it came from, is a disk without room.

    folder  where the database lies, looked at when the error alone does not tell
    """
    return any(_says_full(each, folder) for each in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        driver = getattr(error, "orig", None)
        if isinstance(driver, BaseException):
            yield driver
        error = error.__cause__ or error.__context__


def _says_full(error: BaseException, folder: Path) -> bool:
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in UNCLEAR:
        return _free_bytes(folder) < LITTLE_BYTES
    return code == sqlite3.SQLITE_FULL or getattr(error, "sqlstate", None) == DISK_FULL


def _free_bytes(folder: Path) -> int:
    """Of the nearest folder that exists."""
    place = next(each for each in (folder, *folder.parents) if each.exists())
    found = os.statvfs(place)
    return found.f_bavail * found.f_frsize
